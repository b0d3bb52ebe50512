"""Numbers as people read them."""

import pytest

from spillway.base.result_schema import STATUSES
from spillway.show import tables


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0"),
        (1, "1.00"),
        (9.996, "10.0"),
        (0.01234, "0.0123"),
        (12.345, "12.3"),
        (99.96, "100"),
        (123.4, "123"),
        (12345.6, "12,346"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert tables.number(value) == text


def test_sizes_have_decimal_units():
    assert tables.size(None) == "unlimited"
    assert [tables.size(n) for n in (0, 999, 1024, 1_024_000)] == [
        "0 B", "999 B", "1.024 KB", "1.024 MB",
    ]  # fmt: skip
    assert tables.size(5e15) == "5000 TB"


def test_every_status_has_a_colour():
    assert tuple(tables.STATUS_STYLES) == STATUSES
