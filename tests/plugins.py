"""Plug-ins that the tests use beside those of examples/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar, Literal

import spillway
from spillway.plugins import (
    Ack,
    Aqm,
    Arrival,
    Backlog,
    Buffer,
    CongestionControl,
    Departure,
    Drop,
    Flight,
    PushOut,
    Reaction,
    Recovery,
    Scheduler,
    Sharing,
    Tagger,
    Verdict,
    Window,
    load,
)

EXAMPLES = Path(__file__).parent.parent / "examples"
HERE = Path(__file__)

MyDt = load(f"{EXAMPLES}/my_dt.py:MyDt")
MyLqd = load(f"{EXAMPLES}/my_lqd.py:MyLqd")
MyEcn = load(f"{EXAMPLES}/my_ecn.py:MyEcn")
MyDctcp = load(f"{EXAMPLES}/my_dctcp.py:MyDctcp")
MyPias = load(f"{EXAMPLES}/my_pias.py:MyPias")
MyGoBackN = load(f"{EXAMPLES}/my_go_back_n.py:MyGoBackN")
MyDwrr = load(f"{EXAMPLES}/my_dwrr.py:MyDwrr")
MyPowerTcp = load(f"{EXAMPLES}/my_powertcp.py:MyPowerTcp")


def check_copies(scenario: spillway.Scenario) -> None:
    """Checks that a copy of a run goes on as the run does, and as one that was never copied."""
    run = spillway.Simulation(scenario)
    run.run_until("1ms")
    copy = run.copy()
    first, second = run.finish(), copy.finish()
    assert first.flows.equals(second.flows)
    assert first.flows.equals(spillway.run(scenario).flows)


class Everyone(Sharing):
    """Complete Sharing, which watches everything and counts it."""

    id = "everyone"
    knows_packets = True
    period_ps = 100_000_000
    style: Literal["loud", "quiet"] = "loud"
    weights: tuple[float, ...] = (1.0, 2.0)

    def start(self, switch):
        self.counts = dict.fromkeys(
            ("asked", "enqueued", "dequeued", "dropped", "departed", "woken"), 0
        )
        self.waiting = [0] * (switch.ports * switch.queues_per_port)

    def admit(self, arrival: Arrival, buffer: Buffer):
        assert arrival.flow is not None and arrival.seq is not None
        assert buffer.free == buffer.capacity - buffer.occupancy
        assert sum(buffer.lengths()) == buffer.occupancy
        self.counts["asked"] += 1
        return True

    def on_enqueue(self, arrival: Arrival, buffer: Buffer):
        self.counts["enqueued"] += 1
        self.waiting[arrival.queue] += arrival.size
        assert self.waiting[arrival.queue] == buffer.bytes(arrival.queue)

    def on_dequeue(self, now_ps: int, queue: int, size: int, buffer: Buffer):
        self.counts["dequeued"] += 1
        self.waiting[queue] -= size
        assert self.waiting == buffer.lengths()

    def on_drop(self, now_ps: int, queue: int, size: int, buffer: Buffer):
        self.counts["dropped"] += 1

    def on_departure(self, departure: Departure, buffer: Buffer):
        assert departure.queued_at_ps <= departure.now_ps
        self.counts["departed"] += 1
        return Verdict.PASS

    def on_timer(self, now_ps: int, buffer: Buffer):
        assert now_ps % self.period_ps == 0
        self.counts["woken"] += 1

    def counters(self):
        return self.counts


class MyNewReno(CongestionControl):
    """NewReno, with hooks for losses of its own."""

    id = "my-newreno"

    def start(self, window, access):
        assert access.rate_bps > 0 and access.base_rtt_ps > 0

    def on_ack(self, window: Window, ack: Ack):
        if ack.in_recovery or window.is_held(ack):
            return
        if ack.ece:
            window.cut_for_mark(window.cwnd // 2, ack)
        elif ack.may_grow:
            window.grow(ack.acked)

    def on_loss(self, window: Window, in_flight: int):
        window.ssthresh = max(in_flight // 2, 2 * window.mss)

    def on_timeout(self, window: Window, in_flight: int):
        window.ssthresh = max(in_flight // 2, 2 * window.mss)


class Fails(Sharing):
    """Fails as it is told, from 1 ms on."""

    id = "fails"
    how: str = ""

    def admit(self, arrival, buffer):
        if arrival.now_ps < 1_000_000_000:
            return True
        return getattr(self, self.how)(arrival, buffer)

    def raises(self, arrival, buffer):
        return 1 // (buffer.capacity - buffer.capacity)

    def says_nothing(self, arrival, buffer):
        return None

    def says_a_number(self, arrival, buffer):
        return 1

    def pushes_out_of_nowhere(self, arrival, buffer):
        return PushOut(10_000)

    def pushes_out_of_nothing(self, arrival, buffer):
        return PushOut(buffer.lengths().index(0))

    def pushes_out_of_a_negative(self, arrival, buffer):
        return PushOut(-1)

    def asks_for_a_queue_too_many(self, arrival, buffer):
        return buffer.bytes(buffer.queues)

    def drops_for_no_reason(self, arrival, buffer):
        return Drop("over_treshold")

    def exits(self, arrival, buffer):
        sys.exit("enough")


class FailsInHosts(Aqm):
    """An AQM that fails with its first arrival."""

    id = "fails-in-hosts"

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        raise ValueError("not here")


class FailsAtTheEnd(Sharing):
    """Fails when the run is over."""

    id = "fails-at-the-end"

    def admit(self, arrival, buffer):
        return True

    def counters(self):
        return {"negative": -1}


class FailsAtTheStart(Aqm):
    """Refuses a parameter, or fails."""

    id = "fails-at-the-start"
    depth: int = 1

    def start(self, switch):
        if self.depth < 0:
            raise ValueError("depth must not be negative")
        self.depth = 10 // self.depth

    def on_arrival(self, arrival, buffer):
        return Verdict.PASS


class WrongWindow(CongestionControl):
    """Sets the window as it is told."""

    id = "wrong-window"
    cwnd: int = 0
    returns: bool = False

    def on_ack(self, window, ack):
        if self.returns:
            return window.cwnd
        window.cwnd = self.cwnd
        return None


class MisspeltHook(Sharing):
    """Everyone, with a hook that nobody calls."""

    id = "misspelt-hook"

    def admit(self, arrival, buffer):
        return True

    def on_dequeu(self, now_ps, queue, size, buffer):
        raise AssertionError


class NoHooks(Sharing):
    """Has an id and nothing else."""

    id = "no-hooks"


class NoVerdict(Aqm):
    """Is told of packets and decides about none."""

    id = "no-verdict"

    def on_enqueue(self, arrival, buffer):
        raise AssertionError


class NoAcks(CongestionControl):
    """Hears of losses alone."""

    id = "no-acks"

    def on_loss(self, window, in_flight):
        raise AssertionError


class Sojourn(Aqm):
    """Marks what has waited for longer than a limit: it is asked on the way out alone."""

    id = "sojourn"
    limit_us: float = 20.0
    drops: bool = False

    def on_departure(self, departure: Departure, buffer: Buffer) -> Verdict:
        waited_ps = departure.now_ps - departure.queued_at_ps
        if waited_ps <= self.limit_us * 1e6:
            return Verdict.PASS
        return Verdict.DROP if self.drops else Verdict.MARK


class SojournAskedTwice(Sojourn):
    """The same, asked on arrival too, where it passes everything."""

    id = "sojourn-asked-twice"

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        return Verdict.PASS


class Taken(MyDt):
    """Has the id of a built-in policy."""

    id = "dt"


class Twin(MyLqd):
    """Has the id of another plug-in."""

    id = "my-dt"


class Nobody(Sharing):
    """Has no id."""

    def admit(self, arrival, buffer):
        return True


class NoDefault(Nobody):
    """Has a parameter without a default."""

    id = "no-default"
    alpha: float


class Complex(Nobody):
    """Has a parameter that no key can be."""

    id = "complex"
    alpha: complex = 1j


class Mss(MyNewReno):
    """Has a parameter that every transport has."""

    id = "mss"
    mss: int = 1000


class Plain:
    """Is no plug-in."""


class Chronicle(Sharing):
    """Complete Sharing; all its switches write into one list when packets leave."""

    id = "chronicle"
    times: ClassVar[list[int]] = []

    def admit(self, arrival: Arrival, buffer: Buffer):
        return True

    def on_dequeue(self, now_ps, queue, size, buffer):
        self.times.append(now_ps)


class Knows(Tagger):
    """The last level for flows that are to be longer than their bound, by size and bound."""

    id = "knows"
    levels = 2
    knows_bounds = True
    knows_sizes = True

    def level(self, packet):
        assert 0 < packet.payload <= 1448 and packet.sent < packet.size
        return 1 if packet.bound == packet.size else 2


class KnowsNothing(Tagger):
    """Two levels, by what was sent; it must not see more."""

    id = "knows-nothing"
    levels = 2

    def level(self, packet):
        assert packet.bound == 0 and packet.size is None and not packet.is_reset
        return 1 if packet.sent < 10_000 else 2


class TakenBack(Tagger):
    """One level; keeps what it was told of every packet."""

    id = "taken-back"
    levels = 1
    told: ClassVar[list[tuple[int, bool]]] = []
    timeouts: ClassVar[list[int]] = []

    def level(self, packet):
        self.told.append((packet.sent, packet.is_reset))
        self.timeouts.append(packet.timeouts)
        return 1


class Answers(Tagger):
    """A tagger whose answer is a parameter."""

    id = "answers"
    levels = 2
    answer: Literal["none", "zero", "three", "huge", "true", "text", "raises"] = "none"

    def level(self, packet):
        if self.answer == "raises":
            raise RuntimeError("no level")
        answers = {"none": None, "zero": 0, "three": 3, "huge": 2**70, "true": True, "text": "1"}
        return answers[self.answer]


class WrongFacts(Answers):
    """A tagger whose facts the tests make wrong."""

    id = "wrong-facts"


class MisspeltLevel(Answers):
    """A tagger with a hook that nobody calls."""

    id = "misspelt-level"

    def on_packet(self, packet):
        raise AssertionError


class NoLevel(Tagger):
    """Has levels, and gives none."""

    id = "no-level"


class NoLevels(Tagger):
    """A tagger with as many levels as its parameter says."""

    id = "no-levels"
    number: int = 0

    @property
    def levels(self):
        return self.number

    def level(self, packet):
        return 1


class Squares(Aqm):
    """Marks all from where a slope times N squared reaches a half: PRED's table of one bit."""

    id = "squares"
    knows_packets = True
    slope: float = 0.1

    def start(self, switch):
        self.window_ps = 50_000_000
        self.counts = [[self.window_ps, 0, set()] for _ in range(switch.ports)]

    def on_arrival(self, arrival: Arrival, buffer: Buffer):
        assert arrival.seq is not None
        port = self.counts[buffer.port_of(arrival.queue)]
        if arrival.now_ps >= port[0]:
            missed = (arrival.now_ps - port[0]) // self.window_ps
            port[:] = [
                port[0] + self.window_ps * (missed + 1),
                0 if missed else len(port[2]),
                set(),
            ]
        port[2].add(arrival.flow)
        over = buffer.bytes(arrival.queue) - 15_000
        marks = over > 0 and self.per_byte(max(port[1], len(port[2]))) * over >= 0.5
        return Verdict.MARK if marks else Verdict.PASS

    def per_byte(self, flows):
        return self.slope * float(flows * flows) / 100_000

    def sample(self, now_ps: int, queue: int, buffer: Buffer):
        edge, last, seen = self.counts[buffer.port_of(queue)]
        if now_ps >= edge:
            last, seen = (len(seen), set()) if now_ps - edge < self.window_ps else (0, set())
        flows = max(last, len(seen), 1)
        return {
            "min_bytes": 15_000,
            "max_bytes": 500_000,
            "slope_per_mb": self.slope * float(flows * flows) * 1e6 / 100_000,
            "flows": flows,
            "lambda": self.slope,
        }


