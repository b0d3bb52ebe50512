//! The slotted model in comparison with naive models and its optimum. One program, which is built
//! and linked once.

#![allow(clippy::unwrap_used)]

mod blind_trust;
mod common;
mod optimum;
mod repair;
