//! Schedulers in Python.

use super::answers::{flag, nothing, whole, wrong};
use super::copying;
use super::instance::{Hook, Instance};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spillway_switch::scheduling::{Head, Named, Scheduling};
use spillway_switch::{Backlog as QueueClasses, Environment, WaitingList};

/// The queues of a port that have something to send and are not paused, by their queue classes.
#[pyclass(module = "spillway.plugins")]
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    holds: QueueClasses,
    heads: Vec<Head>,
    turns: Vec<u8>,
}

impl Backlog {
    fn show(&mut self, holds: QueueClasses, head: impl Fn(u8) -> Head) {
        self.holds = holds;
        self.heads.clear();
        self.heads.extend(holds.iter().map(head));
        self.turns.clear();
    }

    /// The place of a queue class among those that have something to send.
    fn place(&self, queue_class: u8) -> PyResult<usize> {
        let place = self.holds.iter().position(|holds| holds == queue_class);
        place.ok_or_else(|| PyValueError::new_err(may_not_send(queue_class, self.holds)))
    }
}

#[pymethods]
impl Backlog {
    /// Their queue classes, the lowest first; there is at least one.
    #[getter]
    fn queue_classes(&self) -> Vec<u32> {
        self.holds.iter().map(u32::from).collect()
    }

    /// The lowest queue class.
    #[getter]
    fn first(&self) -> u8 {
        self.holds.first()
    }

    /// Whether this queue class is among them.
    fn has(&self, queue_class: u8) -> bool {
        self.place(queue_class).is_ok()
    }

    /// The lowest queue class from this one on, or else the lowest of all.
    fn first_from(&self, queue_class: u8) -> u8 {
        if queue_class > LAST { self.first() } else { self.holds.first_from(queue_class) }
    }

    /// Bytes of a queue's first packet, on the wire.
    fn size(&self, queue_class: u8) -> PyResult<u32> {
        Ok(self.heads[self.place(queue_class)?].size)
    }

    /// When a queue's first packet was queued.
    fn queued_at_ps(&self, queue_class: u8) -> PyResult<u64> {
        Ok(self.heads[self.place(queue_class)?].queued_at.ps())
    }

    /// Says that a turn of a queue begins, for AQMs that watch turns.
    fn begin_turn(&mut self, queue_class: u8) -> PyResult<()> {
        self.place(queue_class)?;
        self.turns.push(queue_class);
        Ok(())
    }
}

/// The last queue class that a port can have.
const LAST: u8 = 63;

fn may_not_send(queue_class: impl ToString, holds: QueueClasses) -> String {
    let those: Vec<_> = holds.iter().map(|holds| holds.to_string()).collect();
    let queue_class = queue_class.to_string();
    format!("queue class {queue_class} is empty or paused; these can send: {}", those.join(", "))
}

/// A packet that waits, for a scheduler that chooses among the packets of a queue.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Waiting {
    /// Its flow.
    flow: u32,
    /// Bytes that its flow had left when it was sent; 0 for acks and other control packets.
    remaining: u32,
}

copying::unchanging!(Waiting);

/// A plug-in at one switch. If it fails, the first queue or packet is sent, and the run ends after
/// this event.
#[derive(Debug)]
pub struct Scheduler {
    instance: Instance,
    /// The backlog as hooks see it; `None` if there is no instance.
    view: Option<Py<Backlog>>,
    keeps_account: bool,
    queue_classes: u32,
}

impl Clone for Scheduler {
    /// A copy of the object, with a view of its own.
    fn clone(&self) -> Scheduler {
        let view = copying::view(&self.view, &self.instance);
        Scheduler { instance: self.instance.clone(), view, ..*self }
    }
}

impl Scheduler {
    /// An object of the plug-in's class, with its hooks.
    pub fn of(
        object: &Bound<'_, PyAny>,
        instance: Instance,
        environment: &Environment,
    ) -> PyResult<Scheduler> {
        Ok(Scheduler {
            instance,
            view: Some(Py::new(object.py(), Backlog::default())?),
            keeps_account: flag(object, "keeps_account")?,
            queue_classes: environment.queues_per_port,
        })
    }

