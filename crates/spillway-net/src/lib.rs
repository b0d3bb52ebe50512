//! The network around switches: packets, links, hosts, transports, traffic and scenarios.

mod event;
pub mod extensions;
pub mod facts;
mod host;
mod network;
mod port;
pub mod record;
pub mod results;
pub mod scenario;
pub mod schema;
pub mod simulation;
pub mod summary;
#[cfg(test)]
mod testing;