class Hears(Aqm):
    """Marks what waits for data, and keeps an account of what it hears."""

    id = "hears"
    heard: ClassVar[dict[str, int]] = {}

    def on_arrival(self, arrival: Arrival, buffer: Buffer):
        self.heard["controls"] = self.heard.get("controls", 0) + arrival.is_control
        return Verdict.MARK if buffer.packets(arrival.queue) else Verdict.PASS

    def on_departure(self, departure: Departure, buffer: Buffer):
        self.heard["capable"] = self.heard.get("capable", 0) + departure.ect
        return Verdict.PASS

    def on_mark(self, queue: int, size: int):
        self.heard["marks"] = self.heard.get("marks", 0) + 1


class Turns(Aqm):
    """Hears of turns."""

    id = "turns"
    heard: ClassVar[list[int]] = []

    def on_departure(self, departure: Departure, buffer: Buffer):
        return Verdict.PASS

    def on_send(self, now_ps: int, queue: int, size: int, begins: bool, buffer: Buffer):
        self.heard.append(begins)


class Samples(Aqm):
    """Gives numbers as it is told."""

    id = "samples"
    name: str = "flows"
    value: float = 1.0

    def on_departure(self, departure: Departure, buffer: Buffer):
        return Verdict.PASS

    def sample(self, now_ps: int, queue: int, buffer: Buffer):
        return {self.name: self.value}


