"""What physicians and judges said of a criterion, on the page of the suggestion that it began as; and who sees it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access import waiting_checks
from annotation.models import Adjudication, Assignment, ExpertGroup, Ruling
from annotation.services import DecisionInput, accept_check, amend, claim_check, return_check, save_decisions, submit
from drafting.provenance import graded as graded_module
from drafting.provenance.graded import graded_responses
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


def test_returned_work_counts_as_it_was_handed_in(client: Client) -> None:
    """What its annotator changes in the new round is read once it is submitted."""
    world = Graded()
    client.force_login(world.admin)
    group = world.group("South", {"alpha": ["met"], "beta": ["met"]}, check_policy="all")
    checker = group.people["checker"][0]  # type: ignore[attr-defined]
    for _row in world.responses:
        work = claim_check(checker=checker, waiting=waiting_checks(checker), at=timezone.now())
        assert work is not None
        return_check(assignment=work, checker=checker, note="Look again.", at=timezone.now())
    work = Assignment.objects.select_related("annotator").get(response=world.responses[0])
    version = work.decisions.get(round=2, criterion=world.criterion).version
    change = DecisionInput(criterion=world.criterion.pk, outcome="not_met", version=version)
    save_decisions(assignment=work, annotator=work.annotator, changes=[change], at=timezone.now())
    assert work.decisions.get(round=2, criterion=world.criterion).outcome == "not_met"
    assert rows(client, world) == ["alpha Met South none", "beta Met South none"]
    submit(assignment=work, annotator=work.annotator, at=timezone.now())
    assert rows(client, world) == ["alpha Not met South none", "beta Met South none"]


def test_the_newest_ruling_holds_and_one_between_groups_names_both(client: Client) -> None:
    world = Graded()
    client.force_login(world.admin)
    north, south = (world.group(name, {"alpha": ["met"], "beta": ["met"]}) for name in ("North", "South"))
    older = factories.publish_rubric(world.case, [1], track="silver")
    for other, first, last in ((None, "faulty", "met"), (south, "cannot_assess", "not_met")):
        for rubric, outcome in ((older, first), (world.rubric, last)):
            adjudication = Adjudication.objects.create(
                response=world.responses[0], rubric=rubric, group=north, other_group=other,
                criteria=[world.criterion.pk], agreement=0.5, created_at=timezone.now(),
            )  # fmt: skip
            Ruling.objects.create(
                adjudication=adjudication, criterion=world.criterion, outcome=outcome, reason="It says so.",
                final_at=timezone.now(), created_at=timezone.now(), updated_at=timezone.now(),
            )  # fmt: skip
    assert rows(client, world) == [
        "alpha Met North Met South Met North ruling Not met North · South ruling none",
        "beta Met North Met South none",
    ]


def test_the_page_says_how_many_it_shows(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    world = Graded()
    client.force_login(world.admin)
    world.group("North", {"alpha": ["met"], "beta": ["met"]})
    page = f"/b/graded/suggestions/{world.suggestions[0].public_id}/"
    assert "are shown." not in client.get(page).content.decode()
    assert "text" in graded_responses(world.case, world.criterion).rows[0].response.get_deferred_fields()
    monkeypatch.setattr(graded_module, "MAX_RESPONSES", 1)
    assert len(rows(client, world)) == 1
    assert "Showing the first 1 of 2." in client.get(page).content.decode()


def test_who_sees_them(client: Client) -> None:
    """Those who run the benchmark, of whom none may grade; not its authors."""
    world = Graded()
    world.group("North", {"alpha": ["met"], "beta": ["met"]})
    client.force_login(world.second)
    assert "Criterion in force" in client.get(f"/b/graded/suggestions/{world.suggestions[0].public_id}/").text
    assert rows(client, world) == []
    client.force_login(world.admin)
    assert len(rows(client, world)) == 2
    factories.BenchmarkFactory(admin=world.admin, slug="other")
    foreign = f"/b/other/suggestions/{world.suggestions[0].public_id}/"
    assert client.get(foreign).status_code == 404, "a suggestion is missing in a benchmark that is not its own"
