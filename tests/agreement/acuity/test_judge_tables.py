"""The tables about a judge against figures by hand."""

from __future__ import annotations

import pytest

from agreement.acuity.judge_tables import Mark, ReadResponse, judge_tables, overlap
from agreement.acuity.measures import Price
from consilium.statistics.intervals import DEFAULT_RULE

VALUES = ["self-care", "primary-care", "urgent-care", "emergency"]


def response(number: int, judge: int | None, *physicians: int | None, reference: int | None = 1) -> ReadResponse:
    return ReadResponse(
        case=f"case-{number}",
        candidate="alpha" if number % 2 else "beta",
        judge=Mark(judge, ((0, 10),)),
        judge_state="no-level" if judge is None else "level",
        physicians=tuple(Mark(level, ((5, 10),)) for level in physicians),
        reference=reference,
    )


ROWS = [
    response(0, 3, 3, 3),
    response(1, 1, 1, 2),
    response(2, 0, 2, 2),
    response(3, 2, 3, None),
    response(4, None, 0, 0),
    response(5, 1),
    response(6, 1, 1, 1),
    response(7, 2, 2, 2),
]


def tables() -> dict[str, list[dict[str, object]]]:
    files = judge_tables(ROWS, VALUES, margin=0.05, price=Price(), rule=DEFAULT_RULE)
    return {file.name: list(file.rows) for file in files}  # type: ignore[arg-type]


def test_the_judge_against_physicians() -> None:
    rows = {row["measure"]: row for row in tables()["judge"] if row["candidate"] == "all"}
    # Six responses with a level on both sides: right 1, ½, 0, 0, 1, 1.
    assert rows["exact"]["value"] == pytest.approx(3.5 / 6)
    assert (rows["exact"]["n_responses"], rows["exact"]["n_pairs"]) == (6, 11)
    assert rows["within_one"]["value"] == pytest.approx(5 / 6)
    assert rows["bias"]["value"] == pytest.approx((0 - 0.5 - 2 - 1 + 0 + 0) / 6)
    # A physician marked emergency on the first (both) and on the fourth, where the judge did not.
    assert rows["emergency_recall"]["value"] == pytest.approx(1 / 2)
    assert rows["quote_overlap"]["value"] == pytest.approx(0.5)  # 5 of 10 characters
    assert rows["exact"]["value_low"] < rows["exact"]["value"] < rows["exact"]["value_high"]  # type: ignore[operator]


def test_physicians_against_each_other_on_the_same_responses() -> None:
    rows = {row["measure"]: row for row in tables()["judge_ceiling"]}
    exact = rows["exact"]
    # Five responses with two levels and one by the judge: judge 1, ½, 0, 1, 1; physicians 1, 0, 1, 1, 1.
    assert (exact["judge"], exact["physicians"]) == (pytest.approx(3.5 / 5), pytest.approx(4 / 5))
    assert exact["gap"] == pytest.approx(-0.1)
    assert exact["finding"] == "open"
    assert rows["quote_overlap"]["physicians"] == pytest.approx(1)
    assert "bias" not in rows


def test_confusion_has_what_is_no_level() -> None:
    cells = {
        (row["physicians"], row["judge"]): row["n"] for row in tables()["judge_confusion"] if row["candidate"] == "all"
    }
    assert cells["self-care", "no-level"] == 2
    assert cells["no-level", "urgent-care"] == 1
    assert sum(cells.values()) == 14  # type: ignore[arg-type]


def test_rates_stand_three_ways() -> None:
    rows = {(row["candidate"], row["measure"]): row for row in tables()["powered"]}
    rate = rows["all", "accuracy"]
    # Reference 1 everywhere. By the judge right on three of seven; one of them was not read.
    assert (rate["n_judged"], rate["n_read"]) == (7, 6)
    assert rate["judge"] == pytest.approx(3 / 7)
    # By physicians ½ on the second and 1 on the seventh, which weighs 1 each; alpha's 1s weigh 2 for the unread one.
    assert rate["physicians"] == pytest.approx((0 + 0.5 * 2 + 0 + 0 + 1 + 0) / 7)
    assert rate["enough_read"] is False
    assert rows["all", "under"]["judge"] == pytest.approx(1 / 7)


def test_overlap_is_of_characters() -> None:
    assert overlap([(0, 4)], [(2, 6)]) == pytest.approx(2 / 6)
    assert overlap([], [(2, 6)]) == 0
    assert overlap([], []) == 0
