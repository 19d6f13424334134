"""Reports: asked for on a page or by the API, computed once, kept with what it takes to get them again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from agreement import services, tasks
from agreement.kinds import KINDS
from agreement.models import Report
from agreement.reports.stored import table_of
from annotation.models import Decision
from consilium.core.errors import DomainError
from consilium.core.jobs import MAX_ATTEMPTS, JobStatus
from consilium.statistics.case_numbers import in_words
from scoring.models import JudgeRun
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import BenchmarkRoleFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met", "met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.25))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    return study


def ask(study: Study, kind: str = "agreement", seed: int = 0, **parameters: object) -> Report:
    given = parameters or {"rater_a": "group:A", "rater_b": "group:B"}
    report = services.create_report(
        benchmark=study.benchmark, kind=kind, parameters=given, seed=seed, by=study.admin, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    return report


def signed_in(user: object) -> Client:
    client = Client()
    client.force_login(user)
    return client


def csv_of(client: Client, report: Report, table: str = "agreement") -> bytes:
    response = client.get(f"/b/{report.benchmark.slug}/{report.section}/{report.public_id}/tables/{table}.csv")
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def test_a_report_is_asked_for_computed_and_read(study: Study) -> None:
    client = signed_in(study.admin)
    address = f"/b/{study.benchmark.slug}/agreement/"
    page = client.get(address)
    assert "No reports yet" in page.content.decode()
    form = {
        "kind": "agreement",
        "agreement-rater_a": "group:A@checked",
        "agreement-rater_b": "group:B@checked",
        "agreement-seed": "",
    }
    response = client.post(address, form)
    report = Report.objects.get()
    assert response.status_code == 302
    assert response["Location"] == f"{address}{report.public_id}/"
    assert report.status == JobStatus.PENDING
    assert "Waiting for a worker" in client.get(response["Location"]).content.decode()
    fragment = client.get(f"{response['Location']}progress")
    assert 'hx-trigger="every 1s"' in fragment.content.decode()
    assert "HX-Refresh" not in fragment

    tasks.run_report(report.pk)
    assert client.get(f"{response['Location']}progress")["HX-Refresh"] == "true"
    report.refresh_from_db()
    assert (report.status, report.progress) == (JobStatus.DONE, 1.0)
    assert len(report.input_digest) == 64
    assert report.software.startswith("consilium ")
    html = client.get(response["Location"]).content.decode()
    assert f"{table_of(report, 'candidates').dicts()[0]['mf1']:.3f}" in html
    for text in (
        "Agreement on each candidate",
        "Agreement on single responses",
        "alpha",
        report.input_digest,
        "jackknife over cases",
        f"{in_words(report.result['facts']['effective'])} effective cases support these figures",
        "An interval needs 5. Base a claim on at least 30.",
        "Proportions near 0 or 1, such as those of rare failures or of a threshold that is rarely reached, need 100.",
    ):
        assert text in html


def test_computing_again_gives_the_same_bytes_and_leaves_the_first_report(study: Study) -> None:
    first = ask(study, seed=9)
    client = signed_in(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{first.public_id}/"
    response = client.post(f"{place}recompute")
    second = Report.objects.exclude(pk=first.pk).get()
    assert response["Location"].endswith(f"{second.public_id}/")
    tasks.run_report(second.pk)
    second.refresh_from_db()
    assert (second.seed, second.recomputes) == (9, first)
    assert second.input_digest == first.input_digest
    # Each of the two leads to the other.
    for shown, other, words in ((first, second, "Newer report"), (second, first, "Earlier report")):
        page = client.get(f"/b/{study.benchmark.slug}/agreement/{shown.public_id}/").content.decode()
        assert re.search(rf'href="[^"]*/agreement/{other.public_id}/"\s*>{words}</a>', page)
    for table in ("agreement", "candidates", "slices", "distribution"):
        assert csv_of(client, second, table) == csv_of(client, first, table)
    for figure in ("candidates", "distribution"):
        files = [
            client.get(f"/b/{study.benchmark.slug}/agreement/{r.public_id}/figures/{figure}.svg")
            for r in (first, second)
        ]
        assert files[0].content.replace(first.public_id.encode(), b"") == files[1].content.replace(
            second.public_id.encode(), b""
        )


def test_the_digest_tells_that_decisions_have_changed(study: Study) -> None:
    report = ask(study)
    client = signed_in(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/decisions/"
    assert "have changed since" not in client.get(place).content.decode()
    decision = Decision.objects.filter(assignment__batch__group__name="A", outcome="met").first()
    decision.outcome = "not_met"
    decision.save()
    assert "have changed since" in client.get(place).content.decode()
    assert ask(study).input_digest != report.input_digest


def test_a_report_is_computed_once_however_often_it_is_enqueued(study: Study) -> None:
    report = ask(study)
    finished = report.finished_at
    tasks.run_report(report.pk)
    report.refresh_from_db()
    assert (report.finished_at, report.attempts) == (finished, 1)
    assert services.REPORTS.unfinished(at=timezone.now() + timedelta(days=1)) == []


def test_a_report_whose_worker_was_lost_is_taken_up_again_but_not_for_ever(study: Study) -> None:
    now = timezone.now()
    report = services.create_report(
        benchmark=study.benchmark, kind="agreement", parameters={"rater_a": "group:A", "rater_b": "group:B"}, at=now
    )
    assert services.REPORTS.unfinished(at=now) == []
    assert services.REPORTS.unfinished(at=now + timedelta(minutes=1)) == [report.pk]
    for attempt in range(1, MAX_ATTEMPTS + 1):
        held = services.REPORTS.claim(job_id=report.pk, at=now)
        assert held is not None
        assert held.attempts == attempt
        assert services.REPORTS.claim(job_id=report.pk, at=now + timedelta(minutes=1)) is None
        assert services.REPORTS.unfinished(at=now + timedelta(minutes=1)) == []
        now += timedelta(minutes=3)
        assert services.REPORTS.unfinished(at=now) == [report.pk]
    assert services.REPORTS.claim(job_id=report.pk, at=now) is None
    report.refresh_from_db()
    assert report.status == JobStatus.FAILED
    assert "stopped unexpectedly 3 times" in report.error


def test_a_worker_that_was_taken_for_lost_does_not_write(study: Study) -> None:
    now = timezone.now()
    report = services.create_report(
        benchmark=study.benchmark, kind="agreement", parameters={"rater_a": "group:A", "rater_b": "group:B"}, at=now
    )
    seen: list[int] = []

    def clock() -> object:
        # After the first look at the clock, another worker takes the report over.
        if len(seen) == 1:
            assert services.REPORTS.claim(job_id=report.pk, at=now + timedelta(minutes=5)) is not None
        seen.append(1)
        return now

    services.run(report_id=report.pk, clock=clock)  # type: ignore[arg-type]
    report.refresh_from_db()
    assert (report.status, report.attempts, report.result) == (JobStatus.RUNNING, 2, {})


def test_a_report_that_can_have_no_figures_says_why(study: Study) -> None:
    Decision.objects.filter(assignment__batch__group=study.groups["B"]).update(outcome=None)
    report = ask(study, rater_a="echo", rater_b="group:B")
    assert report.status == JobStatus.DONE
    html = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    assert "share no pair" in html
    assert "undefined" in html
    other = make_study(cases=1)
    fresh = other.group("A", coin(1, "met"))
    other.group("B", coin(1, "met"))
    other.judge("echo", coin(1, "met"))
    Decision.objects.filter(assignment__batch__group=fresh).update(outcome=None)
    failed = ask(other, kind="fidelity", judge="echo", group_a="group:A", group_b="group:B")
    assert failed.status == JobStatus.FAILED
    page = signed_in(other.admin).get(f"/b/{other.benchmark.slug}/agreement/{failed.public_id}/").content.decode()
    assert "There is no pair that" in page
    assert 'hx-trigger="every 1s"' not in page


def test_a_run_without_a_verdict_is_no_rater_and_missing_is_not_invalid(study: Study) -> None:
    silent = study.judge("silent", lambda pair: "")
    name = f"run:{silent.public_id}"
    for kind, given in (
        ("agreement", {"rater_a": "group:A", "rater_b": name}),
        ("fidelity", {"judge": name, "group_a": "group:A", "group_b": "group:B"}),
        ("scores", {"rater": "silent", "k": 1}),
    ):
        with pytest.raises(DomainError, match="This run has no verdicts yet: silent"):
            services.create_report(benchmark=study.benchmark, kind=kind, parameters=given, at=timezone.now())
        with pytest.raises(DomainError, match="This run has no verdicts yet: silent"):
            KINDS[kind].compute(study.benchmark, seed=0, **given)
    # Three verdicts that never came and two that are broken; the others say what A says.
    order = sorted(pair for pair, outcome in study.outcomes["A"].items() if outcome != "cannot_assess")
    outcomes = {**study.outcomes["A"], **dict.fromkeys(order[:3], ""), **dict.fromkeys(order[3:5], "invalid")}
    study.judge("patchy", outcomes.__getitem__)
    report = ask(study, rater_a="group:A", rater_b="patchy")
    overall = table_of(report, "candidates").dicts()[0]
    assert (overall["n_invalid"], overall["n_missing"]) == (5, 3)
    assert "n_invalid: 2 invalid, 3 missing" in overall["note"]
    html = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    assert "2 verdicts are invalid, 3 are missing" in html
    # Its runs are called by their judge and day.
    patchy = JudgeRun.objects.get(judge__name="patchy")
    ask(study, rater_a="group:A", rater_b=f"run:{patchy.public_id}")
    listed = signed_in(study.admin).get(f"/b/{study.benchmark.slug}/agreement/").content.decode()
    day = date_format(timezone.localtime(patchy.created_at), "DATE_FORMAT")
    assert f"patchy (run of {day}) against A" in listed


def test_a_computation_that_breaks_is_on_record_and_in_the_log(study: Study) -> None:
    report = Report.objects.create(
        benchmark=study.benchmark, kind="agreement", parameters={"rater_a": "group:A"}, created_at=timezone.now()
    )
    with pytest.raises(TypeError):
        tasks.run_report(report.pk)
    report.refresh_from_db()
    assert report.status == JobStatus.FAILED
    assert "the worker log" in report.error


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("agreement", {"rater_a": "group:A", "rater_b": "group:A@checked"}, "different raters"),
        ("agreement", {"rater_a": "group:A", "rater_b": "group:C"}, "no expert group"),
        (
            "agreement",
            {"rater_a": "group:A", "rater_b": "group:B", "status": "done"},
            "does not accept the parameter status",
        ),
        ("calibration", {"group": "A", "candidate": "alpha"}, "physicians wrote"),
        ("scores", {"rater": "group:A", "k": 0}, "k must be a whole number"),
        ("scores", {"rater": "group:A", "k": True}, "k must be a whole number"),
    ],
)
def test_parameters_that_make_no_report_are_refused_before_a_row_is_made(
    study: Study, kind: str, parameters: dict[str, object], message: str
) -> None:
    client = signed_in(study.admin)
    response = client.post(
        f"/api/v1/benchmarks/{study.benchmark.slug}/reports/",
        {"kind": kind, "parameters": parameters},
        content_type="application/json",
    )
    assert response.status_code == 422
    assert message in response.json()["detail"]
    assert not Report.objects.exists()


def test_only_those_who_run_the_benchmark_reach_its_reports(study: Study) -> None:
    report = ask(study)
    researcher, stranger = UserFactory(), UserFactory(is_staff=True, is_superuser=True)
    BenchmarkRoleFactory(benchmark=study.benchmark, user=researcher, role="researcher")
    annotator = study.groups["A"].memberships.first().user
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}"
    api = f"/api/v1/benchmarks/{study.benchmark.slug}"
    addresses = [
        *(f"/b/{study.benchmark.slug}/{section}/" for section in ("agreement", "scores", "calibration")),
        *(f"{place}/{rest}" for rest in ("", "progress", "decisions/", "tables/agreement.csv")),
        *(f"{place}/figures/candidates.{kind}" for kind in ("svg", "png")),
        *(f"{api}/{rest}" for rest in ("raters/", "reports/", f"reports/{report.public_id}/")),
        f"{api}/reports/{report.public_id}/tables/agreement.csv",
    ]
    for address in addresses:
        assert signed_in(researcher).get(address).status_code == 200, address
        for user in (stranger, annotator):
            assert signed_in(user).get(address).status_code == 404, address
        assert Client().get(address).status_code in (302, 401, 403), address
    for user in (stranger, annotator):
        assert signed_in(user).post(f"{place}/recompute").status_code == 404
        assert signed_in(user).post(f"{api}/reports/", {"kind": "agreement", "parameters": {}}).status_code == 404
    # A report answers in its own section and under its own benchmark only.
    other = make_study(cases=1)
    assert signed_in(study.admin).get(place.replace("agreement", "scores") + "/").status_code == 404
    assert (
        signed_in(other.admin).get(place.replace(study.benchmark.slug, other.benchmark.slug) + "/").status_code == 404
    )


def test_the_api_makes_lists_and_hands_out_what_the_page_does(study: Study) -> None:
    client = signed_in(study.admin)
    api = f"/api/v1/benchmarks/{study.benchmark.slug}"
    raters = client.get(f"{api}/raters/").json()
    assert {"group:A@checked", "group:B@final", "echo", "consensus"} <= {rater["rater"] for rater in raters}
    refused = client.post(
        f"{api}/reports/",
        {"kind": "agreement", "parameters": {}, "input_digest": "forged"},
        content_type="application/json",
    )
    assert refused.status_code == 400
    assert "input_digest" in refused.json()
    response = client.post(
        f"{api}/reports/",
        {"kind": "agreement", "parameters": {"rater_a": "group:A", "rater_b": "echo"}, "seed": 3},
        content_type="application/json",
    )
    assert response.status_code == 201
    assert response.json()["status"] == "pending"
    assert response.json()["parameters"] == {"rater_a": "group:A@checked", "rater_b": "echo"}
    report = Report.objects.get()
    tasks.run_report(report.pk)
    detail = client.get(f"{api}/reports/{response.json()['id']}/").json()
    assert (detail["status"], detail["seed"]) == ("finished", 3)
    assert detail["tables"] == ["agreement", "candidates", "distribution", "raters", "slices"]
    assert [report_row["id"] for report_row in client.get(f"{api}/reports/").json()["results"]] == [detail["id"]]
    table = client.get(f"{api}/reports/{detail['id']}/tables/agreement.csv")
    assert b"".join(table.streaming_content) == csv_of(client, report)
    assert client.get(f"{api}/reports/{detail['id']}/tables/nothing.csv").status_code == 404


def test_lists_cost_the_same_with_more_reports(study: Study) -> None:
    client = signed_in(study.admin)
    ask(study)
    address = f"/b/{study.benchmark.slug}/agreement/"
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for _ in range(6):
        ask(study)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)
    # Six forms stand on the page; what they offer is read once, not for each.
    assert sum("scoring_judgerunitem" in query["sql"] for query in many.captured_queries) == 1


def test_a_page_reads_only_the_tables_that_it_shows(study: Study) -> None:
    """A row for each response stands in agreement.csv alone, which no page shows."""
    report = ask(study)
    client = signed_in(study.admin)
    with CaptureQueriesContext(connection) as page:
        client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/")
    table = report.tables.get(name="agreement")
    read = [query["sql"] for query in page.captured_queries if "agreement_reportrows" in query["sql"]]
    assert read
    assert not any(f'"table_id" = {table.pk} ' in sql for sql in read)
