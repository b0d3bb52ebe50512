"""The heads of algorithms' files, which become their pages."""

from __future__ import annotations

import pytest

from generator.catalogue import CATALOGUE, ROOMS, head, parts, source_of

EVERY = [(room, entry["id"]) for room in ROOMS for entry in CATALOGUE[room]]


@pytest.mark.parametrize(("room", "id"), EVERY, ids=lambda part: part)
def test_a_head_says_what_algorithms_around_it_do(room, id):
    file = source_of(room, id)
    assert parts(head(file)).get("In composition"), f'{file} lacks "# In composition"'
