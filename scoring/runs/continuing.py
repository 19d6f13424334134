"""Continues a finished run on newer rubric versions: known verdicts are carried over, the rest is requested.

A verdict is carried over where its request would be the same, byte for byte: the same text, and the same points where
the prompt shows them. A trained judge reads text and points. Verdicts made elsewhere are carried over by the text
alone; those that are then missing stay missing, since they cannot be requested here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import CharField, Count, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.consequences import Consequence, Cost
from rubrics.models import Case, Rubric, RubricItem
from scoring.judges.kinds.kind import Row
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from scoring.runs.selectors import run_date, run_sets
from scoring.runs.services import check_budget, due_verdicts, enqueue_slices

# The items of a run whose responses still count, each with the rubric that now counts for it.
_ITEMS = """
    SELECT i.response_id, i.rubric_id AS before, u.id AS now, i.criteria
    FROM scoring_judgerunitem i
    JOIN rubrics_response r ON r.id = i.response_id
    JOIN rubrics_case c ON c.id = r.case_id AND c.excluded_at IS NULL
    JOIN rubrics_rubric o ON o.id = i.rubric_id
    JOIN rubrics_rubric u ON u.case_id = c.id AND u.track = o.track AND u.status = 'published'
    WHERE i.run_id = %(run)s
"""
# Criteria of the current rubrics on which the run has no verdict.
_LACKING = f"""
    SELECT count(*), count(DISTINCT i.response_id)
    FROM ({_ITEMS}) AS i
    JOIN rubrics_rubricitem k ON k.rubric_id = i.now
    WHERE i.now <> i.before
      AND NOT EXISTS (
          SELECT 1 FROM rubrics_rubricitem o WHERE o.rubric_id = i.before AND o.criterion_id = k.criterion_id
      )
"""
_COPY = """
    INSERT INTO scoring_verdict
        (run_id, response_id, criterion_id, replicate, outcome, probability, explanation, call_id, created_at)
    SELECT %(new)s, v.response_id, v.criterion_id, v.replicate, v.outcome, v.probability, v.explanation, v.call_id,
           v.created_at
    FROM scoring_verdict v
    JOIN scoring_judgerunitem o ON o.run_id = %(old)s AND o.response_id = v.response_id
    JOIN scoring_judgerunitem n ON n.run_id = %(new)s AND n.response_id = v.response_id
    JOIN unnest(%(before)s::bigint[], %(now)s::bigint[], %(criteria)s::bigint[]) AS same (before, now, criterion)
        ON same.before = o.rubric_id AND same.now = n.rubric_id AND same.criterion = v.criterion_id
    WHERE v.run_id = %(old)s AND (n.criteria IS NULL OR v.criterion_id = ANY(n.criteria))
    ORDER BY v.id
