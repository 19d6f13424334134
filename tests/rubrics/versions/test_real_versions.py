"""The 120 public HealthBench cases, edited together and published as version 2: what holds, what is graded again."""

from __future__ import annotations

import io
import os
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from annotation.models import Decision
from annotation.regrading.lacking import lacking_in
from annotation.selectors.ratings import group_ratings
from rubrics.editor.draft_content import items_of
from rubrics.models import AuthoringRole, Benchmark, Case, Criterion, Response, Rubric, RubricItem
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing_many import approve_many, send_many
from rubrics.versions import selectors as version_selectors
from scoring.models import JudgeRunItem, Verdict
from scoring.runs.continuing import continue_run
from tests.factories import JudgeRunFactory, UserFactory
from tests.scoring.conftest import decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"
REWORDED = 5


def author(benchmark: Benchmark) -> User:
    user = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
    return user


def grade(benchmark: Benchmark, cases: list[Case]) -> None:
    """Decide one response of each candidate to these cases, and let a judge of elsewhere judge all."""
    outcomes, responses = {}, []
    for case in cases:
        criteria = list(case.rubrics.get().items.order_by("position"))
        for response in case.responses.select_related("candidate"):
            outcomes[case.key, response.candidate.name] = ["met", "not_met"] * (len(criteria) // 2) + ["met"] * (
                len(criteria) % 2
            )
        responses += list(case.responses.all())
    decide(benchmark, "Group", outcomes)
    run = JudgeRunFactory(judge__benchmark=benchmark, judge__kind="imported", imported=True)
    rubrics = {rubric.case_id: rubric for rubric in Rubric.objects.current().filter(case__in=cases)}
    JudgeRunItem.objects.bulk_create(
        JudgeRunItem(run=run, response=response, rubric=rubrics[response.case_id]) for response in responses
    )
    verdicts = Verdict.objects.bulk_create(
        Verdict(run=run, response=response, criterion_id=item.criterion_id, outcome="met", created_at=timezone.now())
        for response in responses
        for item in rubrics[response.case_id].items.all()
    )
    run.expected = len(verdicts)
    run.save()


def test_exactly_the_reworded_criteria_of_one_case_are_asked_again() -> None:
    call_command("import_cases", str(SAMPLE), "--benchmark", "hb", stdout=io.StringIO())
    benchmark = Benchmark.objects.get()
    cases = list(Case.objects.order_by("pk"))
    # A case with several answers by physicians and models, and five criteria or more.
    chosen = next(case for case in cases if case.responses.count() > 2 and case.rubrics.get().items.count() > REWORDED)
    grade(benchmark, [chosen, *[case for case in cases if case != chosen and case.responses.exists()][:5]])
    group = benchmark.groups.get()
    run = benchmark.judge_runs.get()
    decisions = list(Decision.objects.order_by("pk").values())
    texts = dict(Criterion.objects.values_list("pk", "text"))
    before, criteria = group_ratings(group), RubricItem.objects.count()

    writer, reviewer, at = author(benchmark), author(benchmark), timezone.now()
    for case in cases:
        rubric = open_draft(case=case, by=writer, at=at)
        items = [replace(item, tags=(*item.tags, "edition:2")) for item in items_of(rubric.draft.content)]
        if case == chosen:
            items[:REWORDED] = [replace(item, text=f"{item.text} (reworded)") for item in items[:REWORDED]]
        save_draft(rubric=rubric, items=items, version=1, client_id=uuid.uuid4(), by=writer, at=at)
    ids = [case.public_id for case in cases]
    assert len(send_many(benchmark=benchmark, cases=ids, note="A tag", by=writer, at=at).done) == 120
    digests = {
        rubric.case.public_id: rubric.draft.digest for rubric in version_selectors.reviewable_by(reviewer, benchmark)
    }
    result = approve_many(benchmark=benchmark, reviewer=reviewer, digests=digests, comment="", at=at)
    assert len(result.published) == 120 and not result.refused

    assert set(Rubric.objects.values_list("version", "status").distinct()) == {(1, "superseded"), (2, "published")}
    assert RubricItem.objects.filter(rubric__status="published").count() == criteria == 1413
    assert Criterion.objects.count() == criteria + REWORDED
    assert dict(Criterion.objects.values_list("pk", "text")).items() > texts.items()
    assert list(Decision.objects.order_by("pk").values()) == decisions

    second = version_selectors.versions_of(chosen).get(version=2)
    difference = version_selectors.difference(version_selectors.versions_of(chosen).get(version=1), second)
    assert (difference.reworded, difference.changed, difference.new, difference.removed, difference.moved) == (
        REWORDED,
        second.items.count() - REWORDED,
        *(0, 0, 0),
    )

    graded = Response.objects.filter(case=chosen, assignments__batch__group=group).distinct()
    lacking = lacking_in(group)
    fresh = set(second.items.filter(position__lte=REWORDED).values_list("criterion", flat=True))
    assert {row.response for row in lacking} == set(graded.values_list("pk", flat=True))
    assert all(set(row.criteria) == fresh for row in lacking)
    assert len(group_ratings(group)) == len(before) - REWORDED * graded.count()

    again = continue_run(run=run, by=None, at=at)
    missing = REWORDED * chosen.responses.count()
    assert (again.expected, again.carried) == (run.expected, run.expected - missing)
    pairs = set(again.verdicts.values_list("response", "criterion", "outcome"))
    assert pairs < set(run.verdicts.values_list("response", "criterion", "outcome"))
