"""Costs of runs: what a run has spent, and an estimate before it begins."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from consilium.llm.meter import BYTES_PER_TOKEN, LIKELY_TOKENS_OUT, Allowance
from rubrics.models import Benchmark, Response, RubricItem
from scoring.judges.config import AskingConfig, ChatConfig, acuity_config, chat_config
from scoring.judges.prompt_previews import request_about
from scoring.models import Judge, JudgeCall, JudgeRun, RunSlice
from scoring.runs.services import FrameSize, RunFrame, frame_pairs, frame_responses
from scoring.susceptibility.failing_pairs import FailingPairs
from scoring.susceptibility.injections import injected
from scoring.work.levels import options_of, request_of

# How many responses' requests are composed to measure their length, if no call has been made yet.
SAMPLED = 30
# How many calls, the newest ones, the latency is averaged over.
CALLS_LOOKED_AT = 500


def time_words(seconds: float) -> str:
    """A duration in hours and minutes, in minutes, or in seconds, by its length."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("%(h)d h %(m)d min") % {"h": hours, "m": minutes}
    return _("%(m)d min") % {"m": minutes + (rest >= 30)} if minutes else _("%(s)d s") % {"s": rest}


def money_words(money: float, currency: str) -> str:
    """An amount with its currency; below one to four decimals, since single verdicts cost that little."""
    return f"{number_format(money, decimal_pos=2 if money >= 1 else 4, force_grouping=True)} {currency}"


@dataclass(frozen=True, slots=True)
class Spending:
    """A run's use of its endpoint. ``money`` is None where its judge had no prices."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated_calls: int = 0
    money: float | None = None
    currency: str = ""
    budget: float | None = None

    @property
    def cost(self) -> str:
        """The money as people read it; empty without prices."""
        return "" if self.money is None else money_words(self.money, self.currency)

    @property
    def most(self) -> str:
        """The budget as people read it; empty without one."""
        return "" if self.budget is None else money_words(self.budget, self.currency)


def spending_of(runs: Sequence[JudgeRun]) -> dict[int, Spending]:
    """What each of ``runs`` has spent so far, by its pk; one query."""
    sums: dict[int, Any] = {
        row["run"]: row
        for row in RunSlice.objects.filter(run__in=runs)
        .values("run")
        .annotate(*(Sum(name) for name in ("calls", "tokens_in", "tokens_out", "estimated_calls")))
    }
    return {run.pk: _spending(run, sums.get(run.pk, {})) for run in runs}


def _spending(run: JudgeRun, row: dict[str, Any]) -> Spending:
    config = run.snapshot.get("config", {})
    prices = Allowance(price_in=float(config.get("price_in", 0)), price_out=float(config.get("price_out", 0)))
    tokens_in, tokens_out = row.get("tokens_in__sum", 0), row.get("tokens_out__sum", 0)
    priced = prices.price_in > 0 or prices.price_out > 0
    return Spending(
        calls=row.get("calls__sum", 0),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        estimated_calls=row.get("estimated_calls__sum", 0),
        money=prices.cost(tokens_in, tokens_out) if priced else None,
        currency=str(config.get("currency", "")) if priced else "",
        budget=None if run.budget is None else float(run.budget),
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take, estimated from ``calls`` earlier calls, or if 0 from the length of ``sampled`` requests.

    ``due``: the number of requests without repetitions. ``money`` is None without prices; ``seconds`` is None if
    neither a latency nor a rate limit is known.
    """

    due: int
    requests: int
    tokens_in: int
    tokens_out: int
    money: float | None
    currency: str
    seconds: float | None
    calls: int
    sampled: int

    @property
    def cost(self) -> str:
        """The money as people read it; empty without prices."""
        return "" if self.money is None else money_words(self.money, self.currency)

    @property
    def time(self) -> str:
        """The time as people read it; empty where it is not known."""
        return "" if self.seconds is None else time_words(self.seconds)


