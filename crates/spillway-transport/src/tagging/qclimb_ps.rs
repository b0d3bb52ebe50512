//! QCLIMB-PS: QCLIMB where the bound of every flow is its size.
//!
//! # Reference
//! W. Li, X. He, Y. Liu, K. Li, K. Chen, Z. Ge, Z. Guan, H. Qi, S. Zhang, G. Liu, "Flow Scheduling
//! with Imprecise Knowledge", USENIX NSDI 2024: its slides name it.
//!
//! # Rule
//! QCLIMB's, with L = size.
//!
//! # Departures from the paper
//! The slides compare QCLIMB with it and do not say what it is. That PS stands for perfect sizes is
//! our reading.
//!
//! # Scope and limitations
//! No program knows all sizes beforehand: it shows what better bounds could still give.
//!
//! # In composition
//! That of [QCLIMB](qclimb.md). Flows climb up to their end, so the last packet of a flow may
//! overtake all others.
//!
//! # Validation
//! `qclimb.rs`: the same levels as `srpt` until timeouts take a flow back, and as QCLIMB with exact
//! bounds.
//!
//! # Cost
//! That of QCLIMB.

use super::Kind;
use super::qclimb::{Knowledge, Qclimb};
use std::sync::Arc;

/// The row of QCLIMB-PS.
pub(super) const KIND: Kind = Kind {
    id: "qclimb-ps",
    results: 1,
    summary: "QCLIMB-PS: QCLIMB with the flows' sizes for bounds",
    citation: "Li et al.: Flow Scheduling with Imprecise Knowledge, NSDI 2024",
    read: |section| Ok(Some(Arc::new(Qclimb::read(section, Knowledge::Size)?))),
};
