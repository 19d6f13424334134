"""Who stands behind the decisions on each candidate: annotators and checkers, beside the MF1 of the two expert groups.

As Table 3 of ClinConsensus (Zheng et al. 2026). Physicians are counted once however many responses of the candidate
they decided; only submitted work counts, and a check once it is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection

from agreement import compare
from agreement.inputs import join
from agreement.offers import group_offers
from agreement.tables import Row
from consilium.lib.errors import DomainError
from rubrics.models import Benchmark

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


def inter_expert(
    benchmark: Benchmark, groups: tuple[str, str], *, seed: int, progress: Callable[[float], None] = compare.unheard
) -> tuple[dict[str, Row], str]:
    """Rows of agreement by slice for all and for each candidate, and the digest of their inputs."""
    joined = join(benchmark, *groups)
    made = compare.compare(joined.frame, joined.pairs, seed=seed, progress=progress)
    return {row["slice"]: row for row in [made.overall, *made.starting("candidate:")]}, joined.digest


def count_rows(
    benchmark: Benchmark, counts: list[Counts], *, seed: int, progress: Callable[[float], None] = compare.unheard
) -> tuple[list[Row], list[str], str]:
    """`COLUMNS`; the labels of the groups compared, none where there are not two; and a digest of the comparison."""
    if not counts or not counts[0][1]:
        return [], [], ""
    groups = two_groups(benchmark)
    rows: dict[str, Row] = {}
    digest, why = "", "no pair of expert groups: this takes two with submitted work"
    if groups:
        try:
            rows, digest = inter_expert(benchmark, groups, seed=seed, progress=progress)
            why = compare.NO_PAIRS
        except DomainError as error:
            groups, why = None, str(error)
    made = []
    for name, annotators, checkers, responses, decisions in counts:
        label = "all" if name is None else f"candidate:{name}"
        compared: dict[str, Any] = rows.get(label, {})
        mf1 = compared.get("mf1")
        made.append(
            {
                "slice": label,
                "n_annotators": annotators,
                "n_checkers": checkers,
                "n_responses": responses,
                "n_decisions": decisions,
                "n_pairs": compared.get("n_pairs", 0),
                "mf1": mf1,
                "mf1_low": compared.get("mf1_low"),
                "mf1_high": compared.get("mf1_high"),
                "note": _note(compared, why),
            }
        )
    return made, list(groups or ()), digest


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
