//! What runs of whole scenarios do. One program, which is built and linked once.

#![allow(clippy::unwrap_used)]

mod ack_every;
mod analytic;
mod arrivals_first;
mod changing;
mod clocks;
mod common;
mod composition;
mod connections;
mod conservation;
mod dcqcn;
mod deadlocks;
mod digests;
mod exact_times;
mod extensions;
mod facts;
mod failures;
mod instruments;
mod keys;
mod layers;
mod limits;
mod nacks;
mod naive_dctcp;
mod nic;
mod null;
mod observing;
mod out_of_order;
mod paced;
mod paced_repairs;
mod parallel;
mod paths;
mod pauses;
mod pfabric;
mod port_fifo;
mod ports;
mod protection;
mod repairs;
mod scenarios;
mod stepping;
mod strict;
mod tagging;
mod tiers;
mod transport;
mod waiting;
mod whole_ns;
