"""The tables about a judge against figures by hand."""

from __future__ import annotations

from collections.abc import Sequence

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


def tables(rows: Sequence[ReadResponse] = ROWS) -> dict[str, list[dict[str, object]]]:
    files = judge_tables(rows, VALUES, margin=0.05, price=Price(), rule=DEFAULT_RULE)
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


# Who was read, and who was not


def powered(rows: list[ReadResponse], candidate: str = "all", measure: str = "accuracy") -> dict[str, object]:
    return next(row for row in tables(rows)["powered"] if (row["candidate"], row["measure"]) == (candidate, measure))


def read_in(number: int, judge: int, *marks: Mark, candidate: str = "alpha", reference: int = 3) -> ReadResponse:
    return ReadResponse(f"case-{number}", candidate, Mark(judge), "level", marks, reference)


def reason_of(row: dict[str, object]) -> object:
    """Why there is no rate but that by the judge."""
    names = ("physicians", "physicians_low", "physicians_high", "powered", "powered_low", "powered_high", "power")
    assert [row[name] for name in names] == [None] * 7
    return row["note"]


def test_a_stratum_that_nobody_read_leaves_no_rate() -> None:
    # 90 responses at level 0 that nobody read, and 40 at level 3 that are read, 30 of them as level 3.
    unread = [read_in(number, 0) for number in range(90)]
    read = [read_in(90 + number, 3, Mark(3 if number < 30 else 2)) for number in range(40)]
    row = powered([*unread, *read])
    assert row["judge"] == pytest.approx(40 / 130)
    assert (row["n_judged"], row["n_read"], row["enough_read"]) == (130, 40, True)
    assert reason_of(row) == (
        "90 responses are in strata (judge’s level and candidate) of which none drawn for this run was read"
    )
    assert reason_of(powered([*unread, *read], "alpha", "cost")) == reason_of(row)
    # One of the 90 is read, as level 3: it weighs 90, so that physicians find 90 + 30 of 130 right.
    row = powered([*unread[1:], read_in(0, 0, Mark(3)), *read])
    assert row["physicians"] == pytest.approx(120 / 130)
    assert isinstance(row["powered"], float)


def test_a_candidate_of_whom_nobody_read_anything_leaves_no_rate_of_all() -> None:
    read = [read_in(number, 3, Mark(3)) for number in range(10)]
    rows = [*read, read_in(10, 3, candidate="beta")]
    assert reason_of(powered(rows)) == (
        "1 response is in a stratum (judge’s level and candidate) of which none drawn for this run was read"
    )
    assert reason_of(powered(rows, "beta")) == "no response that the judge scored is graded by physicians"
    assert powered(rows, "alpha")["physicians"] == 1


def test_a_stratum_without_a_level_is_read_and_is_left_out_with_a_remark() -> None:
    rows = [read_in(number, 3, Mark(3 if number < 6 else 2)) for number in range(8)]
    rows += [read_in(8, 0, Mark(None)), read_in(9, 0)]
    row = powered(rows)
    assert (row["n_judged"], row["n_read"], row["physicians"]) == (10, 8, pytest.approx(6 / 8))
    assert "2 responses excluded: physicians found no level in what they read of their strata" in str(row["note"])
    # Nothing of a level anywhere: as if nobody had graded.
    assert "graded by physicians" in str(reason_of(powered(rows[8:9])))


def test_marks_of_a_sample_for_another_run_weigh_nothing() -> None:
    other = [read_in(number, 3, Mark(3, is_drawn=False)) for number in range(40)]
    row = powered(other)
    assert (row["n_read"], row["enough_read"], row["judge"]) == (40, True, 1)
    assert reason_of(row) == "physicians read a sample drawn for another run, which is not a random sample of this run"
    # Ten were drawn for this run, and two of them read as level 2: eight of ten are right, whatever the others say.
    own = [read_in(40 + number, 3, Mark(3 if number < 8 else 2), Mark(2, is_drawn=False)) for number in range(10)]
    row = powered([*other, *own])
    assert (row["n_judged"], row["n_read"], row["physicians"]) == (50, 50, pytest.approx(0.8))
    # Where the sample for this run has nothing of a stratum, that for another run does not fill in.
    elsewhere = [read_in(50 + number, 1, Mark(1, is_drawn=False)) for number in range(3)]
    assert "3 responses are in strata" in str(reason_of(powered([*own, *elsewhere])))


def test_the_judge_is_compared_with_every_physician() -> None:
    rows = [read_in(0, 3, Mark(3), Mark(2, is_drawn=False))]
    exact = next(row for row in tables(rows)["judge"] if row["measure"] == "exact")
    assert (exact["value"], exact["n_pairs"]) == (0.5, 2)