@dataclass(frozen=True, slots=True)
class _PerRequest:
    """The averages of a due request; ``calls`` includes requests that had to be repeated."""

    calls: float
    tokens_in: float
    tokens_out: float
    latency_s: float | None = None
    seen: int = 0
    sampled: int = 0


def estimate(
    *,
    benchmark: Benchmark,
    judge: Judge,
    frame: RunFrame,
    size: FrameSize,
    replicates: int = 1,
    drawn: FailingPairs | None = None,
    edited: Sequence[int] = (),
) -> Estimate | None:
    """What a run of a chat judge would take; None if nothing is due, or the judge asks no endpoint.

    ``drawn``: the pairs of a measurement of susceptibility, whose replicates are the injections; ``frame`` is not read.
    ``edited``: likewise, the ids of the responses of such a measurement of a judge that reads levels.
    """
    if not judge.kind_info.asks_endpoint or not size.verdicts:
        return None
    if judge.kind_info.reads_levels:
        config: AskingConfig = acuity_config(judge.config)
        per = _from_calls(benchmark, config, purpose=JudgeRun.Purpose.ACUITY_EDITED) if edited else None
        per = per or _from_calls(benchmark, config, purpose=JudgeRun.Purpose.ACUITY)
        per = per or _from_level_lengths(judge, edited or frame_responses(benchmark=benchmark, frame=frame))
        return _estimate(config, size.verdicts, per)
    chat = config = chat_config(judge.config)
    due = size.responses * replicates if config.together else size.verdicts
    # If all criteria go into one request, a measurement of susceptibility is estimated from other measurements alone:
    # its requests have few criteria.
    measuring = drawn is not None and config.together
    per = _from_calls(
        benchmark, config, purpose=JudgeRun.Purpose.SUSCEPTIBILITY if measuring else JudgeRun.Purpose.GRADE
    )
    if per is None:
        chosen = _pairs_to_judge(benchmark, frame, drawn, replicates)
        per = _from_lengths(benchmark, chat, chosen, likely_out=LIKELY_TOKENS_OUT * size.verdicts / due)
    return _estimate(config, due, per)


def _estimate(config: AskingConfig, due: int, per: _PerRequest) -> Estimate:
    requests = math.ceil(round(per.calls * due, 6))
    tokens_in, tokens_out = per.tokens_in * due, per.tokens_out * due
    prices = Allowance(price_in=config.price_in, price_out=config.price_out)
    bounds = [
        *([requests * per.latency_s / config.concurrency] if per.latency_s is not None else []),
        *([60 * requests / config.requests_per_minute] if config.requests_per_minute else []),
        *([60 * (tokens_in + tokens_out) / config.tokens_per_minute] if config.tokens_per_minute else []),
    ]
    return Estimate(
        due=due,
        requests=requests,
        tokens_in=_about(tokens_in),
        tokens_out=_about(tokens_out),
        money=prices.cost(tokens_in, tokens_out) if config.priced else None,
        currency=config.currency if config.priced else "",
        seconds=max(bounds) if bounds else None,
        calls=per.seen,
        sampled=per.sampled,
    )


def _about(number: float) -> int:
    """Round to three significant digits: more would suggest a precision that the estimate does not have."""
    return int(float(f"{number:.3g}"))