"""


@dataclass(frozen=True, slots=True)
class NewerVersions:
    """What a finished run lacks under the current rubrics."""

    verdicts: int  # on reworded and new criteria, times its replicates
    responses: int
    points_shown: bool  # its prompt shows points, so that changed points need a new verdict as well
    imported: bool


def newer_versions(run: JudgeRun) -> NewerVersions | None:
    """The newer versions to continue with; None where all rubrics of the run are current, or it cannot continue."""
    if run.status != JudgeRun.Status.FINISHED or run.purpose != JudgeRun.Purpose.GRADE:
        return None
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM ({_ITEMS}) AS i WHERE i.now <> i.before)", {"run": run.pk})
        if not cursor.fetchone()[0]:
            return None
        cursor.execute(_LACKING, {"run": run.pk})
        verdicts, responses = cursor.fetchone()
    return NewerVersions(
        int(verdicts) * run.replicates, int(responses), run.judge.kind_info.reads_points(run), run.imported
    )


@transaction.atomic
def continue_run(*, run: JudgeRun, by: User | None, at: datetime, budget: Decimal | None = None) -> JudgeRun:
    """Create a run of the same judge, with the same snapshot, over the same responses and the current rubrics.

    `DomainError` if there is nothing to continue; `Conflict` if the run has been continued already.
    """
    JudgeRun.objects.select_for_update(no_key=True).get(pk=run.pk)
    if newer_versions(run) is None:
        raise DomainError(_("No rubric used in this run has a newer version."))
    if _gone_on_with(run):
        raise Conflict(_("Someone else has already continued this run."))
    check_budget(run.judge, budget)
    run.judge.kind_info.check_continuation(run)
    continuation = JudgeRun.objects.create(
        benchmark=run.benchmark,
        judge=run.judge,
        frame=run.frame,
        snapshot=run.snapshot,
        prompt_hash=run.prompt_hash,
        continues=run,
        replicates=run.replicates,
        budget=budget,
        imported=run.imported,
        created_by=by,
        created_at=at,
    )
    _make_items(run, continuation)
    continuation.expected = due_verdicts(continuation)
    continuation.carried = _carry_over(run, continuation)
    if continuation.carried:
        continuation.endpoint_kind = run.endpoint_kind
    if run.imported:
        # The copied verdicts are as old as their originals, so later imported runs still take precedence.
        continuation.status, continuation.started_at, continuation.finished_at = (
            JudgeRun.Status.FINISHED,
            run.started_at,
            run.finished_at,
        )
    elif continuation.carried == continuation.expected:
        continuation.status, continuation.started_at, continuation.finished_at = JudgeRun.Status.FINISHED, at, at
    continuation.save(update_fields=["expected", "carried", "endpoint_kind", "status", "started_at", "finished_at"])
    if continuation.status != JudgeRun.Status.FINISHED:
        enqueue_slices(continuation, at=at)
    return continuation


def _gone_on_with(run: JudgeRun) -> bool:
    """Whether a run that continues this one uses the current rubrics already."""
    followers = JudgeRun.objects.filter(continues=run).exclude(
        status__in=[JudgeRun.Status.CANCELLED, JudgeRun.Status.FAILED]
    )
    with connection.cursor() as cursor:
        for follower in followers:
            cursor.execute(
                f"SELECT EXISTS (SELECT 1 FROM ({_ITEMS}) AS i WHERE i.now <> i.before)", {"run": follower.pk}
            )
            if not cursor.fetchone()[0]:
                return True
    return False


def _make_items(run: JudgeRun, continuation: JudgeRun) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS, {"run": run.pk})
        rows = cursor.fetchall()
    named = {(before, now) for _response, before, now, criteria in rows if criteria is not None}
    order: dict[int, list[int]] = {}
    for rubric, criterion in (
        RubricItem.objects.filter(rubric__in={pk for pair in named for pk in pair})
        .order_by("position")
        .values_list("rubric_id", "criterion_id")
    ):
        order.setdefault(rubric, []).append(criterion)
    items = []
    for response, before, now, criteria in rows:
        if criteria is not None:  # the listed criteria that are still current, and those that are new
            stood = set(order.get(before, []))
            criteria = [pk for pk in order.get(now, []) if pk in criteria or pk not in stood]
        items.append(JudgeRunItem(run=continuation, response_id=response, rubric_id=now, criteria=criteria))
    JudgeRunItem.objects.bulk_create(sorted(items, key=lambda item: item.response_id), batch_size=2000)


# What is the same -----------------------------------------------------------------------------------------------------


def _carry_over(run: JudgeRun, continuation: JudgeRun) -> int:
    """Copy verdicts whose request is unchanged; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT i.before, i.now FROM ({_ITEMS}) AS i", {"run": run.pk})
        pairs = cursor.fetchall()
    kind = run.judge.kind_info
    before, now, criteria = [], [], []
    texts = _texts({pk for pair in pairs for pk in pair})
    for old, new in pairs:
        for criterion in kind.unchanged(run, texts.get(old, []), texts.get(new, [])):
            before.append(old)
            now.append(new)
            criteria.append(criterion)
    with connection.cursor() as cursor:
        cursor.execute(
            _COPY, {"new": continuation.pk, "old": run.pk, "before": before, "now": now, "criteria": criteria}
        )
        return int(cursor.rowcount)


def _texts(rubrics: set[int]) -> dict[int, list[Row]]:
    rows_by_rubric: dict[int, list[Row]] = {}
    rows = RubricItem.objects.filter(rubric__in=rubrics).order_by("rubric", "position")
    for rubric, criterion, text, points in rows.values_list("rubric_id", "criterion_id", "criterion__text", "points"):
        rows_by_rubric.setdefault(rubric, []).append((criterion, text, points))
    return rows_by_rubric


# Beside a new version -------------------------------------------------------------------------------------------------

