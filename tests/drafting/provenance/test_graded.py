"""What physicians and judges said of a criterion, on the page of the suggestion that it began as; and who sees it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access import waiting_checks
from annotation.models import Adjudication, ExpertGroup, Ruling
from annotation.services import accept_check, amend, claim_check
from rubrics.models import Criterion, Response
from tests import factories
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
HEADING = "Decisions and verdicts on this criterion"


class Graded(Drafted):
    """A published rubric of one own and one suggested criterion, and a response of each of two candidates."""

    def __init__(self) -> None:
        admin = factories.UserFactory()
        case = factories.CaseFactory(rubric=0, benchmark=factories.BenchmarkFactory(admin=admin, slug="graded"))
        super().__init__(2, case=case)
        self.admin = admin
        self.publish([own("Is kind"), taken(self.suggestions[0])])
        self.responses: list[Response] = [
            factories.ResponseFactory(
                case=case, candidate=factories.CandidateFactory(benchmark=case.benchmark, name=name)
            )
            for name in ("alpha", "beta")
        ]

    @property
    def criterion(self) -> Criterion:
        """The one that was suggested, the second of the rubric."""
        return self.rubric.items.get(position=2).criterion

    def group(self, name: str, outcomes: dict[str, list[str]], **terms: Any) -> ExpertGroup:
        """A group whose annotators say this of the suggested criterion, by candidate, and *met* of the other one."""
        n = max(map(len, outcomes.values()))
        group = factories.ExpertGroupFactory(benchmark=self.benchmark, name=name, annotators=n, checkers=1)
        batch = factories.make_batch(group, annotators_per_item=n, **terms)
        left = {candidate: list(own) for candidate, own in outcomes.items()}
        for assignment in batch.assignments.select_related("response__candidate").order_by("pk"):
            factories.decide(assignment, "met", left[assignment.response.candidate.name].pop(0))
        return group

    def judge(self, outcomes: dict[str, str], *, replicates: int = 1) -> Any:
        """A finished run with these verdicts on the suggested criterion, by candidate."""
        judge = factories.JudgeFactory(benchmark=self.benchmark, name="Strict judge")
        run = factories.JudgeRunFactory(benchmark=self.benchmark, judge=judge, status="finished", replicates=replicates)
        for response in self.responses:
            for number in range(replicates):
                factories.VerdictFactory(
                    run=run, response=response, criterion=self.criterion, replicate=number,
                    outcome=outcomes[response.candidate.name],
                )  # fmt: skip
        return run


def rows(client: Client, world: Graded) -> list[str]:
    """The rows of the table as text; none where there is no table."""
    page = client.get(f"/b/graded/suggestions/{world.suggestions[0].public_id}/").content.decode()
    if HEADING not in page:
        return []
    table = page[page.index(f'aria-label="{HEADING}"') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    texts = [re.sub(r"<[^>]+>", " ", row) for row in body.split("</tr>")]
    return [" ".join(text.split()) for text in texts if text.strip()]


def test_outcomes_of_groups_checkers_adjudicators_and_judges(client: Client) -> None:
    world = Graded()
    client.force_login(world.admin)
    assert rows(client, world) == []
    world.group("North", {"alpha": ["met", "not_met"], "beta": ["met", "met"]})
    run = world.judge({"alpha": "not_met", "beta": "met"}, replicates=3)
    assert rows(client, world) == [
        "alpha Met North Not met North Not met × 3 Strict judge",
        "beta Met × 2 North Met × 3 Strict judge",
    ]
    page = client.get(f"/b/graded/suggestions/{world.suggestions[0].public_id}/").content.decode()
    alpha = world.responses[0].candidate
    address = f"/b/graded/judges/runs/{run.public_id}/verdicts/?candidate={alpha.public_id}"
    assert f'href="{address}"' in page and client.get(address).status_code == 200

    # A checker amends the decision on beta, and an adjudicator rules on alpha.
    south = world.group("South", {"alpha": ["met"], "beta": ["not_met"]}, check_policy="all")
    checker = south.people["checker"][0]  # type: ignore[attr-defined]
    while assignment := claim_check(checker=checker, waiting=waiting_checks(checker), at=timezone.now()):
        if assignment.response.candidate.name == "beta":
            amend(
                assignment=assignment, checker=checker, criterion=world.criterion.pk, outcome="met",
                reason="It does.", at=timezone.now(),
            )  # fmt: skip
        accept_check(assignment=assignment, checker=checker, at=timezone.now())
    Ruling.objects.create(
        adjudication=Adjudication.objects.get(group__name="North"), criterion=world.criterion, outcome="not_met",
        reason="", final_at=timezone.now(), created_at=timezone.now(), updated_at=timezone.now(),
    )  # fmt: skip
    assert rows(client, world) == [
        "alpha Met North Not met North Met South Not met North ruling Not met × 3 Strict judge",
        "beta Met × 2 North Met South Met × 3 Strict judge",
    ]


def test_who_sees_them(client: Client) -> None:
    """Those who run the benchmark, of whom none may grade; not its authors."""
    world = Graded()
    world.group("North", {"alpha": ["met"], "beta": ["met"]})
    client.force_login(world.second)
    assert "Criterion in force" in client.get(f"/b/graded/suggestions/{world.suggestions[0].public_id}/").text
    assert rows(client, world) == []
    client.force_login(world.admin)
    assert len(rows(client, world)) == 2
