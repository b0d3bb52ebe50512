//! FIFO: packets leave in the order in which they came, whatever their queue.
//!
//! # Rule
//! Of the first packets of all queues, the one that was queued first is sent; among packets of the
//! same picosecond, the one of the lowest queue class.
//!
//! # In composition
//! With one queue it changes nothing. With several, levels do not decide who is served, which a run
//! warns of, but buffer thresholds and AQMs still go by queue.

use super::{Head, Scheduling};
use crate::backlog::Backlog;
use crate::catalogue::{Environment, Policy};
use spillway_settings::{Section, SettingsError};

/// First come, first served, over all queues of a port.
#[derive(Clone, Debug)]
pub struct Fifo;

impl Policy for Fifo {
    const ID: &'static str = "fifo";
    const SUMMARY: &'static str = "first come, first served over all queues of the port";
    const CITATION: &'static str = "";

    type Params = ();

    fn params(_section: &mut Section, _environment: &Environment) -> Result<(), SettingsError> {
        Ok(())
    }

    fn new(_params: &(), _environment: &Environment) -> Self {
        Fifo
    }
}

impl Scheduling for Fifo {
    #[inline]
    fn select(
        &mut self,
        _port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        _turn: impl FnMut(u8),
    ) -> u8 {
        let waiting = backlog.iter().map(|queue_class| (head(queue_class).queued_at, queue_class));
        waiting.min().map_or(0, |(_, queue_class)| queue_class)
    }

    fn watches_sending(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::serve;
    use super::*;
    use spillway_engine::Time;

    #[test]
    fn the_order_of_arrival_is_kept_across_queue_classes() {
        let at = |ps| Head { size: 100, queued_at: Time::from_ps(ps) };
        let mut queues = [[at(2), at(5)].into(), [at(1), at(5), at(7)].into()];
        assert_eq!(serve(&mut Fifo, &mut queues, 9), [1, 0, 0, 1, 1]);
    }
}