_STORED = """
    SELECT count(*) FILTER (WHERE stands), count(*) FILTER (WHERE NOT stands),
           count(DISTINCT response_id) FILTER (WHERE NOT stands)
    FROM (
        SELECT DISTINCT i.response_id, k.criterion_id, EXISTS (
            SELECT 1 FROM scoring_verdict w
            WHERE w.run_id = ANY(%(runs)s) AND w.response_id = i.response_id AND w.criterion_id = k.criterion_id
        ) AS stands
        FROM scoring_judgerunitem i
        JOIN rubrics_response r ON r.id = i.response_id AND r.case_id = %(case)s
        JOIN rubrics_rubricitem k ON k.rubric_id = %(rubric)s
        WHERE i.run_id = ANY(%(runs)s) AND (i.criteria IS NULL OR k.criterion_id = ANY(i.criteria) OR NOT EXISTS (
            SELECT 1 FROM rubrics_rubricitem o WHERE o.rubric_id = i.rubric_id AND o.criterion_id = k.criterion_id
        ))
    ) AS pairs
"""
# Those of the given runs that judged the case by an older rubric, lack a criterion and were not continued.
_TO_CONTINUE = """
    SELECT DISTINCT i.run_id
    FROM scoring_judgerunitem i
    JOIN rubrics_response r ON r.id = i.response_id AND r.case_id = %(case)s
    JOIN rubrics_rubricitem k ON k.rubric_id = %(rubric)s
    WHERE i.run_id = ANY(%(runs)s) AND i.rubric_id <> %(rubric)s
      AND NOT EXISTS (
          SELECT 1 FROM rubrics_rubricitem o WHERE o.rubric_id = i.rubric_id AND o.criterion_id = k.criterion_id
      )
      AND NOT EXISTS (
          SELECT 1 FROM scoring_verdict w
          WHERE w.run_id = ANY(%(runs)s) AND w.response_id = i.response_id AND w.criterion_id = k.criterion_id
      )
      AND NOT EXISTS (
          SELECT 1 FROM scoring_judgerun f JOIN scoring_judgerunitem n ON n.run_id = f.id
          WHERE f.continues_id = i.run_id AND f.status NOT IN ('cancelled', 'failed')
            AND n.response_id = i.response_id AND n.rubric_id = %(rubric)s
      )
"""


def consequences(case: Case, rubric: Rubric) -> list[Consequence]:
    """For the runs that count for each judge: which verdicts on responses to the case remain valid under ``rubric``.

    Each imported run that lacks a criterion has its own link, since imported runs are continued one by one.
    """
    rows = []
    for judge in run_sets(case.benchmark).values():
        parameters: dict[str, Any] = {"case": case.pk, "rubric": rubric.pk, "runs": judge.run_ids}
        to_continue: set[int] = set()
        with connection.cursor() as cursor:
            cursor.execute(_STORED, parameters)
            stands, missing, responses = cursor.fetchone()
            if missing and len(judge.runs) > 1:
                cursor.execute(_TO_CONTINUE, parameters)
                to_continue = {run for (run,) in cursor.fetchall()}
        if stands or missing:
            row = Consequence(judge.judge_name, _("verdicts"), stands, missing, responses)
            if rubric.status == Rubric.Status.PUBLISHED:
                row = replace(
                    row, **_links(case, [run for run in judge.runs if run.pk in to_continue] or [judge.newest])
                )
            rows.append(row)
    return rows


def verdict_cost(criteria: Collection[int]) -> Cost:
    """Verdicts that would have to be requested again: pairs of judge and response that have one on the criterion."""
    verdicts = Verdict.objects.filter(criterion__in=criteria).values("criterion").order_by()
    pairs = verdicts.annotate(
        n=Count(Concat("run__judge", Value("/"), "response", output_field=CharField()), distinct=True)
    )
    return Cost(gettext_lazy("verdicts"), dict(pairs.values_list("criterion", "n")))


def _links(case: Case, runs: Sequence[JudgeRun]) -> dict[str, Any]:
    """The fields of a `Consequence` that lead to these runs."""
    urls = [reverse("scoring:run", args=[case.benchmark.slug, run.public_id]) for run in runs]
    if len(runs) == 1:
        return {"url": urls[0]}
    words = _("Request the rest: run %(run)s of %(date)s")
    labels = [words % {"run": run.public_id, "date": run_date(run)} for run in runs]
    return {"links": tuple(zip(labels, urls, strict=True))}
