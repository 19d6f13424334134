"""What a blinded role must not learn, looked for in every answer that it can get: bodies, headers, orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup
from rubrics.models import Candidate, Response
from scoring.models import Judge
from tests.annotation.conftest import build_workshop
from tests.factories import (
    CaseFactory,
    ExpertGroupFactory,
    JudgeFactory,
    JudgeRunFactory,
    UserFactory,
    VerdictFactory,
    decide,
    make_batch,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


class Scene:
    """Two groups on the same responses, in every state of the work, with a canary in everything that is hidden."""

    def __init__(self) -> None:
        self.workshop = w = build_workshop(responses=4, annotators_per_item=2, check_policy="all")
        for number, person in enumerate(w.people() + w.people("checker") + w.people("adjudicator")):
            person.name = f"canary-person-{number}"
            person.email = f"canary-mail-{number}@example.org"
            person.save()
        self.other: ExpertGroup = ExpertGroupFactory(
            benchmark=w.benchmark, name="canary-other-group", annotators=1, checkers=1, adjudicators=1
        )
        other_batch = make_batch(self.other, title="canary-other-batch")
        for row in Assignment.objects.filter(batch=other_batch).select_related("annotator"):
            self.write(row, "canary-other-note")
        for row in Assignment.objects.filter(batch=w.batch).select_related("annotator"):
            self.write(row, f"canary-note-of-{row.annotator_id}")
        judge: Judge = JudgeFactory(benchmark=w.benchmark, name="canary-judge")
        run = JudgeRunFactory(judge=judge)
        for response in Response.objects.filter(case__benchmark=w.benchmark):
            for criterion in response.case.criteria.all():
                VerdictFactory(run=run, response=response, criterion=criterion, explanation="canary-verdict")
        Candidate.objects.update(metadata={"vendor": "canary-vendor"})
        Response.objects.update(metadata={"source": "canary-source"})
        # One response is through both checks (and in conflict), one is in check, one is returned.
        for _ in range(3):
            row = services.claim_check(
                checker=w.checker, waiting=access.waiting_checks(w.checker).order_by("response"), at=timezone.now()
            )
            assert row is not None
        held = list(access.held_checks(w.checker))
        services.return_check(assignment=held[0], checker=w.checker, note="canary-return", at=timezone.now())
        response = w.queue()[-1].response_id
        for row in Assignment.objects.filter(batch=w.batch, response=response):
            if row.status == "submitted":
                services.claim_check(
                    checker=w.checker, waiting=access.waiting_checks(w.checker).filter(pk=row.pk), at=timezone.now()
                )
            row.refresh_from_db()
            if row.status == "in_check":
                services.amend(assignment=row, checker=w.checker, criterion=services.criteria_of(row)[2],
                               outcome="cannot_assess", reason=f"canary-amendment-of-{row.annotator_id}.",
                               at=timezone.now())  # fmt: skip
                services.accept_check(assignment=row, checker=w.checker, at=timezone.now())
        services.claim_adjudication(adjudicator=w.adjudicator, waiting=access.open_adjudications(w.adjudicator))

    @staticmethod
    def write(row: Assignment, note: str) -> None:
        criteria = services.criteria_of(row)
        outcome = "met" if row.annotator_id % 2 else "not_met"
        services.save_decisions(
            assignment=row,
            annotator=row.annotator,
            changes=[services.DecisionInput(criterion=c, outcome=outcome, note=note) for c in criteria],
            at=timezone.now(),
        )
        services.submit(assignment=row, annotator=row.annotator, at=timezone.now())


def answers(user: User) -> Iterator[tuple[str, Any, str]]:
    """Whatever ``user`` can get, and its body, found by following addresses from the start pages."""
    client = Client()
    client.force_login(user)
    starts = [
        "/", "/work/", "/work/checks/", "/work/adjudications/", "/api/v1/work/assignments/", "/api/v1/work/checks/",
        "/api/v1/work/adjudications/",
    ]  # fmt: skip
    todo, seen = list(starts), set(starts)
    while todo:
        url = todo.pop()
        answer = client.get(url)
        body = answer.getvalue().decode()  # a file comes in pieces, once
        yield url, answer, body
        if answer.status_code != 200:
            continue
        links = {
            link for link in re.findall(r'(?:href|action|data-url|hx-get)="(/[^"#]*)"', body) if "/static/" not in link
        }
        links |= set(re.findall(r'href="(\?[^"]+)"', body))
        for public_id in re.findall(r'"id": ?"(\w+)"', body):
            links |= {f"{url.split('?')[0]}{public_id}/"} if url.startswith("/api/") and url.count("/") == 5 else set()
        for link in links:
            link = f"{url.split('?')[0]}{link}" if link.startswith("?") else link
            if link not in seen and not link.startswith(("/accounts/logout", "/i18n")):
                seen.add(link)
                todo.append(link)


HIDDEN_FROM_ALL = (
    "canary-candidate", "canary-external", "canary-vendor", "canary-source", "canary-judge", "canary-verdict",
    "canary-other-group", "canary-other-batch", "canary-other-note",
)  # fmt: skip


@pytest.mark.parametrize("role", ["annotator", "checker", "adjudicator"])
def test_no_answer_of_a_physician_holds_anything_hidden(role: str) -> None:
    scene = Scene()
    w = scene.workshop
    user = {"annotator": w.annotator, "checker": w.checker, "adjudicator": w.adjudicator}[role]
    others = [p for p in w.people() + w.people("checker") + w.people("adjudicator") if p != user]
    hidden = [
        *HIDDEN_FROM_ALL,
        *(p.email for p in others),
        *(f"{p.name}<" for p in others),
        *(f'{p.name}"' for p in others),
    ]
    hidden += [f"annotator-{person.pk}" for person in others]
    if role == "annotator":
        colleagues = [p for p in w.people() if p != user]
        hidden += [f"canary-note-of-{p.pk}" for p in colleagues]
        hidden += [f"canary-amendment-of-{p.pk}." for p in colleagues]
    if role == "adjudicator":
        hidden += ["canary-return"]
    reached: list[str] = []
    for url, answer, body in answers(user):
        text = body + repr(dict(answer.headers)) + url + "".join(answer.cookies.output())
        for secret in hidden:
            assert secret not in text, f"{secret} in {url}"
        reached += [url] if answer.status_code == 200 else []
    assert len(reached) >= 12, "the crawl did not get into the work pages"
    assert any(part in url for url in reached for part in ("/criteria/", "/adjudications/", "/checks/"))


@time_machine.travel(datetime(2026, 5, 4, 9, 0, tzinfo=UTC), tick=False)  # pages count the seconds of an undo
def test_flipping_what_is_hidden_changes_no_byte_and_no_query() -> None:
    """The same pages and lists, in the same order, by the same number of queries, whatever the hidden values are."""
    scene = Scene()
    w = scene.workshop
    row = w.queue()[1]
    pages = {
        w.annotator: (
            "/work/",
            f"/work/{row.public_id}/",
            "/api/v1/work/assignments/",
            f"/api/v1/work/assignments/{row.public_id}/",
        ),
        w.checker: ("/work/", "/work/checks/", "/api/v1/work/checks/"),
        w.adjudicator: ("/work/", "/work/adjudications/", "/api/v1/work/adjudications/"),
    }

    def look() -> list[tuple[str, bytes, int]]:
        seen = []
        for user, urls in pages.items():
            client = Client()
            client.force_login(user)
            for url in urls:
                with CaptureQueriesContext(connection) as queries:
                    body = client.get(url, follow=True).content
                body = re.sub(rb'(csrfmiddlewaretoken" value="|X-CSRFToken": "|nonce=")[^"]*', b"", body)
                seen.append((url, body, len(queries)))
        return seen

    look()  # what a first visit writes is written
    before = look()
    candidates = list(Candidate.objects.order_by("pk"))
    # Names in ascending order, then in descending order: a list sorted by them would change.
    for turn, numbers in (("once", range(len(candidates))), ("twice", range(len(candidates), 0, -1))):
        for number, candidate in zip(numbers, candidates, strict=True):
            candidate.name, candidate.kind = f"flipped-{turn}-{number}", "physician"
            candidate.save()
        Response.objects.update(external_id="flipped", metadata={"a": 1})
        ExpertGroup.objects.filter(pk=scene.other.pk).update(name="flipped")
        Batch.objects.filter(group=scene.other).update(title="flipped", status="paused")
        scene.other.memberships.update(active=False)
        UserFactory()
        for now, then in zip(look(), before, strict=True):
            assert now == then, now[0]


@pytest.mark.parametrize("contested", [0, 1])
def test_conflicts_are_listed_by_agreement_whichever_candidate_it_is(contested: int) -> None:
    w = build_workshop(responses=2, annotators_per_item=2)
    responses = list(Response.objects.filter(case__benchmark=w.benchmark).order_by("candidate__name"))
    for row in Assignment.objects.filter(batch=w.batch).select_related("annotator"):
        wide = row.response_id == responses[contested].pk
        if row.annotator_id == w.annotator.pk:
            decide(row, "met", "met", "met")
        else:
            decide(row, "not_met", *(["not_met", "not_met"] if wide else ["met", "met"]))
    client = Client()
    client.force_login(w.adjudicator)
    listed = [row["id"] for row in client.get("/api/v1/work/adjudications/").json()["results"]]
    by_agreement = [
        Adjudication.objects.get(response=responses[contested]).public_id,
        Adjudication.objects.get(response=responses[1 - contested]).public_id,
    ]
    assert listed == by_agreement


def test_the_order_of_the_queue_says_nothing_of_the_candidate() -> None:
    """Over many annotators and batches each candidate stands first about equally often."""
    firsts: dict[str, int] = {}
    group = None
    CaseFactory.reset_sequence(1)  # the order goes by the case's key, so that it is the same in every run
    for seed in range(40):
        if group is None:
            workshop = build_workshop(responses=4, annotators_per_item=2, seed=seed)
            group = workshop.group
            batch = workshop.batch
        else:
            # A fresh group over the same responses.
            fresh = ExpertGroupFactory(benchmark=group.benchmark, annotators=2)
            batch = make_batch(fresh, annotators_per_item=2, seed=seed)
        for row in Assignment.objects.filter(batch=batch, position=1).select_related("response__candidate"):
            firsts[row.response.candidate.name] = firsts.get(row.response.candidate.name, 0) + 1
    assert sum(firsts.values()) == 80
    assert len(firsts) == 4
    assert max(firsts.values()) <= 36  # 20 expected; beyond 36 by chance with probability below 1e-4


def test_researchers_and_admins_of_the_benchmark_do_not_reach_the_work_pages() -> None:
    w = build_workshop()
    decide(w.queue()[0])
    for endpoint in (f"/work/{w.queue()[0].public_id}/", "/work/checks/in/" + w.benchmark.slug + "/"):
        client = Client()
        client.force_login(w.admin)
        assert client.get(endpoint).status_code == 404
