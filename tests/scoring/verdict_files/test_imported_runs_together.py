"""Which runs a judge's name means: all its imported ones together, or its newest that was made here."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone, translation

from agreement.reports.stored import table_of
from agreement.selectors.rater_choices import rater_choices
from agreement.services import create_report
from agreement.services import run as run_report
from consilium.core import from_english as remarks
from consilium.core.ratings import Span
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Candidate, Response, Rubric
from scoring.judges.juries import jury_figures, jury_states
from scoring.judges.jury_services import create_jury
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from scoring.runs.selectors import coverage_notes, run_sets
from scoring.screening.services import ScreeningTerms, create_screening
from scoring.selectors.raters import resolve_rater
from tests.factories import BenchmarkRoleFactory, JudgeFactory, JudgeRunFactory, ResponseFactory, VerdictFactory
from tests.rubrics.versions.new_versions import reword
from tests.scoring.conftest import decide
from tests.scoring.scores.test_scores_command import judged
from tests.scoring.verdict_files.verdict_lists import Row, load, put_lines

M, N = Outcome.MET, Outcome.NOT_MET
OLDER = "older runs of J cover {n} than the runs that count (newest older run: {day})"


def rows(candidate: str, letters: str = "++-", cases: int = 4) -> list[Row]:
    words = {"+": "met", "-": "not_met"}
    return [
        {
            "case": f"case-{case}",
            "candidate": candidate,
            "criterion": place,
            "outcome": words[letter],
            "explanation": f"{candidate} {letters}",
        }
        for case in range(cases)
        for place, letter in enumerate(letters, start=1)
        if letter != " "
    ]


def command(paths: list[Path], **options: Any) -> str:
    out, err = StringIO(), StringIO()
    given = {"benchmark": "answered", "judge": "elsewhere", "stdout": out, "stderr": err, **options}
    call_command("import_verdicts", *map(str, paths), **given)
    return out.getvalue() + err.getvalue()


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def scores(folder: Path, rater: str = "elsewhere") -> dict[str, dict[str, str]]:
    """Rows of scores.csv over everything, by candidate."""
    call_command("scores", benchmark="answered", rater=rater, k=1, out=folder, stdout=StringIO())
    return {row["candidate"]: row for row in table(folder, "scores.csv") if row["slice"] == "overall_score"}


@pytest.fixture
def four(answered: Benchmark) -> Benchmark:
    """Four candidates with a response to each of four cases."""
    gamma = Candidate.objects.create(benchmark=answered, name="gamma")
    for case in answered.cases.order_by("pk"):
        ResponseFactory(case=case, candidate=gamma)
    return answered


CANDIDATES = {"alpha": "++-", "beta": "+--", "gamma": "-+-", "physician": "---"}
# Of +5, +3 and −4 points, in eighths.
SHARES = {"alpha": 8 / 8, "beta": 5 / 8, "gamma": 3 / 8, "physician": 0.0}


@pytest.mark.slow
def test_four_files_for_four_candidates_make_one_scoreboard(four: Benchmark, tmp_path: Path) -> None:
    paths = [put_lines(tmp_path / f"{name}.jsonl", rows(name, letters)) for name, letters in CANDIDATES.items()]
    output = command(paths)
    assert "runs: 4 created, 0 unchanged" in output
    assert "verdicts: 48 created, 0 unchanged" in output
    rows_by_candidate = scores(tmp_path)
    assert {name: float(row["rubric_score"]) for name, row in rows_by_candidate.items()} == pytest.approx(SHARES)
    assert {row["n_missing"] for row in rows_by_candidate.values()} == {"0"}
    assert not any("older runs" in row["note"] for row in rows_by_candidate.values())
    raters = table(tmp_path, "scores_raters.csv")
    assert {row["run"] for row in raters} == set(JudgeRun.objects.values_list("public_id", flat=True))
    again = command(paths)
    assert "runs: 0 created, 4 unchanged" in again


@pytest.mark.slow
def test_of_several_files_with_a_fault_in_one_nothing_is_imported(four: Benchmark, tmp_path: Path) -> None:
    paths = [put_lines(tmp_path / f"{name}.jsonl", rows(name)) for name in CANDIDATES]
    broken = rows("beta")
    broken[4]["outcome"] = "maybe"
    put_lines(paths[1], broken)
    err = StringIO()
    with pytest.raises(CommandError, match=r"beta\.jsonl: 1 fault refused, nothing was imported"):
        command(paths, stderr=err)
    assert f"{paths[1]}: line 5, outcome: “maybe” is not one of: met, not_met, invalid." in err.getvalue()
    assert not JudgeRun.objects.exists()
    with pytest.raises(CommandError, match="missing"):
        command([paths[0], tmp_path / "missing.jsonl"])
    assert not JudgeRun.objects.exists()


@pytest.mark.slow
def test_the_newest_verdict_counts_and_the_import_says_that_it_replaces(answered: Benchmark, tmp_path: Path) -> None:
    command([put_lines(tmp_path / "one.jsonl", rows("alpha", "+++"))])
    output = command([put_lines(tmp_path / "two.jsonl", rows("alpha", "-  ", cases=2))])
    assert "2 verdicts replace those imported earlier for this judge" in output
    ratings = resolve_rater(answered, "elsewhere").ratings()
    assert ratings.outcome.tolist() == [N, M, M, N, M, M, M, M, M, M, M, M]
    older, newer = JudgeRun.objects.order_by("pk").values_list("public_id", flat=True)
    assert len(resolve_rater(answered, f"run:{older}").ratings()) == 12
    assert len(resolve_rater(answered, f"run:{newer}").ratings()) == 2
    # Where a file says nothing of a criterion, it is missing only if no other file says it either.
    assert scores(tmp_path)["alpha"]["n_missing"] == "0"


@pytest.mark.slow
def test_exports_hold_what_counts(answered: Benchmark, tmp_path: Path) -> None:
    command([put_lines(tmp_path / "one.jsonl", rows("alpha", "+++") + rows("beta", "+--"))])
    command([put_lines(tmp_path / "two.jsonl", rows("alpha", "-++"))])
    common = {"benchmark": "answered", "rater": "elsewhere", "stdout": StringIO()}
    call_command("export_judgements", candidate="alpha", out=tmp_path / "j.json", **common)
    results = json.loads((tmp_path / "j.json").read_text())[0]["criteria_results"]
    assert [(result["criteria_met"], result["explanation"]) for result in results] == [
        (False, "alpha -++"),
        (True, "alpha -++"),
        (True, "alpha -++"),
    ]
    call_command("export_decisions", out=tmp_path / "d.csv", **common)
    decisions = Counter((row["candidate"], row["outcome"]) for row in table(tmp_path, "d.csv"))
    assert decisions == {
        ("alpha", "met"): 8,
        ("alpha", "not_met"): 4,
        ("beta", "met"): 4,
        ("beta", "not_met"): 8,
    }
    call_command(
        "release",
        benchmark="answered",
        out=tmp_path / "release",
        parts="verdicts",
        judge=["elsewhere"],
        stdout=StringIO(),
        stderr=StringIO(),
    )
    released = Counter((row["candidate"], row["outcome"]) for row in table(tmp_path / "release", "verdicts.csv"))
    assert released == decisions


@pytest.mark.slow
def test_a_jury_has_one_vote_of_a_judge_with_many_runs(answered: Benchmark, tmp_path: Path) -> None:
    command([put_lines(tmp_path / f"{name}.jsonl", rows(name, "+++")) for name in ("alpha", "beta")])
    load(put_lines(tmp_path / "b.jsonl", rows("alpha", "+--") + rows("beta", "---")), "answered", judge="B")
    load(put_lines(tmp_path / "c.jsonl", rows("alpha", "---") + rows("beta", "++-")), "answered", judge="C")
    rater = resolve_rater(answered, "jury:elsewhere+B+C")
    assert Counter(rater.ratings().outcome.tolist()) == {M: 4 + 8, N: 8 + 4}
    jury = create_jury(
        benchmark=answered, name="Panel", config={"members": ["elsewhere", "B", "C"], "rule": "majority"}, by=None
    )
    state = jury_states(answered, [jury])[jury.pk]
    assert (state.n_shared, state.waiting_for) == (24, [])
    figures = jury_figures(answered, jury)
    assert (figures.n_due, figures.n_missing, figures.n_shared) == (24, 0, 24)
    assert [(pair.name_a, pair.name_b, pair.n_shared) for pair in figures.pairwise] == [
        ("B", "C", 24),
        ("B", "elsewhere", 24),
        ("C", "elsewhere", 24),
    ]


@pytest.mark.slow
def test_a_report_goes_stale_with_a_further_import(answered: Benchmark, tmp_path: Path) -> None:
    decide(answered, "G", {(f"case-{n}", name): ["met"] * 3 for n in range(4) for name in ("alpha", "beta")})
    admin = BenchmarkRoleFactory(benchmark=answered, role="admin").user
    command([put_lines(tmp_path / "alpha.jsonl", rows("alpha"))])
    parameters = {"rater_a": "group:G", "rater_b": "elsewhere"}
    report = create_report(
        benchmark=answered, kind="agreement", parameters=parameters, seed=0, by=admin, at=timezone.now()
    )
    run_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert {row["slice"] for row in table_of(report, "candidates").dicts()} == {"all", "candidate:alpha"}
    command([put_lines(tmp_path / "beta.jsonl", rows("beta"))])
    client = Client()
    client.force_login(admin)
    fresh = client.get(f"/api/v1/benchmarks/answered/reports/{report.public_id}/freshness/").json()
    assert fresh["fresh"] is False
    assert "newer_run" in {change["what"] for change in fresh["changes"]}


@pytest.fixture
def shrunk(answered: Benchmark) -> Benchmark:
    """A judge that ran here twice: on two candidates, then on one response of one of them."""
    whole = {(f"case-{n}", name): ["met", "met", "not_met"] for n in range(4) for name in ("alpha", "beta")}
    older = judged(answered, whole)
    JudgeRun.objects.filter(pk=older.pk).update(
        created_at=timezone.now() - timedelta(days=9), finished_at=timezone.now() - timedelta(days=9)
    )
    newer = JudgeRunFactory(judge=older.judge)
    item = older.items.get(response__case__key="case-0", response__candidate__name="alpha")
    JudgeRunItem.objects.create(run=newer, response=item.response, rubric=item.rubric)
    for criterion in item.rubric.items.values_list("criterion", flat=True):
        VerdictFactory(run=newer, response=item.response, criterion_id=criterion, outcome="met")
    return answered


@pytest.mark.slow
def test_a_run_made_here_is_not_merged_and_the_older_one_that_holds_more_is_named(
    shrunk: Benchmark, tmp_path: Path
) -> None:
    note = OLDER.format(n="21 more pairs", day=f"{timezone.now() - timedelta(days=9):%Y-%m-%d}")
    rows_by_candidate = scores(tmp_path, "J")
    assert set(rows_by_candidate) == {"alpha"}
    assert rows_by_candidate["alpha"]["note"].endswith(note)
    older = JudgeRun.objects.earliest("finished_at")
    by_id = scores(tmp_path / "run", f"run:{older.public_id}")
    assert set(by_id) == {"alpha", "beta"}
    assert not any("older runs" in row["note"] for row in by_id.values())
    judge = next(offer for offer in rater_choices(shrunk) if offer.rater == "J")
    assert (judge.note, note in judge.choice) == (note, True)
    admin = BenchmarkRoleFactory(benchmark=shrunk, role="admin").user
    client = Client()
    client.force_login(admin)
    raters = {row["rater"]: row for row in client.get("/api/v1/benchmarks/answered/raters/").json()}
    assert raters["J"]["note"] == note
    assert "note" not in raters[f"run:{older.public_id}"]


@pytest.mark.slow
def test_reports_say_that_an_older_run_holds_more(shrunk: Benchmark) -> None:
    decide(shrunk, "G", {("case-0", "alpha"): ["met", "met", "not_met"]})
    decide(shrunk, "H", {("case-0", "alpha"): ["met", "not_met", "not_met"]})
    admin = BenchmarkRoleFactory(benchmark=shrunk, role="admin").user
    client = Client()
    client.force_login(admin)
    parameters_by_kind: dict[str, tuple[dict[str, Any], str]] = {
        "agreement": ({"rater_a": "group:G", "rater_b": "J"}, "agreement"),
        "fidelity": ({"judge": "J", "group_a": "group:G", "group_b": "group:H"}, "fidelity"),
        "scores": ({"rater": "J", "k": 1}, "scores"),
        "items": ({"rater_a": "group:G", "rater_b": "J"}, ""),
    }
    for kind, (parameters, name) in parameters_by_kind.items():
        report = create_report(benchmark=shrunk, kind=kind, parameters=parameters, seed=0, by=admin, at=timezone.now())
        run_report(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        assert report.status == "done", (kind, report.error)
        assert any("cover 21 more pairs" in note for note in report.result["notes"]), kind
        section = "scores" if kind == "scores" else "agreement"
        page = client.get(f"/b/answered/{section}/{report.public_id}/").content.decode()
        assert "cover 21 more pairs than the runs that count" in page, kind
        if name:
            assert "cover 21 more pairs" in table_of(report, name).dicts()[0]["note"], kind


@pytest.mark.slow
def test_the_note_counts_pairs_and_all_older_runs(answered: Benchmark, tmp_path: Path) -> None:
    """Two older runs, of three criteria and of two responses more; the newest asked one criterion of each response."""
    older = judged(answered, {(f"case-{n}", "alpha"): ["met", "met", "not_met"] for n in range(4)})
    second = judged(answered, {(f"case-{n}", "beta"): ["met", "met", "not_met"] for n in range(2)}, name="K")
    JudgeRun.objects.filter(pk=second.pk).update(judge=older.judge)
    day = datetime(2026, 1, 31, 20, 0, tzinfo=UTC)  # in Shanghai it is February
    for run, days in ((older, 9), (second, 0)):
        JudgeRun.objects.filter(pk=run.pk).update(
            created_at=day - timedelta(days=days), finished_at=day - timedelta(days=days)
        )
    newer = JudgeRunFactory(judge=older.judge)
    for item in older.items.all():
        (first, *_others) = item.rubric.items.order_by("position")
        JudgeRunItem.objects.create(
            run=newer, response=item.response, rubric=item.rubric, criteria=[first.criterion_id]
        )
        VerdictFactory(run=newer, response=item.response, criterion=first.criterion, outcome="met")
    note = OLDER.format(n="14 more pairs", day="2026-01-31")  # 4 · 2 + 2 · 3
    with timezone.override("Asia/Shanghai"):
        row = scores(tmp_path, "J")["alpha"]
    assert (row["n"], row["n_missing"]) == ("4", "0")
    assert row["note"].endswith(note)
    with translation.override("en"):
        assert next(offer for offer in rater_choices(answered) if offer.rater == "J").note == note
    assert any(pattern.fullmatch(note) for pattern, _template in remarks._patterns())
    single = note.replace("14 more pairs", "1 more pair")
    assert any(pattern.fullmatch(single) for pattern, _template in remarks._patterns())


@pytest.mark.slow
def test_criteria_of_an_earlier_rubric_are_no_loss(answered: Benchmark) -> None:
    older = judged(answered, {("case-0", "alpha"): ["met", "met", "not_met"]})
    JudgeRun.objects.update(finished_at=timezone.now() - timedelta(days=1))
    item = older.items.get()
    rubric = reword(item.response.case, 0)
    newer = JudgeRunFactory(judge=older.judge)
    JudgeRunItem.objects.create(run=newer, response=item.response, rubric=rubric)
    assert coverage_notes(run_sets(answered).values()) == []


@pytest.mark.slow
def test_commands_print_that_older_runs_cover_more(shrunk: Benchmark, tmp_path: Path) -> None:
    decide(shrunk, "G", {("case-0", "alpha"): ["met", "met", "not_met"]})
    common: dict[str, Any] = {"benchmark": "answered"}
    calls: dict[str, dict[str, Any]] = {
        "item_analysis": {"out": tmp_path / "i"},
        "label_budget": {"judge": "J", "reference": "group:G", "half_width": 0.05, "out": tmp_path / "b"},
        "export_judgements": {"rater": "J", "candidate": "alpha", "out": tmp_path / "j.json"},
        "export_decisions": {"rater": "J", "out": tmp_path / "d.csv"},
        "release": {"parts": "verdicts", "judge": ["J"], "out": tmp_path / "release"},
    }
    exports = ("export_judgements", "export_decisions", "release")
    for name, options in calls.items():
        out, err = StringIO(), StringIO()
        given = ["--rater=group:G", "--rater=J"] if name == "item_analysis" else []
        call_command(name, *given, **common, **options, stdout=out, stderr=err)
        assert "cover 21 more pairs" in (err if name in exports else out).getvalue(), name


@pytest.mark.slow
def test_a_screening_says_that_older_runs_cover_more(shrunk: Benchmark) -> None:
    admin = BenchmarkRoleFactory(benchmark=shrunk, role="admin").user
    terms = ScreeningTerms(title="First", rater="J", candidates=["alpha"], threshold=0.5, at_least=1)
    screening = create_screening(benchmark=shrunk, terms=terms, by=admin, at=timezone.now())
    client = Client()
    client.force_login(admin)
    page = client.get(f"/b/answered/screening/{screening.public_id}/").content.decode()
    assert "older runs of J cover 21 more pairs" in page


@pytest.mark.slow
def test_an_imported_run_without_verdicts_blocks_no_figure(answered: Benchmark, tmp_path: Path) -> None:
    command([put_lines(tmp_path / "one.jsonl", rows("alpha", "+++"))])
    judge = JudgeRun.objects.get().judge
    empty = JudgeRunFactory(judge=judge, imported=True)
    assert scores(tmp_path)["alpha"]["rubric_score"] == "0.5"
    with pytest.raises(CommandError, match="no verdicts yet"):
        scores(tmp_path / "run", f"run:{empty.public_id}")
    JudgeRunFactory(judge=JudgeFactory(benchmark=answered, name="silent", kind="imported"), imported=True)
    with pytest.raises(CommandError, match="no verdicts yet"):
        scores(tmp_path / "none", "silent")


def test_judges_without_names_need_one_query_for_their_replicates(
    answered: Benchmark, django_assert_num_queries: Any
) -> None:
    for name in ("A", "B", "C"):
        judge = JudgeFactory(benchmark=answered, name=name)
        JudgeRunFactory(judge=judge, replicates=3, snapshot={"config": {"aggregate": "mean" if name < "C" else "vote"}})
    with django_assert_num_queries(2):
        assert [judge.takes_mean for judge in run_sets(answered).values()] == [True, True, False]


@pytest.mark.slow
def test_an_excluded_case_is_no_loss(shrunk: Benchmark, tmp_path: Path) -> None:
    shrunk.cases.exclude(key="case-0").update(excluded_at=timezone.now(), exclusion="decision", exclusion_reason="Old.")
    assert "cover 3 more pairs than the runs that count" in scores(tmp_path, "J")["alpha"]["note"]


def test_verdicts_of_a_set_are_those_that_count(answered: Benchmark, tmp_path: Path) -> None:
    command([put_lines(tmp_path / "one.jsonl", rows("alpha", "+++", cases=1))])
    command([put_lines(tmp_path / "two.jsonl", rows("alpha", "- -", cases=1))])
    (judge,) = resolve_rater(answered, "elsewhere").judges
    counted = judge.verdicts().order_by("criterion").values_list("outcome", "explanation")
    assert list(counted) == [("not_met", "alpha - -"), ("met", "alpha +++"), ("not_met", "alpha - -")]
    assert Verdict.objects.count() == 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_runs_give_what_a_plain_count_gives(answered: Benchmark, seed: int) -> None:
    chance = random.Random(seed)
    judge = JudgeFactory(benchmark=answered, name="elsewhere", kind="imported")
    items = [
        (response, criterion)
        for response in Response.objects.filter(candidate__name="alpha").order_by("pk")
        for criterion in Rubric.objects.current().get(case=response.case).items.values_list("criterion", flat=True)
    ]
    newest: dict[tuple[int, int, int], str] = {}
    for _run in range(3):
        run = JudgeRunFactory(judge=judge, imported=True, replicates=3)
        for (response, criterion), replicate in product(items, range(3)):
            if chance.random() < 0.4:
                outcome = chance.choice(["met", "not_met", "invalid"])
                VerdictFactory(run=run, response=response, criterion_id=criterion, replicate=replicate, outcome=outcome)
                newest[response.pk, criterion, replicate] = outcome
    expected = {}
    for pair in {key[:2] for key in newest}:
        votes = Counter(outcome for key, outcome in newest.items() if key[:2] == pair)
        met, not_met = votes["met"], votes["not_met"]
        tie = Outcome.UNDECIDED if met else Outcome.INVALID
        expected[pair] = M if met > not_met else N if not_met > met else tie
    rater = resolve_rater(answered, "elsewhere")
    ratings = rater.ratings()
    pairs = zip(ratings.response.tolist(), ratings.criterion.tolist(), strict=True)
    outcomes = dict(zip(pairs, ratings.outcome.tolist(), strict=True))
    assert outcomes == expected
    counted = rater.judges[0].verdicts().values_list("response_id", "criterion_id", "replicate", "outcome")
    assert {tuple(row[:3]): row[3] for row in counted} == newest
    middle = sorted(response.pk for response, _criterion in items)[len(items) // 2]
    halves = [rater.ratings(Span(0, middle)), rater.ratings(Span(middle + 1, 2**31))]
    assert sum(map(len, halves)) == len(ratings)
