"""Who stands behind the decisions on each candidate: annotators and checkers, beside the MF1 of the two expert groups.

As Table 3 of ClinConsensus (Zheng et al. 2026). Physicians are counted once however many responses of the candidate
they decided; only submitted work counts, and a check once it is finished.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from agreement import compare
from agreement.counting import Counted, count
from agreement.offers import group_offers
from agreement.tables import Row
from rubrics.models import Benchmark
from scoring.raters import resolve_rater

COLUMNS = (
    *("slice", "n_annotators", "n_checkers", "n_responses", "n_decisions", "n_pairs"),
    *("mf1", "mf1_low", "mf1_high", "note"),
)
TEXT = ("slice", "note")
# The empty candidate is all of them: a physician who decided on two candidates is one physician.
_COUNTS = """
    WITH handed_in AS (
        SELECT a.id, a.annotator_id, a.round, a.response_id, r.candidate_id
        FROM annotation_assignment a
        JOIN annotation_batch b ON b.id = a.batch_id
        JOIN annotation_expertgroup g ON g.id = b.group_id
        JOIN rubrics_response r ON r.id = a.response_id
        JOIN rubrics_case c ON c.id = a.case_id AND c.excluded_at IS NULL
        WHERE g.benchmark_id = %(benchmark)s AND a.purpose = 'work' AND a.status <> 'released'
          AND a.submitted_at IS NOT NULL
    ), decided AS (
        SELECT h.candidate_id, count(*) AS n
        FROM handed_in h JOIN annotation_decision d ON d.assignment_id = h.id AND d.round = h.round
        WHERE d.outcome IS NOT NULL GROUP BY h.candidate_id
    ), people AS (
        SELECT h.candidate_id, count(DISTINCT h.annotator_id) AS annotators, count(DISTINCT c.checker_id) AS checkers,
               count(DISTINCT h.response_id) AS responses
        FROM handed_in h LEFT JOIN annotation_check c ON c.assignment_id = h.id AND c.result <> ''
        GROUP BY GROUPING SETS ((), (h.candidate_id))
    )
    SELECT k.name, p.annotators, p.checkers, p.responses,
           CASE WHEN p.candidate_id IS NULL THEN (SELECT coalesce(sum(n), 0)::int8 FROM decided)
                ELSE coalesce(d.n, 0) END
    FROM people p LEFT JOIN rubrics_candidate k ON k.id = p.candidate_id
    LEFT JOIN decided d ON d.candidate_id = p.candidate_id
    ORDER BY k.name NULLS FIRST
"""
Counts = tuple[str | None, int, int, int, int]


def count_physicians(benchmark: Benchmark) -> list[Counts]:
    """Candidate, annotators, checkers, responses, decisions; the first row, without a candidate, is all of them."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"benchmark": benchmark.pk})
        return list(cursor.fetchall())


def two_groups(benchmark: Benchmark) -> tuple[str, str] | None:
    """The raters of the two expert groups with submitted work; None where there are not exactly two."""
    found = [offer.rater for offer in group_offers(benchmark) if offer.rater.endswith("@checked")]
    return (found[0], found[1]) if len(found) == 2 else None


@dataclass(frozen=True, eq=False)
class Compared:
    """The two groups' decisions, counted; without two groups none, and ``why``."""

    labels: list[str]
    counted: Counted | None
    why: str

    @property
    def digest(self) -> str:
        """Of what was counted; empty where nothing was."""
        return self.counted.digest if self.counted else ""


def read_groups(benchmark: Benchmark) -> Compared:
    """Count the pairs of the two expert groups after the check."""
    names = two_groups(benchmark)
    if names is None:
        return Compared([], None, "no pair of expert groups: this takes two with submitted work")
    first, second = (resolve_rater(benchmark, name) for name in names)
    return Compared([first.label, second.label], count(benchmark, first, second), compare.NO_PAIRS)


def count_rows(counts: list[Counts], groups: Compared, *, seed: int) -> list[Row]:
    """`COLUMNS`, from `count_physicians` and `read_groups`; no rows where no physician has handed anything in."""
    if not counts or not counts[0][1]:
        return []
    rows: dict[str, Row] = {}
    if groups.counted:
        made = compare.compare_tallies(groups.counted.tallies, seed=seed)
        rows = {row["slice"]: row for row in made.head}
    found = []
    for name, annotators, checkers, responses, decisions in counts:
        label = "all" if name is None else f"candidate:{name}"
        compared = rows.get(label, {})
        found.append(
            {
                "slice": label,
                "n_annotators": annotators,
                "n_checkers": checkers,
                "n_responses": responses,
                "n_decisions": decisions,
                "n_pairs": compared.get("n_pairs", 0),
                **{column: compared.get(column) for column in ("mf1", "mf1_low", "mf1_high")},
                "note": _note(compared, groups.why),
            }
        )
    return found


def _note(compared: Row, why: str) -> str:
    """What is said of MF1 alone."""
    if not compared or not compared["n_pairs"]:
        return f"mf1: {why}"
    about = []
    for remark in compared["note"].split("; "):
        names, colon, rest = remark.partition(": ")
        if colon and "mf1" in names.split(", "):
            about.append(f"mf1: {rest}")
    return "; ".join(about)