class AsksForSizes(Aqm):
    """Asks for what taggers may know."""

    id = "asks-for-sizes"
    knows_sizes = True

    def on_arrival(self, arrival, buffer):
        return Verdict.PASS


class AsksForFlows(Aqm):
    """Misspells what it asks for."""

    id = "asks-for-flows"
    knows_packet = True

    def on_arrival(self, arrival, buffer):
        return Verdict.PASS


class Counts(Aqm):
    """Has a hook of sharing policies."""

    id = "counts"

    def on_arrival(self, arrival, buffer):
        return Verdict.PASS

    def counters(self):
        return {}


class MyStrict(Scheduler):
    """Strict priority."""

    id = "my-strict"

    def select(self, port: int, backlog: Backlog):
        assert backlog.first == backlog.queue_classes[0]
        return backlog.first


class MyRoundRobin(Scheduler):
    """Round robin, with a turn for each packet."""

    id = "my-rr"

    def start(self, switch):
        self.queues = switch.queues_per_port
        self.turn = [0] * switch.ports

    def quantum(self, queue_class, full_packet):
        return full_packet

    def select(self, port, backlog):
        queue_class = backlog.first_from(self.turn[port])
        backlog.begin_turn(queue_class)
        return queue_class

    def on_send(self, port, queue_class, size):
        self.turn[port] = (queue_class + 1) % self.queues


