"""Two responses to one case on both sides of k: what each meets, and all responses that could stand in their place.

Hits, Rubric Accuracy and CACS are those of the stored report; outcomes and remarks are the current ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agreement.items.side_by_side import MarkedBlock, Remark, marked, remarks_of
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row, Table
from agreement.scoreboard.both_sides import SIDES
from annotation.selectors.ratings import faulty_pairs
from consilium.core.ratings import Span
from consilium.statistics.outcomes import Outcome
from rubrics.models import Response, Rubric, RubricItem
from scoring.selectors.raters import Rater, resolve_rater

FILE_COLUMNS = (
    *("case", "k", "position", "criterion", "points"),
    *(f"{name}_{side}" for side in SIDES for name in ("candidate", "sample", "hits", "outcome")),
)
FILE_TEXT = ("case", "criterion", *(f"{name}_{side}" for side in SIDES for name in ("candidate", "outcome")))
PRINTED_COLUMNS = ("position", "criterion", "points", *(f"outcome_{side}" for side in SIDES))


@dataclass(frozen=True)
class Side:
    """One of the two responses, with its stored figures and its text in blocks."""

    response: Response
    hits: int
    n_criteria: int
    cacs: float
    blocks: Sequence[MarkedBlock] = ()

    @property
    def rubric_accuracy(self) -> float:
        return 100 * self.hits / self.n_criteria


@dataclass(frozen=True)
class CriterionOfTwo:
    """A criterion of the current rubric: the outcome of each side, empty where there is none, and the remarks."""

    position: int
    text: str
    points: int
    outcomes: dict[str, str]
    remarks: dict[str, list[Remark]]

    @property
    def is_apart(self) -> bool:
        """Whether one response meets it and the other does not."""
        return len({outcome == "met" for outcome in self.outcomes.values()}) > 1


@dataclass(frozen=True)
class TwoResponses:
    """Both sides, their criteria, and the responses that may be chosen for each side."""

    k: int
    above: Side
    below: Side
    criteria: list[CriterionOfTwo]
    options: dict[str, list[Side]]

    @property
    def several_settings(self) -> bool:
        """Whether the setting is needed to tell the responses apart."""
        return len({side.response.setting for sides in self.options.values() for side in sides}) > 1


def read_two(report: Report, row: Row, chosen: dict[str, str]) -> TwoResponses | None:
    """The pair of ``row``, of the table ``both_sides``, or other responses to its case as ``chosen`` by side and public
    id. None where a response is not there, or not on that side.
    """
    options = _options(report, row)
    sides: dict[str, Side] = {}
    for side in SIDES:
        response_id = chosen.get(side) or row[f"response_{side}"]
        own = [option for option in options[side] if option.response.public_id == response_id]
        if not own:
            return None
        sides[side] = own[0]
    rater = resolve_rater(report.benchmark, report.parameters["rater"])
    shown = [side.response for side in sides.values()]
    remarks, spans = remarks_of(report.benchmark, rater, shown)
    outcomes = {name: _outcomes(report, rater, side.response) for name, side in sides.items()}
    criteria = [
        CriterionOfTwo(
            position=position,
            text=text,
            points=points,
            outcomes={name: outcomes[name].get(criterion, "missing" if rater.is_judge else "") for name in SIDES},
            remarks={name: remarks.get((sides[name].response.pk, criterion), []) for name in SIDES},
        )
        for criterion, position, points, text in _criteria(shown[0])
    ]
    above, below = (
        Side(side.response, side.hits, side.n_criteria, side.cacs, marked(side.response.text, spans[side.response.pk]))
        for side in (sides["above"], sides["below"])
    )
    return TwoResponses(int(row["k"]), above, below, criteria, options)


def _options(report: Report, row: Row) -> dict[str, list[Side]]:
    """The responses to the case of ``row`` by side, the nearest to k first."""
    k = int(row["k"])
    table = table_of(report, "responses")
    # A candidate may have a response of the same number in each of several settings; older reports do not tell which.
    columns = [name for name in ("candidate", "setting", "sample") if name in table.columns]
    scored = {
        tuple(own[name] for name in columns): own
        for own in table.dicts()
        if own["case"] == row["case"] and own["hits"] is not None and own["cacs_at_k"] is not None
    }
    responses = Response.objects.filter(case__benchmark=report.benchmark, case__key=row["case"])
    options: dict[str, list[Side]] = {side: [] for side in SIDES}
    for response in responses.select_related("case", "candidate"):
        key = {"candidate": response.candidate.name, "setting": response.setting, "sample": response.sample}
        own = scored.get(tuple(key[name] for name in columns))
        if own:
            side = Side(response, own["hits"], own["n_criteria"], own["cacs_at_k"])
            options["above" if side.hits >= k else "below"].append(side)
    for sides in options.values():
        sides.sort(key=lambda side: (abs(side.hits - k), side.response.candidate.name, *_numbered(side.response)))
    return options


def _numbered(response: Response) -> tuple[str, int]:
    return response.setting, response.sample


def _criteria(response: Response) -> Iterator[tuple[int, int, int, str]]:
    """The criteria of the current rubric of the response's case."""
    items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case=response.case))
    yield from items.order_by("position").values_list("criterion", "position", "points", "criterion__text")


def _outcomes(report: Report, rater: Rater, response: Response) -> dict[int, str]:
    """The rater's outcome of each criterion of a response, in the stored words."""
    ratings = rater.ratings(Span(response.pk, response.pk))
    outcomes = {
        criterion: Outcome(code).word
        for criterion, code in zip(ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True)
    }
    faulty = faulty_pairs(report.benchmark)
    return outcomes | {
        criterion: Outcome.FAULTY.word
        for own, criterion in zip(faulty.response.tolist(), faulty.criterion.tolist(), strict=True)
        if own == response.pk
    }


def pair_table(pair: TwoResponses) -> Table:
    """`FILE_COLUMNS`: a row for each criterion."""
    rows = []
    for criterion in pair.criteria:
        row: Row = {
            "case": pair.above.response.case.key,
            "k": pair.k,
            "position": criterion.position,
            "criterion": criterion.text,
            "points": criterion.points,
        }
        for name, side in (("above", pair.above), ("below", pair.below)):
            row |= {
                f"candidate_{name}": side.response.candidate.name,
                f"sample_{name}": side.response.sample,
                f"hits_{name}": side.hits,
                f"outcome_{name}": criterion.outcomes[name],
            }
        rows.append(row)
    return Table.of(FILE_COLUMNS, rows, FILE_TEXT)


def printed_table(pair: TwoResponses) -> Table:
    """The same for print: what is alike in every row is in the caption and the notes."""
    return Table.of(PRINTED_COLUMNS, pair_table(pair).dicts(), FILE_TEXT)


def caption(pair: TwoResponses) -> str:
    """The caption in English."""
    return f"Two responses to {pair.above.response.case.key} on both sides of k = {pair.k}"


def notes(pair: TwoResponses) -> list[str]:
    """Who is above and below, with their figures, in English."""
    return [
        f"{word} k: {side.response.candidate.name}"
        + (f", {side.response.setting}" if pair.several_settings else "")
        + (f", sample {side.response.sample}" if side.response.sample else "")
        + f"; {side.hits} of {side.n_criteria} positive criteria met, Rubric Accuracy {side.rubric_accuracy:.1f}, "
        f"CACS@{pair.k} {side.cacs:.1f}"
        for word, side in (("Above", pair.above), ("Below", pair.below))
    ]
