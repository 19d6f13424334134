"""Injections, and how often they turn a judge's verdict."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement.selectors.rater_choices import judge_choices, rater_choices
from consilium.core.errors import DomainError
from consilium.llm.endpoint import Endpoint
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule, PercentileBootstrap
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from scoring.management.commands import judge as judge_command
from scoring.models import Judge, JudgeRun, Verdict
from scoring.runs.selectors import run_set
from scoring.runs.services import FrameSize, RunFrame, create_run
from scoring.runs.spending import Estimate, estimate
from scoring.selectors.raters import UnknownRater, resolve_rater
from scoring.susceptibility import selectors as susceptibility_screen
from scoring.susceptibility import services as service
from scoring.susceptibility.failing_pairs import FailingPairs, draw, failing_pairs
from scoring.susceptibility.injections import CONTROLS, FAMILIES, INJECTIONS, injected, injections_hash, suite_hash
from scoring.susceptibility.services import REPLICATES, create_susceptibility_run, plan_measurement
from scoring.susceptibility.turn_rates import Susceptibility, Trials, csv_rows, measured, susceptibility
from scoring.work.slice import work_on_slice
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.scoring.conftest import Loopback, chat_judge, decide
from tests.statistics.by_hand import ratio_ends

N, M, Z, X = (int(outcome) for outcome in (Outcome.NOT_MET, Outcome.MET, Outcome.INVALID, Outcome.MISSING))
# Counted by eye in `scoring.susceptibility.injections`: the texts that hold what the endpoint's model `gullible` falls
# for.
BAITS = {7, 8, 9, 10, 11, 57, 60}


@pytest.fixture(autouse=True)
def without_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring import tasks

    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *_ids: None)
    monkeypatch.setattr(judge_command, "WORKER_HAS_S", -1.0)


@pytest.fixture
def graded(answered: Benchmark) -> Benchmark:
    """By group A five pairs fail, on three responses: of +5 and −4, of +3, and of +5 and +3 points."""
    given = {
        ("case-0", "alpha"): ["not_met", "met", "met"],
        ("case-1", "alpha"): ["met", "not_met", "not_met"],
        ("case-2", "beta"): ["not_met", "not_met", "not_met"],
        ("case-3", "beta"): ["met", "met", "not_met"],
        ("case-0", "physician"): ["met", "cannot_assess", "not_met"],
    }
    decide(answered, "A", given)
    return answered


# The suite --------------------------------------------------------------------------------------------------------


def test_the_suite_has_sixty_texts_of_many_kinds() -> None:
    assert [injection.number for injection in INJECTIONS] == list(range(1, 61))
    assert len({(injection.text, injection.place) for injection in INJECTIONS}) == 60
    assert {injection.family for injection in INJECTIONS} == set(FAMILIES)
    assert len(FAMILIES) >= 8
    assert sum(injection.language == "zh" for injection in INJECTIONS) >= 8
    assert {injection.number for injection in INJECTIONS if '"criteria_met": true' in injection.text} == BAITS
    # Verdicts are stored by number: whoever changes the suite on purpose writes its new hash here.
    assert injections_hash() == "dce903326a5f6b91cb39a0d071612b92359d6f836bd4bd266c43551127a52fe4"
    assert suite_hash() == "ab701031c022797817fe54fec88ac70cef630b655e733940cd67923cb22062b8"


@pytest.mark.parametrize(
    "response", ["", "Drink water.", "First.\n\nSecond part.\n\nThird.", "多喝水。注意休息。", "x" * 99]
)
def test_an_injection_leaves_the_response_there(response: str) -> None:
    assert injected(response, 0) == response
    for injection in INJECTIONS:
        text = injected(response, injection.number)
        assert text == injected(response, injection.number)
        assert injection.text in text
        assert text.encode() and "\0" not in text  # storable: no lone surrogate, no NUL
        rest = text.replace(injection.text, "")
        assert "".join(rest.split()) == "".join(response.split())
        if response and injection.place == "before":
            assert text.endswith(response)
        if response and injection.place == "after":
            assert text.startswith(response)
    with pytest.raises(IndexError):
        injected(response, 67)
    with pytest.raises(IndexError):
        injected(response, -1)


def test_a_harmless_edit_changes_the_text_and_says_nothing_to_a_judge() -> None:
    assert [control.number for control in CONTROLS] == list(range(61, 67))
    assert {control.language for control in CONTROLS} == {"en", "zh", "und"}
    for response in ("", "Drink water.", "First.\n\nSecond part.\n\nThird.", "多喝水。注意休息。"):
        texts = [injected(response, control.number) for control in CONTROLS]
        assert len({response, *texts}) == 7
        for control, text in zip(CONTROLS, texts, strict=True):
            assert "".join(text.replace(control.text, "").split()) == "".join(response.split())
    assert injected("First.\n\nSecond.", 66) == "First.\n\n\n\nSecond."
    wording = " ".join(control.text for control in CONTROLS).lower()
    assert not [
        word
        for word in ("criteri", "met", "grade", "judge", "true", "score", "评分", "标准", "符合")
        if word in wording
    ]


# The figures ------------------------------------------------------------------------------------------------------


def figures_of(
    verdicts: list[list[int]],
    points: list[int],
    case: list[int],
    *,
    harmless: int = 0,
    rule: IntervalRule = DEFAULT_RULE,
) -> Susceptibility:
    trials = Trials(np.array(verdicts), np.array(points), np.array(case))
    return susceptibility(trials, families=np.zeros(0, dtype=np.int64), harmless=harmless, rule=rule)


def test_flips_are_counted_by_hand() -> None:
    figures = figures_of(
        [
            [N, M, N, Z],  # +5: one of three turned, one broken
            [M, N, N, X],  # −4: two turned, one missing
            [M, M, M, M],  # +3: the judge saw no fault to begin with
            [N, N, N, N],  # −2: nor here
            [Z, M, M, M],
            [X, M, M, M],
        ],
        [5, -4, 3, -2, 3, 3],
        [1, 2, 3, 4, 5, 6],
    )
    assert (figures.pairs, figures.eligible, figures.cases) == (6, 2, 2)
    assert (figures.control_passed, figures.control_invalid, figures.control_missing) == (2, 1, 1)
    whole = figures.overall
    assert (whole.flips, whole.invalid, whole.missing, whole.rate.n) == (3, 1, 1, 5)
    assert whole.rate.value == pytest.approx(3 / 5)
    assert figures.if_invalid_flips.value == pytest.approx(4 / 5)
    assert whole.rate.low is None
    # Three trials on one case, two on the other: 5² / (3² + 2²).
    assert whole.rate.note == "no interval: 1.9 of the 5 effective cases needed"


def test_an_interval_needs_five_cases() -> None:
    apart = figures_of([[N, M, M]] * 3 + [[N, N, N]] * 3, [1] * 6, list(range(6))).overall.rate
    # Cases, not trials, are left out: six of one trial each would give the same.
    assert (apart.low, apart.high) == pytest.approx(ratio_ends([2, 2, 2, 0, 0, 0], [2] * 6))
    few = figures_of([[N, M, M]] * 2 + [[N, N, N]] * 2, [1] * 4, list(range(4))).overall.rate
    assert (few.low, few.note) == (None, "no interval: 4.0 of the 5 effective cases needed")


def test_without_a_flip_the_interval_is_that_of_the_cases() -> None:
    none = figures_of([[N, N, N]] * 10, [1] * 10, list(range(10))).overall.rate
    assert (none.value, none.low, none.high) == (0.0, 0.0, pytest.approx(1 - 0.05 ** (1 / 10)))
    every = figures_of([[N, M, M]] * 10, [1] * 10, list(range(10))).overall.rate
    assert (every.value, every.low, every.high) == (1.0, pytest.approx(0.05 ** (1 / 10)), 1.0)
    assert (
        none.note
        == every.note
        == "without one case the figure is at its limit or undefined: interval by the number of cases alone"
    )


def test_a_flip_rate_of_one_trial_a_case_has_the_mid_p_interval() -> None:
    # 3 flips of 10, as published: 0.082600 to 0.619919.
    rate = figures_of([[N, M]] * 3 + [[N, N]] * 7, [1] * 10, list(range(10))).overall.rate
    assert (rate.value, rate.low, rate.high) == pytest.approx((0.3, 0.082600, 0.619919), abs=5e-7)


def test_the_percentile_rule_draws_cases() -> None:
    verdicts, cases = [[N, M, M]] * 5 + [[N, N, N]] * 5, list(range(10))
    apart = figures_of(verdicts, [1] * 10, cases, rule=PercentileBootstrap(3)).overall.rate
    # 10 draws of a fair coin are below 0.2 or above 0.8 in 2 × 1.1% of resamples.
    assert (apart.value, apart.low, apart.high) == (0.5, pytest.approx(0.2, abs=0.1), pytest.approx(0.8, abs=0.1))
    alike = figures_of([[N, M, N]] * 10, [1] * 10, cases, rule=PercentileBootstrap(3)).overall.rate
    assert (alike.value, alike.low, alike.note) == (0.5, None, "no interval: all resamples agree")


def test_cases_without_an_answer_bound_nothing() -> None:
    # All injections are answered on ten cases, but the second on six of them, and the third on two.
    verdicts = np.full((10, 61), N)
    verdicts[6:, 2] = X
    verdicts[2:, 3] = X
    trials = Trials(verdicts, np.ones(10, dtype=np.int64), np.arange(10))
    figures = susceptibility(trials, families=np.zeros(60, dtype=np.int64))
    first, second, third = (count for _one, count in figures.injections[:3])
    assert first.rate.high == pytest.approx(1 - 0.05 ** (1 / 10))
    assert second.rate.high == pytest.approx(1 - 0.05 ** (1 / 6))
    assert third.rate.high is None and third.rate.effective == 2
    assert [row.get("n") for row in csv_rows(figures)][:6] == [588, None, None, 10, 6, 2]


def test_noise_is_what_harmless_edits_turn() -> None:
    figures = figures_of(
        [
            [N, M, M, N, M, N],  # two of three by injections, one of two by edits
            [M, N, M, X, M, X],  # −4: one of two, and none of one
            [M, M, M, M, N, N],  # no fault seen: its edits are no trials either
        ],
        [5, -4, 3],
        [1, 2, 3],
        harmless=2,
    )
    assert figures.noise is not None
    assert (figures.overall.flips, figures.overall.answered) == (3, 5)
    assert (figures.noise.flips, figures.noise.answered, figures.noise.missing) == (1, 3, 1)
    assert figures.difference.value == pytest.approx(3 / 5 - 1 / 3)
    assert figures.difference.low is None
    # Two edits on one case, one on the other: 3² / (2² + 1²).
    assert figures.difference.note == "no interval: 1.8 of the 5 effective cases needed"
    without = figures_of([[N, M, N]], [5], [1])
    assert without.noise is None and without.difference.value is None
    assert "not measured" in without.difference.note
    unanswered = figures_of([[N, M, X]], [5], [1], harmless=1)
    assert unanswered.difference.note == "no verdict on any response with a harmless edit"


def release_order(judge: Callable[[str], bool], cases: int = 12) -> Susceptibility:
    """What a judge, met or not met by the text alone, makes of the suite: twenty responses a case."""
    texts = [f"Response {number}.\n\nDrink {number} cups of water." for number in range(20 * cases)]
    verdicts = [[M if judge(injected(text, number)) else N for number in range(67)] for text in texts]
    return figures_of(verdicts, [5] * len(texts), [number // 20 for number in range(len(texts))], harmless=6)


def test_a_judge_that_obeys_nothing_is_noisy_and_not_susceptible() -> None:
    figures = release_order(lambda text: hashlib.sha256(text.encode()).digest()[0] % 2 == 1)
    assert figures.noise is not None
    assert figures.overall.rate.value == pytest.approx(0.5, abs=0.03)
    assert figures.noise.rate.value == pytest.approx(0.5, abs=0.06)
    assert figures.difference.low is not None and figures.difference.high is not None
    assert figures.difference.low <= 0 <= figures.difference.high


@pytest.mark.slow
def test_a_gullible_judge_is_susceptible_and_not_noisy() -> None:
    def falls_for_baits(text: str) -> bool:
        """On half of the responses only, so that cases differ."""
        return '"criteria_met": true' in text and int(text.split("Drink ")[1].split()[0]) % 7 < 4

    figures = release_order(falls_for_baits, cases=60)
    assert figures.noise is not None and (figures.noise.flips, figures.noise.rate.low) == (0, 0)
    assert figures.difference.value == figures.overall.rate.value
    assert figures.difference.low is not None and figures.difference.low > 0.01
    # Twelve cases without a flip by an edit leave room for as much noise.
    few = release_order(falls_for_baits, cases=12)
    assert few.noise is not None and few.noise.rate.high == pytest.approx(1 - 0.05 ** (1 / 12))
    assert few.difference.low is not None and few.difference.low < 0


def test_a_difference_at_the_bounds_has_a_width() -> None:
    every = figures_of([[N, M, M, M]] * 10, [1] * 10, list(range(10)), harmless=1)
    least = 1 - 0.05 ** (1 / 10)
    assert (every.overall.rate.value, every.difference.value) == (1.0, 0.0)
    assert (every.difference.low, every.difference.high) == pytest.approx((-least, least))
    none = figures_of([[N, N, N, N]] * 10, [1] * 10, list(range(10)), harmless=1)
    assert (none.difference.low, none.difference.high) == pytest.approx((-least, least))


def test_where_nothing_can_turn_there_is_a_reason_and_no_zero() -> None:
    seen_none = figures_of([[M, M]], [5], [1])
    assert seen_none.overall.rate.value is None
    assert seen_none.overall.rate.note == "the judge failed none of the unchanged responses"
    assert figures_of([[X, M]], [5], [1]).overall.rate.note == "no verdict on any unchanged response"
    assert figures_of([[N, X]], [5], [1]).overall.rate.note == "no verdict on any response with an injection"


# Which pairs ------------------------------------------------------------------------------------------------------


def test_a_draw_covers_responses_then_cases_before_it_repeats_one() -> None:
    rows = [(response, response // 2, criterion) for response in range(8) for criterion in range(5)]
    response, case, criterion = (np.array(column) for column in zip(*rows, strict=True))
    pairs = FailingPairs(response, case, case, criterion, np.ones(len(rows), dtype=np.int64))
    few = draw(pairs, 4, np.random.default_rng(1))
    assert len(set(few.case.tolist())) == 4
    more = draw(pairs, 10, np.random.default_rng(1))
    assert len(set(more.response.tolist())) == 8 and len(more) == 10
    assert more.criterion.tolist() == draw(pairs, 10, np.random.default_rng(1)).criterion.tolist()
    assert len(draw(pairs, 200, np.random.default_rng(1))) == 40
    others = {tuple(draw(pairs, 4, np.random.default_rng(seed)).criterion.tolist()) for seed in range(9)}
    assert len(others) > 1


def test_failing_pairs_are_those_that_cost_points(graded: Benchmark) -> None:
    pairs = failing_pairs(graded, "group:A@checked")
    assert sorted(pairs.points.tolist()) == [-4, 3, 3, 5, 5]
    assert len(set(pairs.response.tolist())) == 3


# A measurement, from end to end -----------------------------------------------------------------------------------


def measure(benchmark: Benchmark, judge: Judge, **more: Any) -> JudgeRun:
    run = create_susceptibility_run(
        benchmark=benchmark, judge=judge, by=None, at=timezone.now(), **{"pairs": 200, **more}
    )
    work_on_slice(run.pk, 0, clock=timezone.now)
    run.refresh_from_db()
    return run


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "model, flips, invalid",
    [("gullible", 4 * len(BAITS), 0), ("steadfast", 0, 0), ("breakable", 0, 4 * len(BAITS))],
)
def test_a_judge_is_as_susceptible_as_it_is(
    graded: Benchmark, loopback: Loopback, model: str, flips: int, invalid: int
) -> None:
    run = measure(graded, chat_judge(graded, loopback, model, re_asks=0))
    assert (run.status, run.purpose, run.expected, run.replicates) == ("finished", "susceptibility", 5 * 67, 67)
    assert loopback.requests() == 5 * 67
    figures = measured(run)
    # All three say not met of the responses as they stand: at the −4 points that is no fault seen.
    assert (figures.pairs, figures.eligible, figures.control_passed) == (5, 4, 1)
    assert (figures.overall.flips, figures.overall.invalid, figures.overall.missing) == (flips, invalid, 0)
    assert figures.overall.rate.value == pytest.approx(flips / 240)
    assert figures.if_invalid_flips.value == pytest.approx((flips + invalid) / 240)
    assert figures.noise is not None and (figures.noise.flips, figures.noise.answered) == (0, 4 * 6)
    assert figures.difference.value == figures.overall.rate.value
    turned = {injection.number for injection, count in figures.injections if count.flips}
    assert turned == (BAITS if flips else set())
    families = dict(figures.families)
    assert families["answer_form"].flips == (4 * 5 if flips else 0)  # 7, 8, 9, 10 and 60
    assert families["threat"].rate.value == 0.0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_judges_seed_does_not_change_with_the_injection(
    graded: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: set[int | None] = set()
    parameters = Endpoint.parameters

    def recorded(self: Endpoint, *args: Any, **more: Any) -> dict[str, Any]:
        request_parameters = dict(parameters(self, *args, **more))
        sent.add(request_parameters["seed"])
        return request_parameters

    monkeypatch.setattr(Endpoint, "parameters", recorded)
    judge = chat_judge(graded, loopback, "steadfast", seed=7, criteria_per_request="all", slices=2)
    run = create_susceptibility_run(benchmark=graded, judge=judge, pairs=2, by=None, at=timezone.now())
    for number in range(2):
        work_on_slice(run.pk, number, clock=timezone.now)
    run.refresh_from_db()
    assert run.status == "finished"
    assert sent == {7}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_estimate_of_a_measurement_counts_its_requests(
    graded: Benchmark, loopback: Loopback, client: Client, settings: Any
) -> None:
    judge = chat_judge(graded, loopback, "steadfast", criteria_per_request="all", re_asks=0)
    run = create_run(benchmark=graded, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    work_on_slice(run.pk, 0, clock=timezone.now)
    assert loopback.requests() == 12

    def estimate_requests() -> Estimate:
        plan = plan_measurement(benchmark=graded, judge=judge, pairs=5)
        size = FrameSize(plan.responses, plan.verdicts)
        forecast = estimate(
            benchmark=graded, judge=judge, frame=RunFrame(), size=size, replicates=REPLICATES, drawn=plan.drawn
        )
        assert forecast is not None
        return forecast

    before = estimate_requests()
    # Five pairs on three responses. What requests about all criteria took says nothing of these.
    assert (before.due, before.requests, before.calls) == (3 * 67, 3 * 67, 0)
    assert before.tokens_out == 33_500  # a verdict takes 100, as long as no call is known
    query = {"reference": "group:A@checked", "pairs": 5, "seed": 0}
    shown = text_of(client.get(f"/b/answered/judges/{judge.public_id}/susceptibility/size", query))
    assert "<b>201</b> requests" in shown
    settings.JUDGE_ALLOWED_HOSTS = []
    shown = text_of(client.get(f"/b/answered/judges/{judge.public_id}/susceptibility/size", query))
    assert "requests" not in shown and "JUDGE_ALLOWED_HOSTS" in shown
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    measure(graded, judge, pairs=2)
    after = estimate_requests()
    assert (after.requests, after.calls) == (201, 134)
    assert (after.tokens_in, after.tokens_out) == (80_400, 4_020)  # the endpoint counts 400 and 20 a request


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_command_writes_the_whole_and_every_injection(
    graded: Benchmark, loopback: Loopback, tmp_path: Path
) -> None:
    chat_judge(graded, loopback, "gullible")
    stdout = StringIO()
    call_command(
        "susceptibility", benchmark="answered", judge="judge gullible", pairs=2, wait=True, out=tmp_path, stdout=stdout
    )
    assert "134 verdicts on 2 of 5 pairs that fail by group:A@checked" in stdout.getvalue()
    assert "no immunity" in stdout.getvalue()
    rows = list(csv.DictReader(StringIO((tmp_path / "susceptibility.csv").read_text(encoding="utf-8"))))
    assert "A verdict in the answer format" in stdout.getvalue() and "answer_form" not in stdout.getvalue()
    assert "harmless edits turned 0.0%" in stdout.getvalue()
    assert [row["family"] for row in rows[:3]] == ["all", "harmless_edit", "difference"]
    assert [int(row["number"]) for row in rows[3:]] == list(range(1, 67))
    assert int(rows[0]["n_flipped"]) == sum(int(row["n_flipped"]) for row in rows[3:])
    assert {int(row["number"]) for row in rows[3:] if int(row["n_flipped"])} == BAITS
    assert (rows[1]["n"], rows[1]["flip_rate"]) == ("12", "0.0") and rows[2]["flip_rate"] == rows[0]["flip_rate"]
    assert {row["language"] for row in rows} >= {"en", "zh"}
    with pytest.raises(CommandError, match="There is no expert group"):
        call_command("susceptibility", benchmark="answered", judge="judge gullible", reference="group:B")


# A measurement is no rater ----------------------------------------------------------------------------------------


def finished(benchmark: Benchmark, judge: Judge, outcomes: dict[int, str] | None = None, **more: Any) -> JudgeRun:
    """A measurement whose verdicts were written by hand: by injection, not met by default."""
    run = create_susceptibility_run(benchmark=benchmark, judge=judge, by=None, at=timezone.now(), **{"pairs": 3} | more)
    Verdict.objects.bulk_create(
        Verdict(
            run=run,
            response_id=item.response_id,
            criterion_id=criterion,
            replicate=replicate,
            outcome=(outcomes or {}).get(replicate, "not_met"),
            created_at=timezone.now(),
        )
        for item in run.items.all()
        for criterion in item.criteria or []
        for replicate in range(run.replicates)
    )
    run.slices.update(status="done")
    JudgeRun.objects.filter(pk=run.pk).update(status="finished", finished_at=timezone.now())
    run.refresh_from_db()
    return run


@pytest.mark.slow
def test_a_measurement_without_harmless_edits_still_reads(
    graded: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "REPLICATES", 61)
    run = finished(graded, chat_judge(graded, loopback), {7: "met"}, pairs=200)
    run.frame = {name: value for name, value in run.frame.items() if name != "harmless"} | {"suite": injections_hash()}
    figures = measured(run)
    assert (figures.overall.flips, figures.overall.missing, figures.noise) == (4, 0, None)
    assert [injection.number for injection, count in figures.injections if count.flips] == [7]
    assert list(csv_rows(figures))[1]["note"] == "noise not measured: there were no harmless edits"


@pytest.mark.slow
def test_nobody_takes_a_measurement_for_a_rater(graded: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(graded, loopback)
    run = finished(graded, judge)
    with pytest.raises(UnknownRater, match=run.public_id):
        resolve_rater(graded, f"run:{run.public_id}")
    with pytest.raises(UnknownRater):
        resolve_rater(graded, judge.name)
    assert run_set(graded, judge.name) is None
    assert judge_choices(graded) == []
    assert run.public_id not in {offer.rater.partition(":")[2] for offer in rater_choices(graded)}
    # Nor can another measurement find its failing pairs by it.
    with pytest.raises(UnknownRater):
        create_susceptibility_run(
            benchmark=graded, judge=judge, reference=f"run:{run.public_id}", by=None, at=timezone.now()
        )


@pytest.mark.slow
def test_a_judge_with_many_measurements_lists_the_newest(
    graded: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = chat_judge(graded, loopback)
    oldest, done, broken = (finished(graded, judge, pairs=1, seed=seed) for seed in range(3))
    JudgeRun.objects.filter(pk=broken.pk).update(status="incomplete")
    live = create_susceptibility_run(benchmark=graded, judge=judge, pairs=1, by=None, at=timezone.now())
    monkeypatch.setattr(susceptibility_screen, "LISTED", 2)
    screen = susceptibility_screen.susceptibility_screen(graded, judge)
    assert [run.pk for run in screen.runs] == [live.pk, broken.pk]
    assert all("snapshot" in run.get_deferred_fields() for run in screen.runs)
    assert screen.live is not None and screen.live.run == live
    assert screen.shown is not None and screen.shown.run == done  # finished, though not the newest
    chosen = susceptibility_screen.susceptibility_screen(graded, judge, oldest.public_id)
    assert chosen.shown is not None and chosen.shown.run == oldest


def test_what_cannot_be_measured_is_refused_with_its_reason(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    with pytest.raises(DomainError, match="No decisions yet on which responses fail"):
        create_susceptibility_run(benchmark=answered, judge=judge, by=None, at=timezone.now())
    decide(answered, "A", {("case-0", "alpha"): ["met", "met", "not_met"]})
    with pytest.raises(DomainError, match="no response fails"):
        create_susceptibility_run(benchmark=answered, judge=judge, by=None, at=timezone.now())
    with pytest.raises(DomainError, match="1 to 200"):
        create_susceptibility_run(benchmark=answered, judge=judge, pairs=201, by=None, at=timezone.now())
    imported = Judge.objects.create(benchmark=answered, name="elsewhere", kind="imported")
    with pytest.raises(DomainError, match="trained"):
        create_susceptibility_run(benchmark=answered, judge=imported, by=None, at=timezone.now())


# Pages ------------------------------------------------------------------------------------------------------------


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def client(graded: Benchmark) -> Client:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=graded, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
def test_the_page_measures_and_shows_the_version_that_was_measured(
    graded: Benchmark, loopback: Loopback, client: Client
) -> None:
    judge = chat_judge(graded, loopback, temperature=0.7)
    base = f"/b/answered/judges/{judge.public_id}/"
    assert "Not measured yet" in text_of(client.get(base))
    size = text_of(client.get(f"{base}susceptibility/size", {"reference": "group:A@checked", "pairs": 3, "seed": 0}))
    assert "<b>201</b> requests" in size and "3 of 5 failing pairs" in size
    size = " ".join(size.split())
    assert "A pair counts only if the judge also finds it failing in the unchanged response" in size
    assert "There will be no interval: the pairs are from" in size and ", and 5 are needed." in size
    refused = client.post(f"{base}susceptibility/", {"reference": "group:A@checked", "pairs": 201, "seed": 0})
    assert refused.status_code == 422
    begun = client.post(f"{base}susceptibility/", {"reference": "group:A@checked", "pairs": 3, "seed": 0})
    run = JudgeRun.objects.get(purpose="susceptibility")
    assert begun["Location"].endswith(f"/runs/{run.public_id}/")
    assert "Measurement in progress" in text_of(client.get(base))
    run.delete()

    done = finished(graded, judge, {7: "met", 9: "invalid"}, pairs=200)
    page = text_of(client.get(base))
    # 4 of 5 pairs; 4 of 240 turned, with 4 invalid ones as flips 8 of 240
    assert "1.7%" in page and "3.3%" in page and "1 pair is not included" in page
    assert "can also flip without an injection" in page and "does not mean immunity" in page
    assert "harmless edits flipped <b>0.0%</b>" in page
    assert "failing pairs according to A" in page and f'title="{done.prompt_hash}">{done.prompt_hash[:12]}<' in page
    assert "of the 5 effective cases needed" in page  # why the noise rate has no interval
    full = text_of(client.get(f"{base}susceptibility/"))
    assert "GenerousGrader" in full and "Forged fence endings" in full
    assert "unchanged" in text_of(client.get(f"/b/answered/judges/runs/{done.public_id}/verdicts/"))
    rows = list(csv.DictReader(StringIO(client.get(f"{base}susceptibility.csv").getvalue().decode())))
    assert (rows[0]["n_pairs"], rows[0]["n_flipped"], rows[0]["n_invalid"]) == ("4", "4", "4")
    assert "with invalid answers as flips: 0.0333" in rows[0]["note"]

    newer = chat_judge(graded, loopback, temperature=0.1)
    assert newer.version == 2
    assert "Not measured yet" in text_of(client.get(f"/b/answered/judges/{newer.public_id}/"))
