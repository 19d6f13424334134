"""What judges read in responses, in reports on acuity: a series of one judge, counted by what its run was to read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from annotation.labels.advice import ReadTerms
from annotation.models import LabelAnswer, LabelQuestion, LabelTask
from rubrics.models import AcuityScale, Benchmark, Candidate, Case, Response
from scoring.acuity.read_advice import answer_rows, make_read_batch
from scoring.models import AcuityReading, Judge, JudgeRun, JudgeRunItem
from tests.agreement.acuity.stored import LEVELS, N_CASES, address, chosen, csv_of, csv_rows, reported
from tests.factories import CandidateFactory, ExpertGroupFactory, JudgeFactory, JudgeRunFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TEXT = "Advice."
NO_LEVEL, MISSING = -1, -2
# By case: its own level (cases 0 to 7), one too high, one too low, no level, and no reading.
READ = [*(i % 4 for i in range(8)), 1, 0, NO_LEVEL, MISSING]


def judge_of(scale: AcuityScale, name: str) -> Judge:
    return JudgeFactory(benchmark=scale.benchmark, name=name, task="acuity", scale=scale)


def run_of(judge: Judge, candidate: Candidate, levels: list[int], samples: int = 1, **more: Any) -> JudgeRun:
    """A finished run that was to read these responses of a candidate, in the order of the cases."""
    run = JudgeRunFactory(judge=judge, **{"purpose": "acuity", **more})
    cases = {case.key: case for case in Case.with_stubs.filter(benchmark=judge.benchmark)}
    for i, level in enumerate(levels):
        for sample in range(samples):
            given = {"case": cases[f"c{i:02}"], "candidate": candidate, "setting": "chat", "sample": sample}
            response = Response.objects.filter(**given).first() or ResponseFactory(**given, text=TEXT)
            JudgeRunItem.objects.create(run=run, response=response)
            if level != MISSING:
                read(run, response, level)
    return run


def read(run: JudgeRun, response: Response, level: int, **more: Any) -> None:
    """What the judge of a run read in a response."""
    quote = {"quote": TEXT[:4], "quote_start": 0, "quote_end": 4}
    own = {"state": "level", "level": level, **quote} if level >= 0 else {"state": "no-level", "explanation": "Asks."}
    source = "edited" if run.purpose == "acuity-edited" else "judge"
    AcuityReading.objects.create(
        scale=run.judge.scale, case=response.case, candidate=response.candidate, format="chat", sample=response.sample,
        source=source, judge_run=run, response=response, created_at=timezone.now(), **own, **more,
    )  # fmt: skip


def series(client: Client, report: Report, candidate: str) -> dict[str, Any]:
    rows = csv_rows(csv_of(client, report, "acuity"))
    return chosen(rows, candidate=candidate, source="judge", format="chat", aggregate="pooled", slice="all")


def page_of(client: Client, report: Report) -> str:
    return " ".join(client.get(address(report)).content.decode().split())


@pytest.fixture
def candidate(scale: AcuityScale, benchmark: Benchmark) -> Candidate:
    return CandidateFactory(benchmark=benchmark, name="P")


def test_the_first_replicates_of_the_newest_finished_run_count(
    scale: AcuityScale, candidate: Candidate, client: Client
) -> None:
    judge = judge_of(scale, "levels")
    at = timezone.now()
    run_of(judge, candidate, [3] * N_CASES, finished_at=at - timedelta(days=1))
    run = run_of(judge, candidate, READ, finished_at=at)
    read(run, run.items.get(response__case__key="c00").response, 3, replicate=1)
    run_of(judge, candidate, [3] * N_CASES, status="running", finished_at=None)
    run_of(judge, candidate, [3] * N_CASES, purpose="acuity-edited", finished_at=at + timedelta(days=1))
    report = reported(scale.benchmark)
    assert report.parameters["judge"] == "levels"
    row = series(client, report, "P")
    names = ("n_cases", "n_readings", "n_usable", "n_no_level", "n_missing")
    assert [row[name] for name in names] == ["12", "11", "10", "1", "1"]
    # Eight of ten are right, one is too high, one too low; two of twelve say no level.
    assert [float(row[name]) for name in ("accuracy", "over", "under")] == pytest.approx([0.8, 0.1, 0.1])
    assert float(row["accuracy_all"]) == pytest.approx(8 / 12)
    (unusable,) = csv_rows(csv_of(client, report, "unusable"))
    assert [unusable[name] for name in ("candidate", "case", "state", "text", "file")] == [
        "P", "c10", "no-level", "Asks.", f"run {run.public_id}",
    ]  # fmt: skip
    page = page_of(client, report)
    assert page.count("Read by a judge <span") == 1
    assert page.count('<span class="sub"> Imported') == 2  # M and O
    assert "Physicians have read 0 of them; 30 are needed to show how well it reads." in page
    assert any("read out of 11 responses by the judge levels" in text for text in methods_of(client, report))


def methods_of(client: Client, report: Report) -> list[str]:
    return client.get(f"{address(report)}methods.txt").content.decode().splitlines()


def test_a_report_is_of_one_judge_and_names_it(
    scale: AcuityScale, candidate: Candidate, client: Client, tmp_path: Path
) -> None:
    at = timezone.now()
    run_of(judge_of(scale, "older"), candidate, [i % 4 for i in range(N_CASES)], finished_at=at - timedelta(days=1))
    newer = judge_of(scale, "newer")
    run_of(newer, candidate, READ, finished_at=at)
    benchmark = scale.benchmark
    right = {
        name: float(series(client, reported(benchmark, **given), "P")["accuracy_all"])
        for name, given in {"newest": {}, "older": {"judge": "older"}}.items()
    }
    assert right == {"newest": pytest.approx(8 / 12), "older": 1.0}
    call_command("acuity", benchmark=benchmark.slug, judge="older", out=tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "acuity.csv").read_text("utf-8-sig").splitlines()))
    assert float(chosen(rows, candidate="P", aggregate="mode", slice="all")["accuracy"]) == 1.0
    with pytest.raises(
        CommandError, match=r"No judge called “none” has read .* reference set 1\. Available: newer, older"
    ):
        call_command("acuity", benchmark=benchmark.slug, judge="none", out=tmp_path / "none")

    page = f"/b/{benchmark.slug}/acuity/"
    assert '<option value="older">older</option>' in client.get(page).content.decode()
    sent = {"kind": "acuity", "acuity-reference_set": "1", "acuity-ratio": "5", "acuity-gamma": "1"}
    assert client.post(page, {**sent, "acuity-judge": "older"}).status_code == 302
    assert Report.objects.latest("pk").parameters["judge"] == "older"
    endpoint = f"/api/v1/benchmarks/{benchmark.slug}/reports/"
    for judge, status in (("newer", 201), ("none", 422)):
        content = {"kind": "acuity", "parameters": {"judge": judge}}
        assert client.post(endpoint, content, content_type="application/json").status_code == status

    # The report on a candidate that no judge has read is as before.
    alone = reported(benchmark, candidates=["M"])
    assert "judge not yet checked" not in page_of(client, alone)
    assert alone.input_digest == reported(benchmark, candidates=["M"], judge="older").input_digest


def test_a_newer_run_and_readings_of_physicians_make_it_stale(
    scale: AcuityScale, candidate: Candidate, client: Client
) -> None:
    judge = judge_of(scale, "levels")
    run = run_of(judge, candidate, [i % 4 for i in range(N_CASES)], samples=3)
    report = reported(scale.benchmark)
    assert freshness_of(report).fresh is True
    assert "judge not yet checked" in page_of(client, report)
    group = ExpertGroupFactory(benchmark=scale.benchmark, annotators=1)
    terms = ReadTerms("Read", readers=1, size=30, seed=1)
    make_read_batch(group=group, run=run, terms=terms, by=None, at=timezone.now())
    tasks = list(LabelTask.objects.filter(response__isnull=False).select_related("annotator"))
    submit(tasks[:29])
    stale = freshness_of(report)
    assert (stale.fresh, [(change.what, change.n) for change in stale.changes]) == (False, [("responses_read", 29)])
    assert "Physicians have read 29 of them" in page_of(client, reported(scale.benchmark))
    submit(tasks[29:])
    checked = reported(scale.benchmark)
    page = page_of(client, checked)
    assert "judge not yet checked" not in page
    assert "Physicians have read 30 of them." in page

    run_of(judge, candidate, [i % 4 for i in range(N_CASES)], finished_at=timezone.now() + timedelta(minutes=1))
    stale = freshness_of(checked)
    assert (stale.fresh, [change.what for change in stale.changes]) == (False, ["newer_run"])


def submit(tasks: list[LabelTask], value: Callable[[LabelTask], str] = lambda task: "no-level") -> None:
    """A physician read these responses, and no level in any, or the ``value`` of each."""
    question = LabelQuestion.objects.get(kind="read")
    for task in tasks:
        at = timezone.now()
        level = value(task)
        evidence = [] if level == "no-level" else [{"start": 0, "end": 4}]
        LabelAnswer.objects.create(
            task=task, question=question, value=level, evidence=evidence, created_at=at, updated_at=at
        )
    LabelTask.objects.filter(pk__in=[task.pk for task in tasks]).update(
        status=LabelTask.Status.SUBMITTED, submitted_at=timezone.now()
    )


def test_reports_on_formats_and_uncertainty_have_the_series_too(
    scale: AcuityScale, benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    # M is right in the forced choice (imported); what it advises is a level too low but for self-care.
    candidate = Candidate.objects.get(benchmark=benchmark, name="M")
    advised = [max(0, i % 4 - 1) for i in range(N_CASES)]
    run_of(judge_of(scale, "levels"), candidate, advised, samples=2)
    formats = finished(benchmark, "acuity_formats")
    row = chosen(csv_rows(csv_of(client, formats, "formats")), candidate="M", slice="all", measure="under")
    assert [float(row[name]) for name in ("qa", "chat", "difference")] == [0.0, 0.75, 0.75]

    votes = [f"c{i:02},{name},1,{LEVELS[i % 4]},80" for i in range(N_CASES) for name in ("X", "Y", "Z")]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["case,physician,round,level,certainty", *votes]), "utf-8")
    call_command("import_votes", path, benchmark=benchmark.slug, group="Panel")
    call_command("reference_set", benchmark=benchmark.slug)
    uncertainty = finished(benchmark, "acuity_uncertainty")
    row = chosen(csv_rows(csv_of(client, uncertainty, "uncertainty")), candidate="M", format="chat", set="panel")
    # Votes and readings are each unanimous, and a level apart in nine of twelve cases.
    assert (row["n_cases"], float(row["w1"])) == ("12", 0.75)
    for report in (formats, uncertainty):
        assert "judge not yet checked" in page_of(client, report)


def finished(benchmark: Benchmark, kind: str) -> Report:
    report = services.create_report(benchmark=benchmark, kind=kind, parameters={}, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def test_advice_too_low_with_a_safety_net(scale: AcuityScale, candidate: Candidate, client: Client) -> None:
    """References are the four levels in turn; the judge reads self-care throughout."""
    run = run_of(judge_of(scale, "levels"), candidate, [MISSING] * N_CASES)
    # On the first round of cases no escalation, on the second always urgent care, on the third always emergency.
    for item in run.items.select_related("response__case"):
        place = int(item.response.case.key[1:])
        read(run, item.response, 0, escalation=(None, 2, 3)[place // 4])
    report = reported(scale.benchmark)
    rows = csv_rows(csv_of(client, report, "missed"))
    whole = chosen(rows, candidate="P", aggregate="pooled", sent_to="")
    # Nine are too low; urgent care reaches two references of the three of its round, emergency all three.
    assert [whole[name] for name in ("n_low", "n_stated", "n_net", "n_emergency_net")] == ["9", "9", "5", "1"]
    assert float(whole["net_share"]) == pytest.approx(5 / 9)
    page = page_of(client, report)
    assert "5 of 9" in page
    assert "A Self-care: 5 of 9" in page
    # Imported readings say nothing of it.
    other = chosen(rows, candidate="M", aggregate="pooled", sent_to="")
    assert (other["n_low"], other["note"]) == ("0", "net_share: no reading is too low")


def test_rates_of_advice_are_put_right_by_what_physicians_read(
    scale: AcuityScale, candidate: Candidate, client: Client, tmp_path: Path
) -> None:
    """Three samples a case; on its last two cases the judge reads no level, on c08 one too high, on c09 one too low."""
    judged = [*(i % 4 for i in range(8)), 1, 0, NO_LEVEL, NO_LEVEL]
    run = run_of(judge_of(scale, "levels"), candidate, judged, samples=3)
    group = ExpertGroupFactory(benchmark=scale.benchmark, annotators=1)
    terms = ReadTerms("Read", readers=1, size=36, seed=1)
    make_read_batch(group=group, run=run, terms=terms, by=None, at=timezone.now())
    tasks = list(LabelTask.objects.filter(response__isnull=False).select_related("case").order_by("case__key", "pk"))

    def reference(task: LabelTask) -> str:
        return LEVELS[int(task.case.key[1:]) % 4]

    # Of each case two samples are read, always as the reference; so are both of the cases that the judge got wrong.
    submit([task for task in tasks if task.response and task.response.sample < 2], reference)
    report = reported(scale.benchmark)
    rows = {row["measure"]: row for row in csv_rows(csv_of(client, report, "powered")) if row["candidate"] == "P"}
    names = ("n_judged", "n_read", "judge", "physicians", "enough_read")
    assert [rows["accuracy"][name] for name in names] == ["30", "20", "0.8", "1.0", "false"]
    # Two of three are read in each stratum, so the judge is as good among them as among all: nothing is left to add.
    assert [float(rows[name]["powered"]) for name in ("accuracy", "over", "under", "cost")] == [1.0, 0.0, 0.0, 0.0]
    assert float(rows["cost"]["judge"]) == pytest.approx((3 * 1 + 3 * 5) / 30)
    # The judge's rate is the one that stands in the other tables, and the estimates those of the report on the judge.
    assert float(series(client, report, "P")["accuracy"]) == 0.8
    of_judge = csv_rows(csv_of(client, finished(scale.benchmark, "acuity_judge"), "powered"))
    assert [row for row in of_judge if row["candidate"] == "P"] == list(rows.values())
    page = page_of(client, report)
    assert "Advice, corrected with physicians’ readings" in page
    assert page.count("not yet checked</span>") == 3  # above, at its series, and at its rates
    assert "judge alone: 80.0%" in page
    assert "need not total 100%" in page

    call_command("acuity", benchmark=scale.benchmark.slug, out=tmp_path / "out")
    assert (tmp_path / "out" / "powered.csv").read_text("utf-8") == csv_of(client, report, "powered")
    assert freshness_of(report).fresh is True
    # Ten more, and it is checked; all wrong, so that accuracy falls.
    submit([task for task in tasks if task.response and task.response.sample == 2], lambda task: LEVELS[0])
    assert freshness_of(report).fresh is False
    newer = reported(scale.benchmark)
    rows = {row["measure"]: row for row in csv_rows(csv_of(client, newer, "powered")) if row["candidate"] == "P"}
    # Everything is read: twenty right, and of the ten others those with the reference self-care (c00, c04 and c08).
    assert rows["accuracy"]["enough_read"] == "true"
    assert float(rows["accuracy"]["powered"]) == pytest.approx(23 / 30)
    assert "not yet checked" not in page_of(client, newer)


def test_what_was_drawn_for_an_older_run_puts_no_newer_one_right(
    scale: AcuityScale, candidate: Candidate, client: Client
) -> None:
    """Physicians read everything that the first run of a judge read, and its second run reads the same responses."""
    judge = judge_of(scale, "levels")
    older = run_of(judge, candidate, [i % 4 for i in range(N_CASES)], finished_at=timezone.now() - timedelta(days=1))
    group = ExpertGroupFactory(benchmark=scale.benchmark, annotators=1)
    terms = ReadTerms("Read", readers=1, size=N_CASES, seed=1)
    make_read_batch(group=group, run=older, terms=terms, by=None, at=timezone.now())
    tasks = list(LabelTask.objects.filter(response__isnull=False).select_related("case"))
    submit(tasks, lambda task: LEVELS[int(task.case.key[1:]) % 4])
    newer = run_of(judge, candidate, [0] * N_CASES)
    why = "physicians read a sample drawn for another run, which is not a random sample of this run"
    for report in (finished(scale.benchmark, "acuity"), finished(scale.benchmark, "acuity_judge")):
        rows = chosen(csv_rows(csv_of(client, report, "powered")), candidate="P", measure="accuracy")
        names = ("n_judged", "n_read", "judge", "physicians", "powered", "power", "note")
        assert [rows[name] for name in names] == ["12", "12", "0.25", "", "", "", why]
        page = page_of(client, report)
        assert f'<span class="undefined" title="{why}">' in page
        assert (
            "A rate is undefined if, for some level read by the judge and the candidate, physicians read no response"
            in page
        )
    # Judge and physicians are compared all the same: the judge is right on three of twelve.
    exact = chosen(csv_rows(csv_of(client, report, "judge")), candidate="P", measure="exact")
    assert (exact["value"], exact["n_responses"]) == ("0.25", "12")
    # Each response was drawn with certainty, from the strata of the older run alone.
    chances = {run: [row[-1] for row in answer_rows(run)] for run in (older, newer)}
    assert chances == {older: [1.0] * N_CASES, newer: [None] * N_CASES}
