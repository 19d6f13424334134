"""A judge's endpoint, key and model are checked when it is saved, and one criterion can be tried on its page."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import KeyedResponse
from rubrics.models import Benchmark, Response, Rubric
from scoring.models import Judge, JudgeRun, Verdict
from tests.factories import UserFactory
from tests.scoring.conftest import Loopback, chat_judge, grant
from tests.scoring.endpoint_trials.trials import answer_of, judge_created
from tests.scoring.test_pages import chat_form

pytestmark = pytest.mark.slow
NEW = "/b/answered/judges/new/chat/"


@pytest.fixture
def admin(answered: Benchmark) -> Client:
    user = UserFactory()
    answered.roles.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    return client


def text_of(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def last_request(loopback: Loopback) -> str:
    with urllib.request.urlopen(loopback.url.removesuffix("/v1") + "/last") as answer:
        return str(json.load(answer))


@pytest.mark.parametrize(
    ("model", "answer", "fix"),
    [
        ("401", "HTTP 401", "The endpoint requires a key."),
        ("400", "HTTP 400", "The endpoint refused the settings."),
        ("html", "not a chat completion", "This is not an OpenAI-compatible chat endpoint."),
        ("429-forever", "too many requests", "your quota is used up"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_not_saved(
    admin: Client, loopback: Loopback, model: str, answer: str, fix: str
) -> None:
    form = chat_form(endpoint=loopback.url, model=model, unchecked="")
    refused = judge_created(admin, NEW, form)
    assert refused.redirect_chain[-1][0].startswith(NEW)
    assert refused.context["form"]["model"].value() == model
    page = text_of(refused)
    assert answer in page
    assert fix in page
    assert "Save without checking" in page
    assert not Judge.objects.exists()
    assert admin.post(NEW, {**form, "unchecked": "on"}).status_code == 302
    assert Judge.objects.get().config["model"] == model
    assert "unchecked" not in Judge.objects.get().config


def test_a_refused_key_is_named(admin: Client, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    grant(None, "GRADER_API_KEY")
    form = chat_form(endpoint=loopback.url, model="401", unchecked="", key_env="GRADER_API_KEY")
    assert "GRADER_API_KEY is not set" in text_of(judge_created(admin, NEW, form))
    monkeypatch.setenv("GRADER_API_KEY", "canary-key-0001")
    page = judge_created(admin, NEW, form).content.decode()
    assert "Check the value of GRADER_API_KEY" in page
    assert "canary" not in page


def test_a_judge_that_answers_is_saved_after_one_request(admin: Client, loopback: Loopback) -> None:
    assert "Save without checking" not in text_of(admin.get(NEW))
    answer = judge_created(admin, NEW, chat_form(endpoint=loopback.url, unchecked=""))
    assert answer.redirect_chain[-1][0] == reverse("scoring:judge", args=["answered", Judge.objects.get().public_id])
    assert loopback.requests() == 1
    # An answer without a verdict shows that endpoint, key and model are right.
    judge_created(admin, NEW, chat_form(endpoint=loopback.url, unchecked="", model="prose"))
    assert Judge.objects.count() == 2


def trial(admin: Client, judge: Judge, **values: Any) -> str:
    url = reverse("scoring:judge-try", args=["answered", judge.public_id])
    return text_of(answer_of(admin, url, {f"try-{name}": value for name, value in values.items()}))


def test_one_criterion_of_the_example_or_of_a_chosen_response(
    admin: Client, answered: Benchmark, loopback: Loopback
) -> None:
    judge = chat_judge(answered, loopback, price_in=1.0, price_out=1.0)
    page = text_of(admin.get(reverse("scoring:judge", args=["answered", judge.public_id])))
    assert "Try one criterion" in page
    shown = trial(admin, judge)
    assert "Made-up example" in shown
    assert re.search(r"\b(Met|Not met)\b", shown)
    assert re.search(r"Time \d+ ms", shown)
    assert re.search(r"Tokens \d+ sent, \d+ received", shown)
    assert "USD" in shown
    assert "criteria_met" in shown  # the answer, word for word
    shown = trial(admin, judge, case="case-2", candidate="beta", criterion="3")
    assert "Criterion 3 of case case-2, answered by beta" in shown
    assert "Criterion 3 of case-2" in last_request(loopback)
    assert loopback.requests() == 2
    assert not Verdict.objects.exists()
    assert not JudgeRun.objects.exists()


def test_a_trial_without_a_verdict_shows_the_answer(admin: Client, answered: Benchmark, loopback: Loopback) -> None:
    assert "The answer contains no verdict." in trial(admin, chat_judge(answered, loopback, "prose"))
    shown = trial(admin, chat_judge(answered, loopback, "401"))
    assert "No answer received." in shown
    assert "The endpoint requires a key." in shown


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ({"case": "case-9"}, "There is no case “case-9” with a response"),
        ({"case": "case-1", "criterion": "4"}, "has no criterion 4"),
        ({"case": "case-1", "candidate": "nobody"}, "nobody is not one of the available choices"),
        ({"case": "case-0", "candidate": "alpha"}, "gold item"),
        ({"case": "case-3"}, "it is excluded"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_a_request(
    admin: Client, answered: Benchmark, loopback: Loopback, chosen: dict[str, str], reason: str
) -> None:
    response = Response.objects.get(case__key="case-0", candidate__name="alpha")
    rubric = Rubric.objects.current().get(case=response.case)
    KeyedResponse.objects.create(
        benchmark=answered, response=response, rubric=rubric, use="gold", created_at=response.case.created_at
    )
    answered.cases.filter(key="case-3").update(excluded_at=response.case.created_at, exclusion_reason="screening")
    assert reason in trial(admin, chat_judge(answered, loopback), **chosen)
    assert loopback.requests() == 0
