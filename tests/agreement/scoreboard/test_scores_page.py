"""The scoreboard: every candidate by one rater, sortable, with the tables of the command ``scores``."""

from __future__ import annotations

import csv
import re
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services, tasks
from agreement.models import Report
from agreement.selectors.rater_choices import rater_choices
from scoring.models import Judge, Verdict
from tests.agreement.study import Study, make_study
from tests.factories import CaseFactory, JudgeFactory, JudgeRunFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

HITS = {"one": 9, "two": 10, "three": 15, "four": 30}


@pytest.fixture
def study() -> Study:
    """The rows of ClinConsensus' Table 9: candidates with 9, 10, 15 and 30 of 30 criteria met, on each of two cases."""
    study = make_study(cases=2, points=(1,) * 30, candidates=tuple(HITS))
    names = {response.pk: response.candidate.name for response in study.responses()}
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}
    study.group("A", lambda pair: "met" if place[pair[1]] < HITS[names[pair[0]]] else "not_met")
    return study


def client_of(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def test_the_scoreboard_has_the_values_of_the_paper_and_sorts_by_its_columns(study: Study) -> None:
    client, address = client_of(study), f"/b/{study.benchmark.slug}/scores/"
    assert "No scores yet" in client.get(address).content.decode()
    form = client.get(address).context["entries"][0].form
    assert form.fields["k"].initial == 10
    response = client.post(
        address, {"kind": "scores", "scores-rater": "group:A@checked", "scores-k": "10", "scores-seed": "0"}
    )
    assert response.status_code == 302
    tasks.run_report(Report.objects.get().pk)
    html = client.get(address).content.decode()
    table = html[html.index("Scoreboard") : html.index("</tbody>")]
    rows = re.findall(r'<th scope="row">\s*<a[^>]*>(\w+)</a>\s*</th>(.*?)</tr>', table, re.DOTALL)
    assert [name for name, _ in rows] == ["four", "three", "two", "one"]
    cacs = [re.findall(r'<td class="num">(.*?)</td>', rest, re.DOTALL)[2] for _, rest in rows]
    assert [re.sub(r".*>(?=[0-9])", "", cell, flags=re.DOTALL).split("<")[0] for cell in cacs] == [
        "100.0", "28.6", "4.8", "0.0",
    ]  # fmt: skip
    # Two cases: every figure of every candidate says why it has no interval.
    for _, rest in rows:
        assert rest.count('class="no-interval" title="no interval: 2.0 of the 5 effective cases needed"') == 5
    turned = client.get(address, {"sort": "-cacs_at_k"}).content.decode()
    assert turned.index(">one<") < turned.index(">four<")
    assert 'aria-sort="ascending"' in turned
    assert client.get(address, {"sort": "user__password"}).status_code == 200


def test_tables_of_the_report_are_those_of_the_command(study: Study) -> None:
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": 10}, at=timezone.now()
    )
    tasks.run_report(report.pk)
    client = client_of(study)
    place = f"/b/{study.benchmark.slug}/scores/{report.public_id}"
    csv = b"".join(client.get(f"{place}/tables/scores.csv").streaming_content).decode()
    assert csv.startswith(
        "rater,candidate,slice,n,rubric_score,rubric_score_se,rubric_accuracy,pass_at_k,cacs_at_k,k,n_invalid,"
        "n_missing,n_cannot,n_faulty,note\n"
    )
    assert "group:A@checked,four,overall_score,2,1.0,," in csv
    for table in ("responses", "worst_at_k", "scoreboard"):
        assert client.get(f"{place}/tables/{table}.csv").status_code == 200
    assert client.get(f"{place}/figures/coverage.svg").status_code == 200


def test_k_is_offered_from_the_newest_calibration(study: Study) -> None:
    Report.objects.create(
        benchmark=study.benchmark,
        kind="calibration",
        status="done",
        result={"facts": {"k": 13}},
        created_at=timezone.now(),
    )
    form = client_of(study).get(f"/b/{study.benchmark.slug}/scores/").context["entries"][0].form
    assert form.fields["k"].initial == 13
    assert "newest calibration" in form.fields["k"].help_text


def test_a_candidate_leads_to_the_decisions_behind_its_scores(study: Study) -> None:
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": 10}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    client, address = client_of(study), f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    assert "decisions/?slice=candidate%3Athree" in client.get(address).content.decode()
    context = client.get(f"{address}decisions/", {"slice": "candidate:three"}).context
    assert context["counts"] == {"not_met": 30, "met": 30, "other": 0}
    assert {row.a for row in client.get(f"{address}decisions/", {"show": "met"}).context["rows"]} == {"met"}