    /// The scheduler if no instance could be made.
    pub fn failed(instance: Instance) -> Scheduler {
        Scheduler { instance, view: None, keeps_account: false, queue_classes: 0 }
    }

    fn selected(&self, answer: &Bound<'_, PyAny>, holds: QueueClasses) -> PyResult<u8> {
        let number = whole::<i64>(answer);
        let number = number.ok_or_else(|| wrong(answer, "a queue class, a whole number"))?;
        let queues = self.queue_classes;
        let there_is = u8::try_from(number).ok().filter(|&number| u32::from(number) < queues);
        let problem = match there_is {
            Some(queue_class) if holds.has(queue_class) => return Ok(queue_class),
            Some(_) => may_not_send(number, holds),
            None => format!("there is no queue class {number}: a port has {queues} queues"),
        };
        Err(PyValueError::new_err(format!("select has returned {number}: {problem}")))
    }
}

impl Named for Scheduler {
    fn id(&self) -> &str {
        self.instance.plugin()
    }
}

impl Scheduling for Scheduler {
    fn select(
        &mut self,
        port: u32,
        backlog: QueueClasses,
        head: impl Fn(u8) -> Head,
        turn: impl FnMut(u8),
    ) -> u8 {
        let Some(view) = &self.view else { return backlog.first() };
        let show = |py: Python<'_>| {
            view.bind(py).try_borrow_mut()?.show(backlog, head);
            Ok(())
        };
        let read = |answer: &Bound<'_, PyAny>| {
            let mut view = view.bind(answer.py()).try_borrow_mut()?;
            Ok((self.selected(answer, backlog)?, std::mem::take(&mut view.turns)))
        };
        let answer = self.instance.call(Hook::Select, show, (port, view), read);
        let (queue_class, turns) = answer.unwrap_or_else(|| (backlog.first(), Vec::new()));
        turns.into_iter().for_each(turn);
        queue_class
    }

    fn chooses_packets(&self) -> bool {
        self.instance.has(Hook::Choose)
    }

    fn choose(&self, waiting: &WaitingList) -> usize {
        let told: Vec<Waiting> = waiting
            .iter()
            .map(|packet| Waiting { flow: packet.flow, remaining: packet.remaining })
            .collect();
        let read = |answer: &Bound<'_, PyAny>| {
            let place = whole::<i64>(answer);
            let place =
                place.ok_or_else(|| wrong(answer, "a place in the list, a whole number"))?;
            let known = usize::try_from(place).ok().filter(|&place| place < waiting.len());
            known.ok_or_else(|| {
                let problem =
                    format!("choose has returned {place}: {} packets wait", waiting.len());
                PyValueError::new_err(problem)
            })
        };
        let chosen = self.instance.call(Hook::Choose, |_| Ok(()), (told,), read);
        chosen.unwrap_or(0)
    }

    fn quantum(&self, queue_class: u8, full_packet: u32) -> Option<u64> {
        let read = |answer: &Bound<'_, PyAny>| {
            let bytes = whole(answer).filter(|&bytes| bytes > 0);
            bytes.ok_or_else(|| wrong(answer, "a whole number above 0"))
        };
        let bytes = self.instance.call(Hook::Quantum, |_| Ok(()), (queue_class, full_packet), read);
        let otherwise = self.instance.has(Hook::Quantum).then_some(full_packet.into());
        bytes.or(otherwise)
    }

    fn keeps_account(&self) -> bool {
        self.keeps_account
    }

    fn watches_in_time(&self) -> bool {
        true
    }

    fn watches_sending(&self) -> bool {
        self.instance.has(Hook::OnSend)
    }

    fn on_send(&mut self, port: u32, queue_class: u8, size: u32) {
        self.instance.call(Hook::OnSend, |_| Ok(()), (port, queue_class, size), nothing);
    }
}
