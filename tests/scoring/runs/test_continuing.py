"""Continuing a run after new versions of rubrics: which verdicts are kept, and which are requested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, Case
from scoring.models import JudgeRun, Verdict
from scoring.runs.continuing import consequences, continue_run, newer_versions
from scoring.runs.services import RunFrame, create_run
from scoring.scores.sheet import read_sheet
from scoring.selectors.raters import resolve_rater
from scoring.work.slice import work_on_slice
from tests.rubrics.versions.new_versions import publish_version, reword
from tests.scoring.conftest import Loopback, chat_judge
from tests.scoring.verdict_files.verdict_lists import load, put_lines

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def without_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring import tasks

    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: None)


def run_of(benchmark: Benchmark, judge: Any) -> JudgeRun:
    return work(create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now()))


def work(run: JudgeRun) -> JudgeRun:
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now)
    run.refresh_from_db()
    return run


def go_on(run: JudgeRun) -> JudgeRun:
    return continue_run(run=run, by=None, at=timezone.now())


def case_of(benchmark: Benchmark, number: int = 0) -> Case:
    return Case.objects.get(benchmark=benchmark, key=f"case-{number}")


def test_only_reworded_criteria_are_asked_again(answered: Benchmark, loopback: Loopback) -> None:
    run = run_of(answered, chat_judge(answered, loopback, prompt="clinconsensus"))
    assert newer_versions(run) is None
    with pytest.raises(DomainError):
        go_on(run)
    outcomes = {(v.response_id, v.criterion_id): v.outcome for v in run.verdicts.all()}
    case = case_of(answered)
    rubric = reword(case, 1)
    lacks = newer_versions(run)
    assert lacks is not None and (lacks.verdicts, lacks.responses) == (3, 3)
    (consequence,) = consequences(case, rubric)
    assert (consequence.stands, consequence.missing, consequence.responses) == (6, 3, 3)
    continuation = go_on(run)
    assert (continuation.status, continuation.carried, continuation.expected) == ("pending", 33, 36)
    assert (continuation.continues, continuation.snapshot) == (run, run.snapshot)
    with pytest.raises(Conflict):
        go_on(run)
    assert work(continuation).status == "finished"
    assert loopback.requests() == 36 + 3
    after = {(v.response_id, v.criterion_id): v.outcome for v in continuation.verdicts.all()}
    assert len(after) == 36 and len(outcomes.items() & after.items()) == 33
    assert resolve_rater(answered, continuation.judge.name).runs == (continuation,)
    sheet = read_sheet(answered, resolve_rater(answered, continuation.judge.name))
    assert set(sheet.criterion_ids.tolist()) >= set(rubric.items.values_list("criterion", flat=True))
    # What the old run said of the criterion that is gone counts nowhere.
    assert len(resolve_rater(answered, f"run:{run.public_id}").ratings()) == 33


def other_points(case: Case) -> None:
    publish_version(case, lambda items: [replace(items[0], points=items[0].points + 1), *items[1:]])


def test_points_matter_where_the_prompt_shows_them(answered: Benchmark, loopback: Loopback) -> None:
    shown = run_of(answered, chat_judge(answered, loopback, name="shown", prompt="healthbench"))
    hidden = run_of(answered, chat_judge(answered, loopback, name="hidden", prompt="clinconsensus"))
    other_points(case_of(answered))
    by_name = {run.judge.name: go_on(run) for run in (shown, hidden)}
    points = {name: (run.carried, run.status) for name, run in by_name.items()}
    expected = {
        run.judge.name: (33, "pending") if "{{points" in run.snapshot["template"]["user"] else (36, "finished")
        for run in (shown, hidden)
    }
    assert points == expected and {"pending", "finished"} == {status for _carried, status in points.values()}


def test_a_prompt_with_the_whole_rubric_is_asked_again_as_a_whole(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, prompt="clinconsensus", criteria_per_request="all")
    run = run_of(answered, judge)
    requests_before = loopback.requests()
    reword(case_of(answered), 2)
    continuation = go_on(run)
    assert (continuation.carried, continuation.expected) == (27, 36)
    assert work(continuation).status == "finished"
    assert loopback.requests() - requests_before == 3


def test_verdicts_made_elsewhere_go_by_their_text_and_the_page_says_what_is_missing(
    answered: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"case": f"case-{case}", "candidate": "alpha", "sample": 0, "criterion": place, "outcome": "met"}
        for case in range(4)
        for place in (1, 2, 3)
    ]
    load(put_lines(tmp_path / "v.jsonl", rows), "answered")
    run = JudgeRun.objects.get()
    reword(case_of(answered), 0)
    other_points(case_of(answered, 1))
    from tests.factories import BenchmarkRoleFactory

    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=answered).user)
    url = f"/b/answered/judges/runs/{run.public_id}/"
    assert client.get(url).context["newer"].imported
    assert client.post(f"{url}continue").status_code == 302
    continuation = JudgeRun.objects.get(continues=run)
    assert (continuation.status, continuation.carried, continuation.expected, continuation.imported) == (
        "finished",
        11,
        12,
        True,
    )
    assert (
        b"11 of 12 verdicts were carried over from the previous run"
        in client.get(f"/b/answered/judges/runs/{continuation.public_id}/").content
    )
    assert Verdict.objects.filter(run=run).count() == 12


def lines(*letters: str) -> list[dict[str, Any]]:
    """Rows on four responses of alpha: of each criterion that has a letter its verdict."""
    words = {"+": "met", "-": "not_met"}
    return [
        {"case": f"case-{case}", "candidate": "alpha", "criterion": place, "outcome": words[letter]}
        for case in range(4)
        for place, letter in enumerate(letters, start=1)
        if letter != " "
    ]


def test_verdicts_copied_from_an_older_imported_run_are_no_newer_than_it(answered: Benchmark, tmp_path: Path) -> None:
    load(put_lines(tmp_path / "one.jsonl", lines("+", "+", "+")), "answered")
    load(put_lines(tmp_path / "two.jsonl", lines("-", " ", " ")), "answered")
    case = case_of(answered)
    rubric = reword(case, 1)

    def counted() -> list[int]:
        return resolve_rater(answered, "elsewhere").ratings().outcome.tolist()

    expected = [0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]
    assert counted() == expected
    first, second = JudgeRun.objects.order_by("pk")
    # Each lacks the new criterion and is continued by itself.
    (before,) = consequences(case, rubric)
    assert (before.stands, before.missing, before.url) == (2, 1, "")
    addresses = {run.pk: f"/b/answered/judges/runs/{run.public_id}/" for run in (first, second)}
    assert [url for _label, url in before.links] == [addresses[second.pk], addresses[first.pk]]
    assert all(run.public_id in label for run, (label, _url) in zip((second, first), before.links, strict=True))
    from tests.factories import BenchmarkRoleFactory

    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=answered, role="admin").user)
    assert client.post(f"{addresses[first.pk]}continue").status_code == 302
    continuation = JudgeRun.objects.get(continues=first)
    assert (continuation.started_at, continuation.finished_at) == (first.started_at, first.finished_at)
    assert counted() == expected
    assert [run.pk for run in resolve_rater(answered, "elsewhere").runs] == [second.pk, continuation.pk, first.pk]
    (after,) = consequences(case, rubric)
    assert (after.url, after.links) == (addresses[second.pk], ())
