//! Threads that work on items together, round by round.
//!
//! [loom](https://docs.rs/loom) tries all orders in which they can see what the others have done:
//! `make loom`.

#[cfg(loom)]
use loom::{
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};
#[cfg(not(loom))]
use std::{
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};

/// How often a thread looks whether it may go on before it lets other threads have its core, if
/// every thread has a core.
const PATIENCE: u32 = 5_000;

/// Hands items to threads and takes them back when all have been worked on. A round follows another
/// within microseconds, so threads that wait look again and again rather than sleep.
#[derive(Debug)]
pub struct Crew<T> {
    places: Vec<Mutex<Option<Box<T>>>>,
    threads: usize,
    patience: u32,
    round: AtomicU64,
    /// Threads that have not finished the round.
    busy: AtomicUsize,
    is_over: AtomicBool,
    has_failed: AtomicBool,
}

/// Tells the others if a thread does not come to the end of its round.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

impl<T: Send> Crew<T> {
    /// A crew of so many threads for so many items.
    pub fn new(threads: usize, items: usize) -> Crew<T> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Crew {
            patience: if threads > cores { 0 } else { PATIENCE },
            places: (0..items).map(|_| Mutex::new(None)).collect(),
            threads,
            round: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Works on the items of one thread, which is not the first, round by round until the end.
    pub fn serve(&self, thread: usize, work: impl Fn(&mut T)) {
        let _alarm = Alarm(&self.has_failed);
        let mut round = 0;
        loop {
            self.wait(|| {
                self.round.load(Ordering::Acquire) != round || self.is_over.load(Ordering::Acquire)
            });
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            round += 1;
            self.work_on(thread, &work);
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }

    fn wait(&self, until: impl Fn() -> bool) {
        let mut looks = 0;
        while !until() {
            if looks < self.patience {
                looks += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
    }

    fn work_on(&self, thread: usize, work: impl Fn(&mut T)) {
        for place in self.places.iter().skip(thread).step_by(self.threads) {
            let mut place = place.lock().expect("a thread that fails ends the run");
            if let Some(item) = place.as_mut() {
                work(item);
            }
        }
    }

    /// Lets all threads work on these items, this one among them.
    pub fn share(&self, items: &mut Vec<Box<T>>, work: impl Fn(&mut T)) {
        for (item, place) in items.drain(..).zip(&self.places) {
            *place.lock().expect("a thread that fails ends the run") = Some(item);
        }
        self.busy.store(self.threads - 1, Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::Release);
        self.work_on(0, work);
        self.wait(|| {
            self.busy.load(Ordering::Acquire) == 0 || self.has_failed.load(Ordering::Acquire)
        });
        assert!(!self.has_failed.load(Ordering::Acquire), "a thread of the run has failed");
        let taken = self.places.iter().filter_map(|place| place.lock().ok()?.take());
        items.extend(taken);
    }

    /// The crew, whose threads end when the result is dropped, whatever happens.
    pub fn ends_with_this(&self) -> Ending<'_, T> {
        Ending(self)
    }
}

/// A crew whose threads end when this is dropped.
#[derive(Debug)]
pub struct Ending<'a, T>(&'a Crew<T>);

impl<T> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;

    /// Two rounds of two threads, of which each has an item. Whoever sees an item sees all that
    /// was done to it before.
    #[test]
    fn in_any_order_every_item_is_worked_on_once_in_a_round() {
        loom::model(|| {
            let crew = Arc::new(Crew { patience: 0, ..Crew::new(2, 2) });
            let other = crew.clone();
            let thread = loom::thread::spawn(move || other.serve(1, |number| *number += 1));
            let mut numbers = vec![Box::new(0), Box::new(10)];
            {
                let _end = crew.ends_with_this();
                for round in 1..=2 {
                    crew.share(&mut numbers, |number| *number += 1);
                    assert_eq!((*numbers[0], *numbers[1]), (round, 10 + round));
                }
            }
            thread.join().expect("it ends");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Adds one to each number in each round. Returns the numbers.
    fn counted(threads: usize, items: usize, rounds: u64) -> Vec<u64> {
        let crew = Crew::new(threads, items);
        let mut numbers: Vec<Box<u64>> = (0..items as u64).map(Box::new).collect();
        std::thread::scope(|scope| {
            let _end = crew.ends_with_this();
            for thread in 1..threads {
                let crew = &crew;
                scope.spawn(move || crew.serve(thread, |number| *number += 1));
            }
            for _ in 0..rounds {
                crew.share(&mut numbers, |number| *number += 1);
            }
        });
        numbers.into_iter().map(|number| *number).collect()
    }

    #[test]
    fn every_item_is_worked_on_once_in_a_round_and_they_keep_their_order() {
        for (threads, items) in [(1, 3), (2, 2), (2, 5), (3, 2), (8, 8)] {
            let expected: Vec<u64> = (100..100 + items as u64).collect();
            assert_eq!(counted(threads, items, 100), expected, "{threads} threads");
        }
    }

    #[test]
    fn a_thread_that_fails_ends_the_run() {
        let crew = Crew::new(2, 2);
        let run = || {
            std::thread::scope(|scope| {
                let _end = crew.ends_with_this();
                scope.spawn(|| crew.serve(1, |_| panic!("it fails")));
                crew.share(&mut vec![Box::new(1), Box::new(2)], |_| {});
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
