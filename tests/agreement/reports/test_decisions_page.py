"""The decisions behind a number: all of them, differences first, at the same cost however many there are."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.votes import votes_of
from annotation.models import Adjudication, Amendment, Assignment, Check, Decision, Physician, Ruling
from rubrics.models import Candidate
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, points=(1, 1, 1, -2, 5))
    study.group("A", coin(1, "met", "not_met", "met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.3))
    return study


@pytest.fixture
def report(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "group:B"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    return report


def open_page(study: Study, report: Report, **query: str) -> object:
    client = Client()
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/decisions/"
    return client.get(f"{address}?{urlencode(query)}")


def test_every_row_of_the_report_leads_to_exactly_its_pairs(study: Study, report: Report) -> None:
    for row in table_of(report, "agreement").dicts():
        context = open_page(study, report, slice=row["slice"]).context
        counts = context["counts"]
        assert counts["differ"] + counts["agree"] == row["n_pairs"], row["slice"]
        assert counts["left_out"] == row["n_cannot"], row["slice"]
        assert row["raw"] == pytest.approx(counts["agree"] / row["n_pairs"])


def test_differences_come_first_and_what_is_shown_is_what_was_decided(study: Study, report: Report) -> None:
    seen = {}
    order = []
    pages = open_page(study, report).context["page"].paginator.num_pages
    assert pages == 3
    for number in range(1, pages + 1):
        for row in open_page(study, report, page=str(number)).context["rows"]:
            criterion = study.criteria[row.response.case_id][row.position - 1]
            seen[row.response.pk, criterion] = (row.a, row.b)
            order.append(row.group)
    assert seen == {pair: (study.outcomes["A"][pair], study.outcomes["B"][pair]) for pair in study.outcomes["A"]}
    assert order == sorted(order, key=["differ", "agree", "left_out"].index)
    only = open_page(study, report, show="left_out").context["rows"]
    assert {row.group for row in only} == {"left_out"}


def test_a_candidate_may_be_called_like_a_part_of_a_slice(study: Study, report: Report) -> None:
    """One of its own names holds the words that join a slice and a candidate."""
    named = "theme:x / candidate:alpha"
    Candidate.objects.filter(pk=study.candidates[1].pk).update(name=named)
    for slice_name, mine in (
        (f"candidate:{named}", {named}),
        ("difficulty:low / candidate:alpha", {"alpha"}),
        (f"difficulty:low / candidate:{named}", {named}),
    ):
        rows = open_page(study, report, slice=slice_name).context["rows"]
        assert {row.response.candidate.name for row in rows} == mine


def test_the_page_costs_the_same_for_one_candidate_and_for_all(study: Study, report: Report) -> None:
    open_page(study, report)
    with CaptureQueriesContext(connection) as all_pairs:
        open_page(study, report)
    with CaptureQueriesContext(connection) as one_response:
        open_page(study, report, slice="response:alpha/case-00/0")
    assert len(all_pairs) == len(one_response)


def test_a_slice_that_is_not_there_is_not_found(study: Study, report: Report) -> None:
    assert open_page(study, report, slice="candidate:nobody").status_code == 404
    assert open_page(study, report, slice="no such tag").status_code == 404
    assert open_page(study, report, page="9999").status_code == 200


def test_each_row_leads_to_its_response_beside_the_criteria(
    study: Study, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is open there, also if it is not among the first that the page of the case shows."""
    opened = open_page(study, report)
    response = opened.context["rows"][-1].response
    address = f"/b/{study.benchmark.slug}/cases/{response.case.public_id}/?response={response.public_id}"
    assert f'href="{address}#response-{response.public_id}"' in opened.content.decode()
    client = Client()
    client.force_login(study.admin)
    for most in (200, 0):
        monkeypatch.setattr("rubrics.views.cases.MAX_RESPONSES", most)
        page = " ".join(client.get(address).content.decode().split())
        (tag,) = re.findall(rf'<details class="response" id="response-{response.public_id}"[^>]*>', page)
        assert "open" in tag.split(), tag
        assert response.case.criteria.first().text in page
    others = re.findall(r'<details class="response"[^>]* open *>', page)
    assert len(others) == 1


