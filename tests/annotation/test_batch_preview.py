"""The preview of a new batch: its errors beside the fields, and why responses or people are not included."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation import services
from annotation.models import Assignment, ExpertGroup, KeyedResponse, Membership
from rubrics.models import Case, Response
from tests.annotation.conftest import build_workshop
from tests.annotation.labels.labels_world import question
from tests.annotation.test_languages_read import clinic, reads
from tests.factories import CaseFactory, ExpertGroupFactory, ResponseFactory, decide, make_batch, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def admin_of(group: ExpertGroup) -> Client:
    client = Client()
    client.force_login(User.objects.get(benchmark_roles__benchmark=group.benchmark, benchmark_roles__role="admin"))
    return client


def terms(group: ExpertGroup, **changed: Any) -> dict[str, Any]:
    return {
        "title": "Round 2", "group": group.public_id, "annotators_per_item": 1, "check_policy": "none",
        "check_percent": 25, "order": "by_case", "seed": 11, "strategy": "planned", "specialty_match": "none",
        "skip_given": "on", **changed,
    }  # fmt: skip


def preview(group: ExpertGroup, **changed: Any) -> str:
    answer = admin_of(group).get(f"/b/{group.benchmark.slug}/batches/preview/", terms(group, **changed))
    return " ".join(answer.content.decode().split())


def errors_beside(page: str) -> dict[str, list[str]]:
    """Name of a field → what the preview sends into the list of errors beside it."""
    lists = re.findall(r'<ul class="errors" id="id_(\w+)_error" hx-swap-oob="true" (?:hidden )?>(.*?)</ul>', page)
    return {name: re.findall("<li>(.*?)</li>", items) for name, items in lists}


def test_an_error_in_a_number_names_its_field_and_is_sent_beside_it() -> None:
    group = build_workshop().group
    page = preview(group, annotators_per_item=0, check_percent=150)
    lines = re.findall("<p>(.*?)</p>", page)
    assert [line.split(": ")[0] for line in lines] == ["Annotators per response", "Share to check, %"]
    beside = errors_beside(page)
    assert [name for name, errors in beside.items() if errors] == ["annotators_per_item", "check_percent"]
    assert lines == [
        f"Annotators per response: {beside['annotators_per_item'][0]}",
        f"Share to check, %: {beside['check_percent'][0]}",
    ]
    assert lines == ["Annotators per response: Enter 1 or more.", "Share to check, %: Enter 100 or less."]
    # A preview without errors clears them.
    valid = preview(group, skip_given="")
    assert errors_beside(valid) == {name: [] for name in beside}
    assert "The batch opens at once: its physicians can see it and start." in valid
    assert "opens at once" not in page


@pytest.mark.parametrize("path", ["batches/new/", "labels/new-batch/", "batches/write/"])
def test_every_list_of_errors_of_a_preview_has_its_place_in_the_form(path: str) -> None:
    group = build_workshop().group
    question(group.benchmark)
    client, form_path = admin_of(group), f"/b/{group.benchmark.slug}/{path}"
    form = client.get(form_path).content.decode()
    preview_path = f"/b/{group.benchmark.slug}/batches/preview/" if path == "batches/new/" else f"{form_path}preview/"
    beside = errors_beside(" ".join(client.get(preview_path).content.decode().split()))
    assert "seed" in beside
    for name in beside:
        assert f'id="id_{name}_error"' in form, name


def test_all_languages_that_too_few_read_are_named_at_once() -> None:
    benchmark = clinic("de", "zh", "zh", "en")
    group = ExpertGroupFactory(benchmark=benchmark)
    reads(member(group), "en")
    refused = preview(group, match_languages="on")
    assert "1 of the chosen cases or responses is in German. Annotators who read it: 0; required: 1." in refused
    assert "2 of the chosen cases or responses are in Chinese. Annotators who read it: 0; required: 1." in refused
    reads(member(group), "de", "zh")
    reads(member(group, "checker"), "en")
    refused = preview(group, match_languages="on", check_policy="all")
    assert "No checker of the group reads Chinese, German, but a secondary check is required." in refused


@pytest.mark.parametrize("graded", [True, False])
def test_an_assignment_in_another_group_is_the_reason_given(graded: bool) -> None:
    workshop = build_workshop(responses=1)
    row = Assignment.objects.get()
    if graded:
        decide(row)
    services.set_member_active(membership=Membership.objects.get(user=row.annotator), active=False, at=timezone.now())
    other = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=0)
    services.add_member(group=other, role="annotator", user=row.annotator)
    page = preview(other)
    assert "1 annotator was assigned it in another group and cannot grade it here." in page
    assert "checks or adjudicates" not in page
    pool = preview(other, strategy="pool")
    assert "was assigned it in another group" in pool


def test_responses_that_match_and_are_not_included_are_counted_by_reason() -> None:
    workshop = build_workshop(responses=4)
    group = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1)
    first, second, *_rest = Response.objects.order_by("candidate__name")
    KeyedResponse.objects.create(
        benchmark=workshop.benchmark, response=first, rubric=first.case.rubrics.get(), use="gold",
        created_at=timezone.now(),
    )  # fmt: skip
    case = CaseFactory(benchmark=workshop.benchmark, key="other", rubric=2)
    ResponseFactory(case=case, candidate=first.candidate)
    make_batch(group, cases=["other"])
    page = preview(group)
    assert (
        f"1 matching response is not included because it has an answer key: {first.case.key}, {first.candidate.name}."
    ) in page
    assert "1 matching response is not included because it is already assigned to this group." in page
    assert "<dt>Responses</dt> <dd> 3 </dd>" in page
    assert "already assigned" not in preview(group, skip_given="")
    unpublished = CaseFactory(benchmark=workshop.benchmark, rubric=0)
    ResponseFactory(case=unpublished, candidate=second.candidate)
    assert "1 matching response is not included because its case has no published rubric." in preview(group)
    Case.objects.filter(pk=unpublished.pk).update(excluded_at=timezone.now(), exclusion_reason="Off topic")
    assert "1 matching response is not included because its case is excluded." in preview(group)


def test_of_many_responses_with_an_answer_key_five_are_named() -> None:
    workshop = build_workshop(responses=8)
    group = ExpertGroupFactory(benchmark=workshop.benchmark, annotators=1)
    for response in Response.objects.order_by("candidate__name")[:7]:
        KeyedResponse.objects.create(
            benchmark=workshop.benchmark, response=response, rubric=response.case.rubrics.get(), use="gold",
            created_at=timezone.now(),
        )  # fmt: skip
    page = preview(group)
    assert "7 matching responses are not included because they have an answer key: " in page
    assert page.count(f"{Response.objects.earliest('pk').case.key}, ") == 5 and "; and 2 more." in page
