//! Parameters that all ports of a switch share until one gets its own.

use crate::buffer::{Buffer, QueueId};

/// Parameters by queue. As long as no port has its own, looking them up costs a comparison.
#[derive(Clone, Debug)]
pub struct ByQueue<T> {
    common: T,
    /// By queue, once some port has its own.
    own: Option<Box<[T]>>,
}

impl<T: Clone> ByQueue<T> {
    /// The same parameters for all ports.
    pub fn all(common: T) -> ByQueue<T> {
        ByQueue { common, own: None }
    }

    /// The parameters of a queue.
    #[inline(always)]
    pub fn of(&self, queue: QueueId) -> &T {
        match &self.own {
            None => &self.common,
            Some(own) => &own[queue as usize],
        }
    }

    /// The parameters of ports that have none of their own.
    pub fn common(&self) -> &T {
        &self.common
    }

    /// The common parameters, and then those of every queue if some port has its own.
    pub fn each(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.common).chain(self.own.iter().flatten())
    }

    /// Replaces the parameters of a port, or of all ports.
    pub fn adopt(&mut self, fresh: ByQueue<T>, port: Option<u32>, buffer: &Buffer) {
        let Some(port) = port else {
            *self = fresh;
            return;
        };
        let common = &self.common;
        let everywhere = || vec![common.clone(); buffer.queues().len()].into();
        let own = self.own.get_or_insert_with(everywhere);
        for queue in buffer.queues_of(port) {
            own[queue as usize] = fresh.common.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Environment;

    #[test]
    fn a_port_has_its_own_until_all_change() {
        let environment = Environment { queues_per_port: 2, ..Environment::example(3) };
        let buffer = Buffer::new(environment.capacity, environment.port_rates, 2);
        let mut numbers = ByQueue::all(5);
        let found = |numbers: &ByQueue<i32>| (0..6).map(|queue| *numbers.of(queue)).collect();
        numbers.adopt(ByQueue::all(7), Some(1), &buffer);
        let each: Vec<i32> = found(&numbers);
        assert_eq!(each, [5, 5, 7, 7, 5, 5]);
        numbers.adopt(ByQueue::all(9), Some(2), &buffer);
        let each: Vec<i32> = found(&numbers);
        assert_eq!(each, [5, 5, 7, 7, 9, 9]);
        assert_eq!(numbers.each().copied().min(), Some(5));
        numbers.adopt(ByQueue::all(8), None, &buffer);
        assert_eq!(numbers.each().copied().collect::<Vec<i32>>(), [8]);
    }
}