def _from_calls(benchmark: Benchmark, config: AskingConfig, *, purpose: str) -> _PerRequest | None:
    """Averages of the newest run of this purpose on this benchmark that asked the same model in the same way."""
    names = ("endpoint", "model", "prompt", "system", "user", "criteria_per_request")
    same = {f"snapshot__config__{name}": getattr(config, name) for name in names if hasattr(config, name)}
    runs = JudgeRun.objects.filter(benchmark=benchmark, purpose=purpose, slices__calls__gt=0, **same)
    run = runs.order_by("-created_at", "-pk").first()
    if run is None:
        return None
    spent = spending_of([run])[run.pk]
    n_verdicts: float = run.n_results
    if not n_verdicts:
        return None
    if config.together:  # count requests instead of verdicts
        n_verdicts *= run.items.count() * run.replicates / run.expected
    newest = JudgeCall.objects.filter(run=run, latency_ms__isnull=False).order_by("-pk")[:CALLS_LOOKED_AT]
    latency = JudgeCall.objects.filter(pk__in=newest.values("pk")).aggregate(Avg("latency_ms"))["latency_ms__avg"]
    return _PerRequest(
        calls=spent.calls / n_verdicts,
        tokens_in=spent.tokens_in / n_verdicts,
        tokens_out=spent.tokens_out / n_verdicts,
        latency_s=None if latency is None else float(latency) / 1000,
        seen=spent.calls,
    )


@dataclass(frozen=True, slots=True)
class _SampledPair:
    """A response to judge; ``criteria`` None for all of its rubric, ``injection`` 0 for none."""

    response: int
    rubric: int
    criteria: frozenset[int] | None = None
    injection: int = 0


def _pairs_to_judge(
    benchmark: Benchmark, frame: RunFrame, drawn: FailingPairs | None, replicates: int
) -> list[_SampledPair]:
    """A few of the responses that would be judged."""
    chance = random.Random(0)
    if drawn is None:
        pairs = frame_pairs(benchmark=benchmark, frame=frame)
        return [_SampledPair(*pair) for pair in chance.sample(pairs, min(SAMPLED, len(pairs)))]
    criteria: dict[tuple[int, int], set[int]] = {}
    columns = (drawn.response.tolist(), drawn.rubric.tolist(), drawn.criterion.tolist())
    for response, rubric, criterion in zip(*columns, strict=True):
        criteria.setdefault((response, rubric), set()).add(criterion)
    due = [(pair, number) for pair in criteria for number in range(replicates)]
    chosen = chance.sample(due, min(SAMPLED, len(due)))
    return [_SampledPair(*pair, frozenset(criteria[pair]), number) for pair, number in chosen]


def _from_level_lengths(judge: Judge, ids: Sequence[int]) -> _PerRequest:
    """Averages of requests about the levels of a few of these responses, which are composed and not sent."""
    chosen = random.Random(0).sample(ids, min(SAMPLED, len(ids)))
    options = options_of(judge.scale.levels if judge.scale else [])
    responses = Response.objects.filter(pk__in=chosen).select_related("case")
    lengths = [len(json.dumps(request_of(row.case.conversation, row.text, options)[0])) for row in responses]
    return _PerRequest(
        calls=1,
        tokens_in=sum(lengths) / BYTES_PER_TOKEN / len(lengths),
        tokens_out=LIKELY_TOKENS_OUT,
        sampled=len(lengths),
    )


def _from_lengths(
    benchmark: Benchmark, config: ChatConfig, chosen: list[_SampledPair], *, likely_out: float
) -> _PerRequest:
    """Averages of requests about a few responses, which are composed and not sent."""
    template = config.template()
    responses = Response.objects.select_related("case").in_bulk([sample.response for sample in chosen])
    rows: dict[int, list[RubricItem]] = {}
    for row in RubricItem.objects.filter(rubric__in={sample.rubric for sample in chosen}).select_related("criterion"):
        rows.setdefault(row.rubric_id, []).append(row)
    written = requests = 0
    for sample in chosen:
        items = [row for row in rows[sample.rubric] if sample.criteria is None or row.criterion_id in sample.criteria]
        response = copy(responses[sample.response])
        if sample.injection:
            response.text = injected(response.text, sample.injection)
        for batch in [items] if config.together else [[item] for item in items]:
            messages, _code = request_about(template, response, batch, benchmark.rule_sheet, together=config.together)
            written += len(json.dumps(messages))
            requests += 1
    return _PerRequest(
        calls=1,
        tokens_in=written / BYTES_PER_TOKEN / requests,
        tokens_out=likely_out,
        sampled=len({sample.response for sample in chosen}),
    )
