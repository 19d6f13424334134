"""Values of an item analysis as pages show them, by hand."""

from __future__ import annotations

import pytest

from agreement.items.labels import in_order, value_label


@pytest.mark.parametrize(
    ("attribute", "value", "label"),
    [
        ("response_length", "1000-1999", "1,000–1,999 characters"),
        ("criterion_length", "7-7", "7 characters"),
        ("criterion_length", "1-1", "1 character"),
        ("points", "negative", "negative points"),
        ("difficulty", "medium", "Medium"),
        ("register", "lay", "Patient or public"),
        ("theme", "10-20", "10-20"),  # a tag is shown as it is
        ("candidate", "alpha", "alpha"),
    ],
)
def test_labels(attribute: str, value: str, label: str) -> None:
    assert value_label(attribute, value) == label


def test_lengths_are_ordered_as_numbers() -> None:
    rows = [{"value": value, "rate": rate} for value, rate in (("1000-1999", 0.9), ("90-999", 0.1), ("8-89", 0.5))]
    assert [row["value"] for row in in_order("response_length", rows)] == ["8-89", "90-999", "1000-1999"]
    assert [row["value"] for row in in_order("theme", rows)] == ["1000-1999", "8-89", "90-999"]
