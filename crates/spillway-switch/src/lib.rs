//! One shared-memory switch: its buffer, its queues, and the policies that manage them.
//!
//! A packet that arrives for a port is first seen by the AQM (pass, mark, drop), then by the
//! sharing policy (admit, drop, push out another). It waits in one queue of the port. The
//! scheduling policy chooses which queue sends; on the way out the AQM sees it again.

pub mod aqm;
mod averages;
mod backlog;
pub mod buffer;
mod burst;
mod bursts;
mod by_queue;
pub mod catalogue;
pub mod cost;
mod discipline;
mod extension;
mod fates;
mod limit;
mod lists;
mod low_pass;
mod meter;
pub mod packet;
pub mod pfc;
mod places;
pub mod policy;
mod records;
pub mod replay;
pub mod scheduling;
pub mod sharing;
mod side_table;
mod switch;
mod waiting_list;

pub use averages::{Averages, Averaging};
pub use backlog::Backlog;
pub use buffer::{Buffer, Length, QueueId};
pub use bursts::{BurstReport, BurstTracing, Limits};
pub use catalogue::{Adoption, Entry, Environment, Policy, Service};
pub use cost::Cost;
pub use discipline::{Discipline, DisciplineParts};
pub use extension::{
    AqmExtension, Extension, ExtensionParams, SchedulingExtension, SharingExtension,
};
pub use fates::{Fate, FateTracing};
pub use meter::Meter;
pub use policy::DropReason;
pub use side_table::SideTable;
pub use switch::{Decision, Lost, PortFacts, QueueCounts, Sent, Switch, SwitchParts};
pub use waiting_list::WaitingList;