def test_each_row_says_which_physician_decided_what(study: Study, report: Report) -> None:
    """Group A has one annotator, whose first decision a checker amends."""
    first = Decision.objects.filter(assignment__batch__group=study.groups["A"], outcome="met").order_by("pk").first()
    assert first is not None
    own = {"created_at": timezone.now(), "updated_at": timezone.now()}
    check = Check.objects.create(
        assignment=first.assignment, round=1, checker=UserFactory(), result="accepted", created_at=timezone.now(),
        finished_at=timezone.now(),
    )  # fmt: skip
    Amendment.objects.create(check_row=check, criterion=first.criterion, outcome="not_met", reason="No.", **own)
    people = dict(Physician.objects.filter(benchmark=study.benchmark).values_list("user", "pseudonym"))
    seen = 0
    for number in (1, 2, 3):
        for row in open_page(study, report, page=str(number)).context["rows"]:
            criterion = study.criteria[row.response.case_id][row.position - 1]
            pair = (row.response.pk, criterion)
            (vote,) = row.votes_a
            assert vote.outcome == study.outcomes["A"][pair]
            assert vote.physician == people[first.assignment.annotator_id]
            is_amended = pair == (first.assignment.response_id, first.criterion_id)
            assert vote.amended == ("not_met" if is_amended else "")
            seen += is_amended
            assert [own.outcome for own in row.votes_b] == [study.outcomes["B"][pair]]
    assert seen == 1
    page = open_page(study, report).content.decode()
    assert f"{people[first.assignment.annotator_id]}: Met" in page


def test_a_group_is_called_checked_only_where_a_secondary_check_was_held(study: Study, report: Report) -> None:
    """Of both groups only A had one: in B work was returned, none accepted. Names in parameters and files stay."""
    for group, result, note in (("A", "accepted", ""), ("B", "returned", "Again, please.")):
        work = Assignment.objects.filter(batch__group=study.groups[group]).order_by("pk").first()
        assert work is not None
        Check.objects.create(
            assignment=work, round=1, checker=UserFactory(), result=result, note=note, created_at=timezone.now(),
            finished_at=timezone.now(),
        )  # fmt: skip
    client = Client()
    client.force_login(study.admin)
    base = f"/b/{study.benchmark.slug}/agreement/"
    entries = client.get(base).context["entries"]
    (form,) = [entry.form for entry in entries if entry.kind.value == "agreement"]
    choices = [pair for _group, pairs in form.fields["rater_a"].choices for pair in pairs]
    assert {("group:A@checked", "A (after the secondary check)"), ("group:B@checked", "B")} <= set(choices)
    for page in (client.get(base), client.get(f"{base}{report.public_id}/"), open_page(study, report)):
        html = page.content.decode()
        assert "A (after the secondary check)" in html
        assert "(checked)" not in html and "B (after the" not in html
    api = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/").json()
    assert api["parameters"]["rater_a"] == "group:A@checked"


def test_the_votes_are_those_that_the_stage_counts(study: Study) -> None:
    """Work of two rounds: the check of the first returned it, that of the second amended it; then a ruling."""
    now = timezone.now()
    own = {"created_at": now, "updated_at": now}
    work = Assignment.objects.filter(batch__group=study.groups["A"]).order_by("pk").first()
    assert work is not None
    amended, ruled, plain = study.criteria[work.case_id][:3]
    Decision.objects.filter(assignment=work).update(outcome="met")
    Assignment.objects.filter(pk=work.pk).update(round=2)
    for criterion in (amended, ruled, plain):
        Decision.objects.create(assignment=work, criterion_id=criterion, round=2, outcome="not_met", **own)
    checker = UserFactory()
    checks = [
        Check.objects.create(
            assignment=work, round=number, checker=checker, result=result, note="See it again.", created_at=now,
            finished_at=now,
        )
        for number, result in ((1, "returned"), (2, "accepted"))
    ]  # fmt: skip
    Amendment.objects.create(check_row=checks[0], criterion_id=plain, outcome="cannot_assess", reason="No.", **own)
    Amendment.objects.create(check_row=checks[1], criterion_id=amended, outcome="met", reason="No.", **own)
    adjudication = Adjudication.objects.create(
        response=work.response, rubric=work.rubric, group=study.groups["A"], criteria=[ruled], agreement=0.5,
        adjudicator=UserFactory(), status="done", created_at=now, finished_at=now,
    )  # fmt: skip
    Ruling.objects.create(
        adjudication=adjudication, criterion_id=ruled, outcome="faulty", reason="Two at once.", final_at=now, **own
    )
    name = Physician.objects.get(benchmark=study.benchmark, user=work.annotator_id).pseudonym
    pairs = [(work.response_id, criterion) for criterion in (amended, ruled, plain)]

    def lines(stage: str) -> list[list[str]]:
        votes = votes_of(study.benchmark, f"group:A@{stage}", pairs)
        return [[str(vote.in_words) for vote in votes.get(pair, ())] for pair in pairs]

    after = [[f"{name}: Not met, after the check: Met"], [f"{name}: Not met"], [f"{name}: Not met"]]
    assert lines("first") == [[f"{name}: Met"]] * 3
    assert lines("checked") == after
    assert lines("final") == [after[0], [*after[1], "Adjudicator: Criterion faulty"], after[2]]
    Assignment.objects.filter(pk=work.pk).update(status="submitted", accepted_at=None)
    assert lines("checked") == [[]] * 3
    assert lines("first") == [[f"{name}: Met"]] * 3
