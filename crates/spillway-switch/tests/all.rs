//! Switches beside second, naive implementations, and what becomes of packets. One program, which is built and linked once.

#![allow(clippy::unwrap_used)]

mod common;
mod fates;
mod naive_abm;
mod naive_acc;
mod naive_aqm;
mod naive_ared;
mod naive_blind_trust;
mod naive_cbm;
mod naive_credence_code;
mod naive_credence_slots;
mod naive_edt;
mod naive_fab;
mod naive_fb;
mod naive_follow_lqd;
mod naive_mq_ecn;
mod naive_occamy;
mod naive_pfabric;
mod naive_pie;
mod naive_pred;
mod naive_reverie;
mod naive_scheduling;
mod naive_sharing;
mod naive_smartbuf;
mod naive_sojourn;
mod naive_unimportant;
mod oracle;
mod shadow;
mod variants;