class MyFifo(Scheduler):
    """First come, first served over all queues of a port."""

    id = "my-fifo"

    def select(self, port, backlog):
        return min(backlog.queue_classes, key=lambda each: (backlog.queued_at_ps(each), each))


class MyPFabric(Scheduler):
    """The flow with the fewest bytes left first, and of it the packet that came first."""

    id = "my-pfabric"

    def choose(self, waiting):
        served = min(waiting, key=lambda packet: packet.remaining).flow
        return next(place for place, packet in enumerate(waiting) if packet.flow == served)


class Selects(Scheduler):
    """Answers as it is told once several queues of a port can send."""

    id = "selects"
    how: str = ""
    keeps_account = True

    def select(self, port, backlog):
        if len(backlog.queue_classes) < 2:
            return backlog.first
        return getattr(self, self.how)(backlog)

    def raises(self, backlog):
        raise RuntimeError("no queue")

    def says_nothing(self, backlog):
        return None

    def says_true(self, backlog):
        return True

    def says_a_text(self, backlog):
        return "0"

    def selects_nothing(self, backlog):
        return next(each for each in range(3) if not backlog.has(each))

    def selects_nowhere(self, backlog):
        return 3

    def selects_before_the_first(self, backlog):
        return -1

    def looks_at_nothing(self, backlog):
        return backlog.size(63)

    def begins_nothing(self, backlog):
        return backlog.begin_turn(64)


