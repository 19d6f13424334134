"""An endpoint that misbehaves on purpose: every run ends, and each verdict is right, missing or invalid.

How it misbehaves is written in `bench/loopback_judge.py`. Whatever is *invalid* here says "met" to a reader who only
looks for the word, and whatever is *missing* was never an answer of the model's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from consilium.llm.endpoint import RetryPolicy
from rubrics.models import Benchmark, RubricItem
from scoring.judges import config as judge_config
from scoring.models import JudgeCall, JudgeRun, Verdict
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.scoring.conftest import Loopback, chat_judge

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

POINTS = [5, 3, -4]
# Of the endpoints that never come to an end of their answer; the others have the time of a busy machine.
TIMEOUT_S, ANSWERED_WITHIN_S = 0.4, 60
# A question is tried again once where no answer came, or asked once more where the answer was none.
MAX_REQUESTS = 2

RIGHT = ("ok", "429", "500-once", "fenced", "surrogate")
INVALID = {
    "array": "not_an_object",
    "before": "not_json",
    "behind": "trailing_text",
    "content-filter": "refusal",
    "contradictory": "trailing_text",
    "cut-json": "not_json",
    "deep": "not_json",
    "duplicate-key": "duplicate_key",
    "empty": "empty",
    "endless": "too_large",
    "extra-field": "extra_field",
    "forged": "not_json",
    "forged-verdict": "not_json",
    "huge": "too_large",
    "length": "truncated",
    "list-true": "wrong_type",
    "long-number": "not_json",
    "missing-field": "missing_field",
    "nested": "missing_field",
    "no-explanation": "wrong_type",
    "nul": "nul",
    "null": "wrong_type",
    "one": "wrong_type",
    "parts": "empty",
    "python": "not_json",
    "refusal": "refusal",
    "refusal-too": "refusal",
    "string-false": "wrong_type",
    "string-true": "wrong_type",
    "thinking": "not_json",
    "tool-call": "empty",
    "two-fences": "trailing_text",
    "two-objects": "trailing_text",
    "wrong-fields": "missing_field",
    "zero": "wrong_type",
}
MISSING = {
    "204": "http_204",
    "400": "http_400",
    "401": "http_401",
    "429-forever": "http_429",
    "500": "http_5xx",
    "599": "http_5xx",
    "bomb": "envelope",
    "continues": "timeout",
    "cut": "disconnected",
    "cut-chunk": "disconnected",
    "drip": "timeout",
    "empty-body": "envelope",
    "garbage": "disconnected",
    "html": "envelope",
    "huge-header": "disconnected",
    "in-band-error": "envelope",
    "many-headers": "disconnected",
    "negative-length": "disconnected",
    "no-choices": "envelope",
    "not-utf-8": "envelope",
    "open-ended": "timeout",
    "redirect": "redirect",
    "silent": "disconnected",
    "slow": "timeout",
    "slow-headers": "timeout",
    "two-contents": "envelope",
    "two-lengths": "disconnected",
}
# Where all criteria of a response are asked about at once: an answer that is broken anywhere is none.
TOGETHER = {
    "array": "not_an_object",
    "fenced": "missing_field",  # one verdict, for all three
    "list-beyond": "wrong_numbers",
    "list-null": "wrong_type",
    "list-short": "wrong_numbers",
    "list-text": "wrong_type",
    "list-twice": "wrong_numbers",
    "two-objects": "trailing_text",
}


def work_to_the_end(run: JudgeRun) -> str:
    """Work as the worker and the sweep would, however long the run wants to wait in between."""
    at = timezone.now()
    try:
        for _ in range(30):
            run.refresh_from_db()
            if run.status not in JudgeRun.LIVE:
                return run.status
            work_on_slice(run.pk, 0, clock=lambda at=at: at)  # type: ignore[misc]
            at += timedelta(hours=1)
        return "did not end"
    finally:
        connection.close()


@pytest.fixture
def small_benchmark(loopback: Loopback, monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Benchmark:
    """One response and three criteria, one of them with negative points."""
    # A Retry-After is waited for up to a bound; here for less than a worker would.
    monkeypatch.setattr(judge_config, "RetryPolicy", functools.partial(RetryPolicy, longest_retry_after_s=0.05))
    monkeypatch.setattr("scoring.tasks.judge_slice.delay_on_commit", lambda *_: None)
    benchmark: Benchmark = BenchmarkFactory(slug="misbehaving")
    case = CaseFactory(benchmark=benchmark, rubric=POINTS)
    ResponseFactory(case=case, candidate=CandidateFactory(benchmark=benchmark))
    return benchmark


Seen = dict[str, tuple[str, dict[int, str], set[str]]]  # model → status, outcome by points, kinds of errors


def judged(benchmark: Benchmark, loopback: Loopback, models: Iterable[str], **config: Any) -> Seen:
    """Let a run with each of these models come to its end, some of them at once."""
    quick = {"attempts": 2, "re_asks": 1, "concurrency": 3, **config}
    runs: dict[str, JudgeRun] = {}
    for model in models:
        timeout_s = TIMEOUT_S if MISSING.get(model) == "timeout" else ANSWERED_WITHIN_S
        judge = chat_judge(benchmark, loopback, model, timeout_s=timeout_s, **quick)
        runs[model] = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())

    asked_before = loopback.requests()
    with ThreadPoolExecutor(8) as pool:
        ended = dict(zip(runs, pool.map(work_to_the_end, runs.values()), strict=True))
    questions = 1 if config.get("criteria_per_request") == "all" else len(POINTS)
    assert loopback.requests() - asked_before <= len(runs) * questions * MAX_REQUESTS
    points = dict(RubricItem.objects.values_list("criterion", "points"))
    seen = {}
    for model, run in runs.items():
        verdicts = Verdict.objects.filter(run=run).values_list("criterion", "outcome")
        outcomes = {points[criterion]: outcome for criterion, outcome in verdicts}
        kinds = set(JudgeCall.objects.filter(run=run).values_list("error_kind", flat=True))
        seen[model] = (ended[model], outcomes, kinds)
    return seen


def wrong(seen: Seen, status: str, outcome: str | None, kinds: dict[str, str]) -> Seen:
    """Those that did not end like this, with this outcome of all criteria: also of the one with negative points."""
    outcomes = {} if outcome is None else dict.fromkeys(POINTS, outcome)
    return {model: seen[model] for model, kind in kinds.items() if seen[model] != (status, outcomes, {kind})}


def test_every_run_ends_and_no_verdict_is_guessed(small_benchmark: Benchmark, loopback: Loopback) -> None:
    seen = judged(small_benchmark, loopback, [*RIGHT, *INVALID, *MISSING])
    assert wrong(seen, "finished", "met", {"fenced": "", "surrogate": ""}) == {}
    assert wrong(seen, "finished", "invalid", INVALID) == {}
    assert wrong(seen, "incomplete", None, MISSING) == {}
    for status, outcomes, kinds in (seen[model] for model in RIGHT):
        assert (status, set(outcomes), kinds) == ("finished", set(POINTS), {""})
        assert set(outcomes.values()) <= {"met", "not_met"}
    # What the model said is kept, where it said anything.
    silent = Verdict.objects.filter(outcome="invalid", call__raw="").values_list("run__judge__name", flat=True)
    assert set(silent) == {"judge empty"}


def test_an_answer_about_all_criteria_that_is_broken_anywhere_is_none(
    small_benchmark: Benchmark, loopback: Loopback
) -> None:
    seen = judged(small_benchmark, loopback, ["ok", "list-reversed", *TOGETHER], criteria_per_request="all")
    assert wrong(seen, "finished", "invalid", TOGETHER) == {}
    status, outcomes, kinds = seen["ok"]
    assert (status, set(outcomes), kinds) == ("finished", set(POINTS), {""})
    assert set(outcomes.values()) <= {"met", "not_met"}
    assert seen["list-reversed"] == seen["ok"]
    assert JudgeCall.objects.filter(run__judge__name="judge ok").count() == 1
