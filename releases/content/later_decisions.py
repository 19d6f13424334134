"""What was decided after the annotators' first decisions: ``amendments.csv`` and ``rulings.csv`` of a release.

A release has both beside ``decisions.csv``, where this has each physician's own first decisions. People are there by
their pseudonyms, and their reasons only with the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Amendment, Assignment, Check, Decision, Physician, Ruling
from annotation.selectors.ratings import faulty_pairs
from releases.content.optional_content import (
    DECISION_COLUMNS,
    decision_columns,
    has_other_settings,
    responses_to_release,
)
from releases.content.options import ReleaseOptions
from rubrics.models import Benchmark, RubricItem

# Those of ``decisions.csv`` first. ``before`` is the outcome that the row replaces, ``annotator`` whose it is.
AMENDMENTS, RULINGS = "amendments.csv", "rulings.csv"
OF_AMENDMENTS, OF_RULINGS = ("annotator", "before", "round"), ("group", "other_group")
AMENDMENT_COLUMNS = (*DECISION_COLUMNS, *OF_AMENDMENTS)
RULING_COLUMNS = (*DECISION_COLUMNS, *OF_RULINGS)
LATER_TEXT = ("case", "candidate", "rater", "note", "setting", *OF_AMENDMENTS, *OF_RULINGS)
# Names under which release.json counts the rows; ``rulings`` are those of acuity.
COUNTED = {AMENDMENTS: "amendments", RULINGS: "rulings_on_decisions"}
_ANNOTATOR, _CHECKER, _ADJUDICATOR = "annotator", "checker", "adjudicator"
_ORDER = itemgetter("case_id", "candidate", "setting", "sample", "criterion")


def has_later_decisions(options: ReleaseOptions) -> bool:
    """Whether a release has these files: with decisions, unless raters are named whose outcomes hold them already."""
    return options.decisions and not options.raters


def amended(benchmark: Benchmark) -> QuerySet[Decision]:
    """Decisions of accepted work, in its last round, whose outcome is not the first one or was amended.

    ``first`` is the outcome of the first round, ``amendment`` the checker's outcome or null.
    """
    last_round = Decision.objects.filter(
        assignment__batch__group__benchmark=benchmark,
        assignment__status=Assignment.Status.ACCEPTED,
        assignment__purpose=Assignment.Purpose.WORK,
        assignment__case__excluded_at=None,
        round=F("assignment__round"),
        outcome__isnull=False,
    )
    amendment = Amendment.objects.filter(
        check_row__assignment=OuterRef("assignment"),
        check_row__round=OuterRef("round"),
        check_row__result=Check.Result.ACCEPTED,
        criterion=OuterRef("criterion"),
    ).exclude(outcome="")
    first = Decision.objects.filter(assignment=OuterRef("assignment"), criterion=OuterRef("criterion"), round=1)
    rows = last_round.annotate(
        amendment=Subquery(amendment.values("outcome")[:1]),
        reason=Subquery(amendment.values("reason")[:1]),
        checker=Subquery(amendment.values("check_row__checker")[:1]),
        first=Coalesce(Subquery(first.values("outcome")[:1]), F("outcome")),
    )
    return rows.filter(Q(amendment__isnull=False) | (Q(round__gt=1) & ~Q(first=F("outcome"))))


def may_have_later_decisions(benchmark: Benchmark) -> bool:
    """Whether anything was decided after the first decisions; a release may leave all of it out."""
    accepted = Assignment.objects.filter(
        batch__group__benchmark=benchmark, purpose=Assignment.Purpose.WORK, status=Assignment.Status.ACCEPTED
    )
    checks = Check.objects.filter(assignment__in=accepted, result=Check.Result.ACCEPTED)
    return (
        accepted.filter(round__gt=1).exists()
        or Amendment.objects.filter(check_row__in=checks).exclude(outcome="").exists()
        or Ruling.objects.filter(adjudication__response__case__benchmark=benchmark, final_at__isnull=False).exists()
    )


def final_rulings(benchmark: Benchmark) -> QuerySet[Ruling]:
    """The ruling that counts of each group, or two groups, on each pair: the last one."""
    of = ("response_id", "group_id", "other_group_id")
    pair = ("criterion_id", *(f"adjudication__{name}" for name in of))
    rows = Ruling.objects.filter(
        adjudication__response__case__benchmark=benchmark,
        adjudication__response__case__excluded_at=None,
        final_at__isnull=False,
    )
    return rows.order_by(*pair, "-final_at", "-adjudication_id").distinct(*pair)


@dataclass(slots=True)
class LaterDecisions:
    """The rows of both files. ``left_out`` counts those on criteria of earlier versions, and amendments on criteria
    that were ruled faulty, whose decisions are in no release.
    """

    benchmark: Benchmark
    options: ReleaseOptions
    left_out: Counter[str]
    _names: dict[int, str] = field(init=False)
    _positions: dict[int, int] = field(init=False)
    _has_settings: bool = field(init=False)

    def __post_init__(self) -> None:
        rows = Physician.objects.filter(benchmark=self.benchmark)
        self._names = dict(rows.values_list("user_id", "pseudonym"))
        items = RubricItem.objects.filter(
            rubric__status="published", rubric__track="gold", rubric__case__benchmark=self.benchmark
        )
        self._positions = dict(items.values_list("criterion_id", "position"))
        self._has_settings = has_other_settings(self.benchmark)

    def columns(self, of_file: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of ``decisions.csv`` and those of the file."""
        return (*decision_columns(self.benchmark), *of_file)

    def amendments(self) -> Iterator[dict[str, Any]]:
        """What annotators changed in returned work, and what checkers amended in accepted work."""
        faulty = faulty_pairs(self.benchmark)
        ruled = set(zip(faulty.response.tolist(), faulty.criterion.tolist(), strict=True))
        work = "assignment__response"
        rows = amended(self.benchmark).filter(assignment__response__in=self._responses())
        placed = self._placed(
            rows.values(
                *("criterion_id", "round", "outcome", "note", "first", "amendment", "reason", "checker"),
                response=F(work),
                annotator=F("assignment__annotator"),
                **_of_response(work),
            ),
            "amendments",
        )
        for row in sorted(placed, key=lambda row: (*_ORDER(row), self._name(row["annotator"]))):
            if (row["response"], row["criterion_id"]) in ruled:
                self.left_out["amendments_on_faulty_criteria"] += 1
                continue
            own = {"annotator": self._name(row["annotator"]), "round": row["round"]}
            if row["first"] != row["outcome"]:
                yield {
                    **self._row(row, row["annotator"], _ANNOTATOR, row["outcome"], row["note"]),
                    **own,
                    "before": row["first"],
                }
            if row["amendment"]:
                yield {
                    **self._row(row, row["checker"], _CHECKER, row["amendment"], row["reason"]),
                    **own,
                    "before": row["outcome"],
                }

    def rulings(self) -> Iterator[dict[str, Any]]:
        """What adjudicators ruled; ``other_group`` is set where two groups differed."""
        of = "adjudication__response"
        rows = final_rulings(self.benchmark).filter(adjudication__response__in=self._responses())
        placed = self._placed(
            rows.values(
                *("criterion_id", "outcome", "reason"),
                adjudicator=F("adjudication__adjudicator"),
                of_group=F("adjudication__group__name"),
                of_other=F("adjudication__other_group__name"),
                **_of_response(of),
            ),
            "rulings",
        )
        for row in sorted(placed, key=lambda row: (*_ORDER(row), row["of_group"], row["of_other"] or "")):
            yield {
                **self._row(row, row["adjudicator"], _ADJUDICATOR, row["outcome"], row["reason"]),
                "group": row["of_group"],
                "other_group": row["of_other"] or "",
            }

    def _responses(self) -> Any:
        return responses_to_release(self.benchmark, self.options).values("pk")

    def _placed(self, rows: Iterable[Any], kind: str) -> Iterator[dict[str, Any]]:
        """Rows with the place of their criterion in the published version."""
        for row in rows:
            position = self._positions.get(row["criterion_id"])
            if position is None:
                self.left_out[f"{kind}_on_earlier_criteria"] += 1
            else:
                yield {**row, "criterion": position}

    def _row(self, row: dict[str, Any], rater: int | None, stage: str, outcome: str, note: str) -> dict[str, Any]:
        values = {
            **{name: row[name] for name in ("case", "candidate", "sample", "criterion")},
            "rater": self._name(rater),
            "outcome": outcome,
            "stage": stage,
            "note": note if self.options.notes else "",
        }
        return {**values, "setting": row["setting"]} if self._has_settings else values

    def _name(self, user: int | None) -> str:
        return self._names.get(user, "") if user is not None else ""


def _of_response(path: str) -> dict[str, Any]:
    names = {"case_id": "case", "case": "case__key", "candidate": "candidate__name"}
    return {name: F(f"{path}__{of}") for name, of in {**names, "setting": "setting", "sample": "sample"}.items()}