class SelectsNoAccount(Selects):
    """Has an account that is no flag."""

    id = "selects-no-account"
    how: str = "raises"
    keeps_account = "yes"


class Chooses(Scheduler):
    """Chooses as it is told once several packets wait."""

    id = "chooses"
    answer: int = 0
    is_text: bool = False

    def choose(self, waiting):
        if len(waiting) < 2:
            return 0
        return "0" if self.is_text else self.answer


class WrongQuantum(MyRoundRobin):
    """Has turns of nothing."""

    id = "wrong-quantum"

    def quantum(self, queue_class, full_packet):
        return 0


class HearsOfSending(Scheduler):
    """Says what it must not when a packet is sent."""

    id = "hears-of-sending"

    def select(self, port, backlog):
        return backlog.first

    def on_send(self, port, queue_class, size):
        return size


class NoSelect(Scheduler):
    """Hears of packets and chooses none."""

    id = "no-select"

    def on_send(self, port, queue_class, size):
        raise AssertionError


class KeepsAccounts(MyStrict):
    """Misspells what it asks for."""

    id = "keeps-accounts"
    keeps_accounts = True


class MySelective(Recovery):
    """IRN: receivers tell of gaps, and only what is missing is sent again."""

    id = "my-selective"
    bdps: float = 1.0
    low_us: float = 100.0
    high_us: float = 320.0
    takes_all: bool = False

    def start(self, mss, access):
        bdp = access.rate_bps * access.base_rtt_ps // 8_000_000_000_000
        self.max_in_flight = int(self.bdps * bdp)
        self.few = 3 * mss
        self.recover = None

    def _begin(self, flight):
        self.recover = flight.nxt
        flight.begin_repair()

    def _lost(self, flight):
        return None if self.recover is None else flight.next_lost()

    def next_segment(self, flight: Flight):
        lost = self._lost(flight)
        if lost is not None:
            return flight.allowed(lost)
        return flight.allowed(flight.segment(flight.nxt), self.max_in_flight)

    def on_sent(self, flight, seq, end):
        if self._lost(flight) == (seq, end):
            flight.repaired(end)

    def on_ack(self, flight, seq, acked, blocks):
        if self.recover is not None and flight.una >= self.recover:
            self.recover = None
        if blocks and flight.arrived:
            flight.lose_to(flight.arrived[-1][0])
            if self.recover is None:
                self._begin(flight)
                flight.after_timeout = False
                flight.lose_to(min(flight.una + flight.mss, self.recover))
        return Reaction()

    def shortest_timeout_ps(self, base_rtt_ps):
        return round(min(self.low_us, self.high_us) * 1e6)

    def timeout_ps(self, flight):
        in_flight = flight.nxt - flight.una
        us = self.low_us if in_flight <= self.few else self.high_us
        return round(us * 1e6) if in_flight else None

    def on_timeout(self, flight):
        self._begin(flight)
        flight.lose_to(flight.nxt if self.takes_all else min(flight.una + flight.mss, flight.nxt))
        return False


class StopAndWait(Recovery):
    """Sends a segment when nothing is in flight; the timeout sends it again and cuts the window."""

    id = "stop-and-wait"
    tells = "ranges"
    told: ClassVar[list[tuple]] = []

    def begin_next(self, first):
        self.told.append(("begins", first))

    def next_segment(self, flight):
        assert flight.size is not None and not flight.arrived
        return flight.missing_from(flight.una) if flight.sent_to == flight.una else None

    def on_stopped(self):
        self.told.append(("stops",))

    def timeout_ps(self, flight):
        assert flight.timeouts_in_a_row == 0 or flight.cwnd == flight.mss
        return 1_000_000_000

    def on_timeout(self, flight):
        self.told.append(("waits", flight.una, flight.timeouts_in_a_row, flight.after_timeout))
        flight.sent_to = flight.una
        return True


class NeverTells(MyGoBackN):
    """Go-back-N whose congestion controller hears of no ack."""

    id = "never-tells"

    def on_ack(self, flight, seq, acked, blocks):
        super().on_ack(flight, seq, acked, blocks)
        return Reaction(tells=False)


