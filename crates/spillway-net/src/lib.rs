//! The network around switches: packets, links, hosts, transports, traffic and scenarios.

mod event;
pub mod extensions;
pub mod facts;
pub mod flow;
mod host;
pub mod ideal;
mod network;
mod port;
pub mod record;
pub mod results;
pub mod routing;
pub mod scenario;
pub mod simulation;
pub mod summary;
pub mod tagging;
pub mod telemetry;
#[cfg(test)]
mod testing;
pub mod topology;
pub mod traffic;
pub mod transport;
