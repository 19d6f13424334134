"""Annotators see the title of a batch, so it names no candidate; a batch can be renamed; a due date in the past."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation import services
from annotation.models import Batch
from annotation.services.batch_titles import candidate_in
from rubrics.models import Candidate
from tests.annotation.conftest import Workshop
from tests.factories import CandidateFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NAMED = "Annotators see the title. It names the candidate “Model Alpha”."


@pytest.fixture
def named(workshop: Workshop) -> Workshop:
    CandidateFactory(benchmark=workshop.benchmark, name="Model Alpha")
    CandidateFactory(benchmark=workshop.benchmark, name="模型甲")
    CandidateFactory(benchmark=workshop.benchmark, name="South", kind=Candidate.Kind.PHYSICIAN)
    return workshop


def form(workshop: Workshop, **fields: Any) -> dict[str, Any]:
    return {
        "group": workshop.group.public_id, "annotators_per_item": 1, "check_policy": "none", "order": "by_case",
        "strategy": "planned", "specialty_match": "none", "seed": 1, **fields,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("South, model ALPHA", "Model Alpha"),
        ("Model Alphabet", ""),
        ("第一批模型甲的回答", "模型甲"),
        ("South, round 1", ""),  # physicians wrote it: no model is named
        ("Model Alpha-2", "Model Alpha"),
    ],
)
def test_a_candidate_is_recognised_as_words_of_the_title(named: Workshop, title: str, name: str) -> None:
    assert candidate_in(title, benchmark=named.benchmark) == name


def test_a_new_batch_whose_title_names_a_candidate_is_refused_at_its_field(named: Workshop, client: Client) -> None:
    client.force_login(named.admin)
    base = f"/b/{named.benchmark.slug}/batches/"
    answer = client.post(f"{base}new/", form(named, title="South, Model Alpha"))
    assert answer.status_code == 422
    assert answer.context["form"].errors["title"] == [NAMED]
    assert Batch.objects.count() == 1
    assert NAMED in client.get(f"{base}preview/", form(named, title="South, Model Alpha")).content.decode()
    api = APIClient()
    api.force_authenticate(named.admin)
    data = {"group": named.group.public_id, "title": "Model Alpha again", "filter": {"skip_given": False}}
    services.close_batch(batch=named.batch, at=timezone.now())
    refused = api.post(f"/api/v1/benchmarks/{named.benchmark.slug}/batches/", data, format="json")
    assert (refused.status_code, refused.json()["detail"]) == (422, NAMED)


def test_the_forms_of_batches_warn_that_annotators_see_the_title(named: Workshop, client: Client) -> None:
    client.force_login(named.admin)
    base = f"/b/{named.benchmark.slug}/batches/"
    for path in (f"{base}new/", f"{base}{named.batch.public_id}/"):
        page = client.get(path)
        assert page.status_code == 200, path
        words = "Annotators see it. Do not say who wrote the responses: no model, and no physicians."
        assert words in page.content.decode(), path


def test_a_batch_is_renamed_on_its_page_and_by_the_api_with_the_same_rule(named: Workshop, client: Client) -> None:
    client.force_login(named.admin)
    url = f"/b/{named.benchmark.slug}/batches/{named.batch.public_id}/"
    refused = client.post(f"{url}rename/", {"title": "About Model Alpha"})
    assert refused.status_code == 422
    assert NAMED in refused.content.decode()
    assert client.post(f"{url}rename/", {"title": " Round two "}).status_code == 302
    named.batch.refresh_from_db()
    assert named.batch.title == "Round two"
    # The audit trail has both titles.
    assert list(named.batch.events.order_by("pgh_id").values_list("title", flat=True)) == ["Pilot batch", "Round two"]
    api = APIClient()
    api.force_authenticate(named.admin)
    endpoint = f"/api/v1/benchmarks/{named.benchmark.slug}/batches/{named.batch.public_id}/"
    assert api.patch(endpoint, {"title": "Model Alpha"}, format="json").status_code == 422
    assert api.patch(endpoint, {"title": "Round three"}, format="json").json()["title"] == "Round three"
    assert api.patch(endpoint, {}, format="json").status_code == 400


def test_a_due_date_in_the_past_is_warned_of_before_and_after(named: Workshop, client: Client) -> None:
    client.force_login(named.admin)
    base = f"/b/{named.benchmark.slug}/batches/"
    yesterday = timezone.localdate() - timedelta(days=1)
    fields = form(named, title="Late", due_date=yesterday.isoformat(), skip_given="")
    services.close_batch(batch=named.batch, at=timezone.now())
    preview = client.get(f"{base}preview/", fields).content.decode()
    assert "The due date has already passed, so the batch counts as overdue." in preview
    today = {**fields, "due_date": timezone.localdate().isoformat()}
    assert "has already passed" not in client.get(f"{base}preview/", today).content.decode()