class WrongSegments(MyGoBackN):
    """Go-back-N that chooses as it is told from the third segment on."""

    id = "wrong-segments"
    how: str = ""

    def next_segment(self, flight):
        if flight.nxt < 3 * flight.mss or (flight.size or 0) < 10 * flight.mss:
            return super().next_segment(flight)
        return getattr(self, self.how)(flight, flight.nxt, flight.mss)

    def raises(self, flight, nxt, mss):
        raise RuntimeError("no segment")

    def says_a_number(self, flight, nxt, mss):
        return nxt

    def says_three_numbers(self, flight, nxt, mss):
        return nxt, mss, mss

    def is_negative(self, flight, nxt, mss):
        return -1, mss

    def leaves_a_hole(self, flight, nxt, mss):
        return nxt + mss, nxt + 2 * mss

    def is_too_long(self, flight, nxt, mss):
        return nxt, nxt + 2 * mss

    def is_crooked(self, flight, nxt, mss):
        return nxt - 1, nxt - 1 + mss

    def repeats_itself(self, flight, nxt, mss):
        return flight.segment(flight.una)

    def repeats_by_turns(self, flight, nxt, mss):
        self.turn = not getattr(self, "turn", False)
        return flight.segment(nxt - mss if self.turn else nxt - 2 * mss)

    def asks_for_nothing_sent(self, flight, nxt, mss):
        return flight.segment(nxt + mss)

    def asks_behind_the_end(self, flight, nxt, mss):
        return flight.allowed((nxt, 10**15))

    def goes_beyond(self, flight, nxt, mss):
        flight.sent_to = nxt + 1

    def loses_what_was_not_sent(self, flight, nxt, mss):
        flight.lose_to(nxt + 1)

    def repairs_what_was_not_sent(self, flight, nxt, mss):
        flight.repaired(nxt + 1)


class FailsLater(MyGoBackN):
    """Go-back-N that serves one flow of a connection."""

    id = "fails-later"

    def begin_next(self, first):
        raise RuntimeError("the next flow")


class Stops(Recovery):
    """Sends nothing at all."""

    id = "stops"

    def next_segment(self, flight):
        return None


class NoEnd(Recovery):
    """Sends new data without end, whatever the window is."""

    id = "no-end"

    def next_segment(self, flight):
        return flight.segment(flight.nxt)


class WrongAnswers(MyGoBackN):
    """Go-back-N with answers of the wrong kind."""

    id = "wrong-answers"
    hook: str = ""
    short: int = 0

    def on_ack(self, flight, seq, acked, blocks):
        reaction = super().on_ack(flight, seq, acked, blocks)
        return None if self.hook == "on_ack" else reaction

    def on_sent(self, flight, seq, end):
        return seq if self.hook == "on_sent" else None

    def on_stopped(self):
        return 0 if self.hook == "on_stopped" else None

    def timeout_ps(self, flight):
        return self.short if self.hook == "timeout_ps" else super().timeout_ps(flight)

    def on_timeout(self, flight):
        super().on_timeout(flight)
        return None if self.hook == "on_timeout" else False

    def shortest_timeout_ps(self, base_rtt_ps):
        return "1ms" if self.hook == "shortest_timeout_ps" else super().shortest_timeout_ps(0)


class WrongRecovery(MyGoBackN):
    """Go-back-N whose facts the tests make wrong."""

    id = "wrong-recovery"


class StartsWrong(Recovery):
    """Refuses parameters, or starts with a bound that is none."""

    id = "starts-wrong"
    depth: int = 0

    def __init__(self, **parameters):
        super().__init__(**parameters)
        if self.depth < 0:
            raise ValueError("depth must not be negative")

    def start(self, mss, access):
        self.max_in_flight = "1bdp"

    def next_segment(self, flight):
        raise AssertionError


class NoSegment(Recovery):
    """Hears of acks and chooses nothing."""

    id = "no-segment"

    def on_stopped(self):
        raise AssertionError