def test_the_scoreboard_shows_how_many_responses_its_cacs_leaves_out() -> None:
    study = make_study(cases=10, points=(1, 1, 1), candidates=("alpha",))
    for n in range(2):
        case = CaseFactory(benchmark=study.benchmark, key=f"short-{n}", rubric=[1, 1])
        ResponseFactory(case=case, candidate=study.candidates[0])
    study.group("A", lambda pair: "met")
    report = services.create_report(
        benchmark=study.benchmark, kind=Report.Kind.SCORES, parameters={"rater": "group:A", "k": 3, "also": []},
        by=study.admin, at=timezone.now(),
    )  # fmt: skip
    tasks.run_report(report.pk)
    page = client_of(study).get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode()
    page = " ".join(page.split())
    assert "excluded: 2 responses with fewer than 3 positive criteria" in page
    assert "2 responses have fewer than 3 positive criteria and count as not passed" in page
    # The form says so before anything is computed: no rubric here has the ten criteria that it suggests.
    form = client_of(study).get(f"/b/{study.benchmark.slug}/scores/").context["entries"][0].form
    words = "12 of 12 responses have fewer than 10 positive criteria (rubrics have 2 to 3)."
    assert words in form.fields["k"].help_text
    assert "averaged over the responses with at least 3 positive criteria" in page
    board = page[page.index('<table class="data scoreboard">') :]
    cells = re.findall(r'<td class="num"> ?12 ?</td>(.*?)</tr>', board)[0]  # the responses, and their figures
    behind = ["n = 10" in cell for cell in cells.split("</td>")]
    assert behind == [False, True, *[False] * (len(behind) - 2)]  # the rank, and then CACS@3 alone


def test_each_score_has_its_number_of_responses() -> None:
    """Of alpha's 10 responses, 2 have no rubric score, for a criterion that takes points off; beta's all have one."""
    study = make_study(cases=10, points=(1, 1, 1, -1), candidates=("alpha", "beta"))
    names = {response.pk: response.candidate.name for response in study.responses()}
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}
    open_ones = [response.pk for response in study.responses() if names[response.pk] == "alpha"][:2]
    study.group("A", lambda pair: "cannot_assess" if pair[0] in open_ones and place[pair[1]] == 3 else "met")
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": 3}, at=timezone.now()
    )
    tasks.run_report(report.pk)
    client, address = client_of(study), f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    rows = csv.DictReader(
        b"".join(client.get(f"{address}tables/scoreboard.csv").streaming_content).decode().split("\n")
    )
    columns = ("candidate", "n", "n_rubric_accuracy", "n_cacs_at_k", "n_unscored")
    assert [[row[name] for name in columns] for row in rows] == [
        ["alpha", "8", "10", "10", "2"],
        ["beta", "10", "10", "10", "0"],
    ]
    text = b"".join(client.get(f"{address}tables/scoreboard.md")).decode()
    assert "Responses with Rubric Accuracy" in text
    page = " ".join(client.get(address).content.decode().split())
    board = page[page.index('<table class="data scoreboard">') :].split("</tbody>")[0]
    assert board.count("without a score: 2") == 1
    assert board.count("n = 10") == 8  # of both candidates: CACS, Rubric Accuracy, gap and Pass


def test_menus_tell_imported_runs_of_one_minute_apart(study: Study) -> None:
    """Three files of one judge, a replicate each; the last of them lacks a verdict of the 240 that are due."""
    judge = JudgeFactory(benchmark=study.benchmark, name="grader", kind=Judge.Kind.IMPORTED)
    pairs = [(response.pk, item) for response in study.responses() for item in study.criteria[response.case_id]]
    at = timezone.now()
    labels = []
    for replicate in range(3):
        run = JudgeRunFactory(judge=judge, imported=True, created_at=at, finished_at=at, expected=len(pairs))
        Verdict.objects.bulk_create(
            Verdict(run=run, response_id=response, criterion_id=item, replicate=replicate, outcome="met", created_at=at)
            for response, item in pairs[replicate == 2 :]
        )
        count = "verdicts: 239 of 240" if replicate == 2 else "verdicts: 240"
        labels.append(f", replicate {replicate + 1}, run:{run.public_id} · {count}")
    choices = {choice.choice for choice in rater_choices(study.benchmark) if choice.kind == "run"}
    assert [sum(choice.endswith(label) for choice in choices) for label in labels] == [1, 1, 1]


def test_menus_name_a_run_by_the_time_in_the_readers_zone(study: Study) -> None:
    run = study.judge("grader", lambda pair: "met")
    study.admin.time_zone = "Asia/Tokyo"
    study.admin.save(update_fields=["time_zone"])
    begun = run.created_at.astimezone(ZoneInfo("Asia/Tokyo"))
    page = client_of(study).get(f"/b/{study.benchmark.slug}/scores/").content.decode()
    assert re.search(rf"grader, run of {begun.day} \S+ {begun:%Y, %H:%M} JST", page)


def test_the_figure_of_ranks_says_how_many_responses_they_rest_on(study: Study) -> None:
    study.judge("grader", lambda pair: "met")
    report = services.create_report(
        benchmark=study.benchmark, kind=Report.Kind.SCORES, parameters={"rater": "group:A", "k": 3, "also": ["grader"]},
        by=study.admin, at=timezone.now(),
    )  # fmt: skip
    tasks.run_report(report.pk)
    page = client_of(study).get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode()
    assert "Responses per candidate: 2. With so few responses, the ranks may change with a single one." in page
