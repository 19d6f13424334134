"""The annotators and checkers of each candidate's decisions, and the MF1 of the two expert groups.

As Table 3 of ClinConsensus (Zheng et al. 2026). Physicians are counted once however many responses of the candidate
they decided; only submitted work counts, and a check once it is finished.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from agreement.counting import compare
from agreement.counting.windows import Counted, count
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import group_choices
from consilium.core.phrases import Labelled, joined, labelled, parts_of
from consilium.core.reasons import Reason, code_of
from consilium.statistics.intervals import IntervalRule
from rubrics.models import Benchmark
from scoring.selectors.raters import resolve_rater

COLUMNS = (
    *("group", "slice", "n_annotators", "n_checkers", "n_responses", "n_decisions", "n_pairs"),
    *("mf1", "mf1_low", "mf1_high", "note"),
)
TEXT = ("group", "slice", "note")
BETWEEN = labelled("mf1", Reason.BETWEEN_GROUPS())
# A row without a group is for all groups, one without a candidate for all candidates. A physician of two groups, or who
# decided on two candidates, is counted once there.
_COUNTS = """
    WITH handed_in AS (
        SELECT a.id, a.annotator_id, a.round, a.response_id, r.candidate_id, b.group_id
        FROM annotation_assignment a
        JOIN annotation_batch b ON b.id = a.batch_id
        JOIN annotation_expertgroup g ON g.id = b.group_id
        JOIN rubrics_response r ON r.id = a.response_id
        JOIN rubrics_case c ON c.id = a.case_id AND c.excluded_at IS NULL
        WHERE g.benchmark_id = %(benchmark)s AND a.purpose = 'work' AND a.status <> 'released'
          AND a.submitted_at IS NOT NULL
    ), decided AS (
        SELECT h.group_id, h.candidate_id, count(*) AS n
        FROM handed_in h JOIN annotation_decision d ON d.assignment_id = h.id AND d.round = h.round
        WHERE d.outcome IS NOT NULL
        GROUP BY GROUPING SETS ((), (h.candidate_id), (h.group_id), (h.group_id, h.candidate_id))
    ), people AS (
        SELECT h.group_id, h.candidate_id, count(DISTINCT h.annotator_id) AS annotators,
               count(DISTINCT c.checker_id) AS checkers, count(DISTINCT h.response_id) AS responses
        FROM handed_in h LEFT JOIN annotation_check c ON c.assignment_id = h.id AND c.result <> ''
        GROUP BY GROUPING SETS ((), (h.candidate_id), (h.group_id), (h.group_id, h.candidate_id))
    )
    SELECT g.name, k.name, p.annotators, p.checkers, p.responses, coalesce(d.n, 0)
    FROM people p
    LEFT JOIN annotation_expertgroup g ON g.id = p.group_id
    LEFT JOIN rubrics_candidate k ON k.id = p.candidate_id
    LEFT JOIN decided d ON d.candidate_id IS NOT DISTINCT FROM p.candidate_id
        AND d.group_id IS NOT DISTINCT FROM p.group_id
    ORDER BY g.name NULLS FIRST, k.name NULLS FIRST
"""


class Counts(NamedTuple):
    """How many people made the decisions on a candidate in a group; None stands for all candidates or all groups."""

    group: str | None
    candidate: str | None
    annotators: int
    checkers: int
    responses: int
    decisions: int


def count_physicians(benchmark: Benchmark) -> list[Counts]:
    """First all groups together, then each group; in each first all candidates together, then each of them."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"benchmark": benchmark.pk})
        return [Counts(*row) for row in cursor.fetchall()]


def digested(counts: list[Counts]) -> list[list[Any]]:
    """The part of the counts that goes into the digest of a report: the whole, of which the groups are parts."""
    return [list(row[1:]) for row in counts if row.group is None]


def groups_with_work(benchmark: Benchmark) -> list[str]:
    """The raters of the expert groups with submitted work, after the check."""
    return [offer.rater for offer in group_choices(benchmark) if offer.rater.endswith("@checked")]


@dataclass(frozen=True, eq=False)
class Compared:
    """The two groups' decisions, counted; if there are not exactly two, no counts and the reason in ``why``."""

    labels: list[str]
    counted: Counted | None
    why: str

    @property
    def digest(self) -> str:
        """The digest of what was counted; empty where nothing was."""
        return self.counted.digest if self.counted else ""


def read_groups(benchmark: Benchmark) -> Compared:
    """Count the pairs of the two expert groups after the check."""
    names = groups_with_work(benchmark)
    if len(names) != 2:
        return Compared([], None, Reason.NOT_TWO_GROUPS(n=len(names)) if names[2:] else Reason.NO_PAIR_OF_GROUPS())
    first, second = (resolve_rater(benchmark, name) for name in names)
    return Compared([first.label, second.label], count(benchmark, first, second), compare.NO_PAIRS)


def count_rows(counts: list[Counts], groups: Compared, *, rule: IntervalRule) -> list[Row]:
    """`COLUMNS`, from `count_physicians` and `read_groups`; no rows where no physician has handed anything in.

    ``group`` is empty in the rows of all groups, which alone have an MF1: it is that of two groups.
    """
    if not counts or not counts[0].annotators:
        return []
    rows: dict[str, Row] = {}
    if groups.counted:
        comparison = compare.compare_tallies(groups.counted.tallies, rule=rule)
        rows = {row["slice"]: row for row in comparison.head}
    # Of three groups no pairs are counted, though there may be some.
    n_uncounted = None if code_of(groups.why) is Reason.NOT_TWO_GROUPS else 0
    table = []
    for part in counts:
        label = "all" if part.candidate is None else f"candidate:{part.candidate}"
        compared = rows.get(label, {}) if part.group is None else {}
        table.append(
            {
                "group": part.group or "",
                "slice": label,
                "n_annotators": part.annotators,
                "n_checkers": part.checkers,
                "n_responses": part.responses,
                "n_decisions": part.decisions,
                "n_pairs": compared.get("n_pairs", n_uncounted) if part.group is None else None,
                **{column: compared.get(column) for column in ("mf1", "mf1_low", "mf1_high")},
                "note": _note(compared, groups.why) if part.group is None else BETWEEN,
            }
        )
    return table


def _note(compared: Row, why: str) -> str:
    """The note on MF1, and on pairs that it leaves out as faulty."""
    if not compared or not compared["n_pairs"]:
        return labelled("mf1", why)
    notes = []
    for part in parts_of(compared["note"]):
        if isinstance(part, Labelled) and "mf1" in part.names:
            notes.append(labelled("mf1", part.phrase))
        elif code_of(part) is Reason.PAIRS_FAULTY:
            notes.append(part)
    return joined(*notes)
