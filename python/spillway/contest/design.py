"""Which combinations of levels are run: a fraction of all, in which every pair of levels meets.

A covering array of strength 2, built greedily row by row (D. M. Cohen, S. R. Dalal, M. L. Fredman,
G. C. Patton, "The AETG system", IEEE Transactions on Software Engineering 23(7), 1997): each row is
the best of some candidates by the pairs that it adds. Further rows are those that even out how
often pairs occur.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Row = tuple[int, ...]
"""A combination: the index of a level for each factor."""
Pair = tuple[int, int, int, int]
"""A factor and its level, and a later factor and its level."""
Refusal = Callable[[Row], str | None]
"""Why a combination cannot be had; None if it can."""

_CANDIDATES = 20
_TRIES = 20
"""How many combinations with a pair are tried before it counts as impossible."""


@dataclass(frozen=True)
class Design:
    """The rows that are run, and what they leave out."""

    rows: tuple[Row, ...]
    of: int
    """How many combinations there are, those that cannot be had included."""
    counts: dict[Pair, int]
    """How often each pair that can be had occurs; 0 for pairs that are left out."""
    impossible: dict[Pair, str]
    """The pairs that occur in no combination that can be had, as far as was tried, and why."""
    is_full: bool = False
    """Whether all combinations that can be had are there."""

    @property
    def left_out(self) -> int:
        """The number of pairs that could be had, and do not occur."""
        return sum(count == 0 for count in self.counts.values())


def pairs(row: Row) -> Iterator[Pair]:
    """The pairs of a row.

    >>> list(pairs((1, 0, 2)))
    [(0, 1, 1, 0), (0, 1, 2, 2), (1, 0, 2, 2)]
    """
    for one, other in itertools.combinations(range(len(row)), 2):
        yield one, row[one], other, row[other]


def design(sizes: Sequence[int], refusal: Refusal, rows: int | None, seed: int) -> Design:
    """A design over factors with these numbers of levels.

    Args:
        sizes: How many levels each factor has.
        refusal: Why a combination cannot be had.
        rows: The most rows; by default as many as it takes to cover all pairs. If they are as many
            as there are combinations, it is the full factorial.
        seed: What decides between equally good rows.
    """
    of = math.prod(sizes)
    if rows is not None and rows >= of:
        every = [row for row in itertools.product(*map(range, sizes)) if refusal(row) is None]
        return _told(sizes, every, of, refusal)
    return _Greedy(sizes, refusal, seed).built(rows, of)


def _every(sizes: Sequence[int]) -> Iterator[Pair]:
    for one, other in itertools.combinations(range(len(sizes)), 2):
        for a, b in itertools.product(range(sizes[one]), range(sizes[other])):
            yield one, a, other, b


def _told(sizes: Sequence[int], rows: Sequence[Row], of: int, refusal: Refusal) -> Design:
    """A full factorial: what it does not contain is impossible."""
    counts = Counter(pair for row in rows for pair in pairs(row))
    impossible = {}
    for pair in _every(sizes):
        if pair not in counts:
            one, a, other, b = pair
            free = [range(size) for size in sizes]
            free[one], free[other] = range(a, a + 1), range(b, b + 1)
            impossible[pair] = refusal(next(itertools.product(*free))) or ""
    return Design(tuple(rows), of, dict(counts), impossible, is_full=True)


class _Greedy:
    """A design that grows row by row."""

    def __init__(self, sizes: Sequence[int], refusal: Refusal, seed: int) -> None:
        self.sizes = sizes
        self.refusal = refusal
        self.random = random.Random(seed)
        self.counts = dict.fromkeys(_every(sizes), 0)
        self.impossible: dict[Pair, str] = {}
        self.rows: dict[Row, None] = {}

    def built(self, rows: int | None, of: int) -> Design:
        open_pairs = dict.fromkeys(self.counts)
        while open_pairs and (rows is None or len(self.rows) < rows):
            places = Counter(
                place for one, a, other, b in open_pairs for place in ((one, a), (other, b))
            )
            pair = max(open_pairs, key=lambda each: places[each[:2]] + places[each[2:]])
            row = self._row(pair, open_pairs)
            if row is None:
                del open_pairs[pair], self.counts[pair]
                continue
            self._add(row)
            for each in pairs(row):
                open_pairs.pop(each, None)
        while rows is not None and len(self.rows) < rows:
            fresh = [row for row in self._random_rows() if row not in self.rows]
            fresh.sort(key=lambda row: sum(self.counts.get(pair, 0) for pair in pairs(row)))
            row = next((row for row in fresh if self.refusal(row) is None), None)
            if row is None:
                break
            self._add(row)
        return Design(tuple(self.rows), of, self.counts, self.impossible)

    def _add(self, row: Row) -> None:
        self.rows[row] = None
        for pair in pairs(row):
            if pair not in self.counts:
                # It counted as impossible after too few tries.
                self.counts[pair] = 0
                del self.impossible[pair]
            self.counts[pair] += 1

    def _pair(self, one: int, a: int, other: int, b: int) -> Pair:
        return (one, a, other, b) if one < other else (other, b, one, a)

    def _row(self, pair: Pair, open_pairs: dict[Pair, None]) -> Row | None:
        """A row with this pair that can be had and adds many pairs."""
        made = [self._candidate(pair, open_pairs) for _ in range(_CANDIDATES)]
        found = sorted(
            dict.fromkeys(made), key=lambda row: -sum(each in open_pairs for each in pairs(row))
        )
        why = ""
        tried: dict[Row, None] = {}
        for row in itertools.chain(found, self._with(pair)):
            if row in tried:
                continue
            refused = self.refusal(row)
            if refused is None:
                return row
            why = why or refused
            tried[row] = None
        self.impossible[pair] = why
        return None

    def _candidate(self, pair: Pair, open_pairs: dict[Pair, None]) -> Row:
        """A row with this pair: factor by factor in random order the level that adds most pairs."""
        one, a, other, b = pair
        row = {one: a, other: b}
        free = [factor for factor in range(len(self.sizes)) if factor not in row]
        self.random.shuffle(free)
        for factor in free:
            known = list(row.items())

            worths = [
                self._worth(factor, level, known, open_pairs) for level in range(self.sizes[factor])
            ]
            row[factor] = worths.index(max(worths))
        return tuple(row[factor] for factor in range(len(self.sizes)))

    def _worth(
        self,
        factor: int,
        level: int,
        known: Sequence[tuple[int, int]],
        open_pairs: dict[Pair, None],
    ) -> tuple[int, int, float]:
        """How many pairs a level adds to a row, then how rare its pairs are."""
        own = [self._pair(factor, level, *each) for each in known]
        new = sum(each in open_pairs for each in own)
        return new, -sum(self.counts.get(each, 0) for each in own), self.random.random()

    def _with(self, pair: Pair) -> Iterator[Row]:
        """Rows with this pair: all of them if they are few, else some at random."""
        one, a, other, b = pair
        free = [range(size) for size in self.sizes]
        free[one], free[other] = range(a, a + 1), range(b, b + 1)
        if math.prod(map(len, free)) <= _TRIES:
            yield from itertools.product(*free)
            return
        for _ in range(_TRIES):
            yield tuple(self.random.choice(levels) for levels in free)

    def _random_rows(self) -> list[Row]:
        """Rows at random; all of them if they are few."""
        if math.prod(self.sizes) <= 30 * _TRIES:
            every = list(itertools.product(*map(range, self.sizes)))
            self.random.shuffle(every)
            return every
        drawn = (tuple(map(self.random.randrange, self.sizes)) for _ in range(30 * _TRIES))
        return list(dict.fromkeys(drawn))
