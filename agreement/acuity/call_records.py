"""What the answers of candidates took: the recorded calls of the runs that asked for them, read from the database.

A forced choice is a step of a run that classifies; advice is the response that a step of a generating run became.
Latency is that of the call whose answer was kept, on cases of the main figures. Runs count that gave such an answer.
Money is that of all calls of these runs, on whatever cases, retries and failed ones too; an answer that was taken from
another run was paid there. What a judge's calls cost is no cost of a candidate.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from agreement.acuity.frontier_table import CallRecord
from agreement.acuity.inputs import AcuityInputs
from agreement.acuity.readings import IMPORTED
from annotation.models import ReferenceSet
from consilium.core.ratings import fetch_arrays
from consilium.core.reasons import Reason
from consilium.llm.meter import Allowance
from rubrics.models import Candidate
from rubrics.parsing.acuity_files import FORMATS
from scoring.models import PipelineRun
from scoring.models.classification import CLASSIFY

# The kept answers on some cases by candidate: 1 for advice, the run that asked, the latency of the call (-1: unknown).
_ANSWERS = """
    SELECT 0::int2, g.candidate_id::int8, s.run_id::int8, COALESCE(c.latency_ms, -1)::int8
    FROM scoring_pipelinestep s
    JOIN scoring_pipelinerun g ON g.id = s.run_id
    JOIN rubrics_case k ON k.id = s.case_id
    JOIN scoring_endpointcall c ON c.id = s.call_id
    WHERE s.run_id = ANY(%(runs)s) AND k.key = ANY(%(cases)s) AND k.excluded_at IS NULL
    UNION ALL
    SELECT 1::int2, a.candidate_id::int8, s.run_id::int8, COALESCE(c.latency_ms, -1)::int8
    FROM scoring_judgerunitem i
    JOIN scoring_judgerun j ON j.id = i.run_id
    JOIN rubrics_response a ON a.id = i.response_id
    JOIN rubrics_case k ON k.id = a.case_id
    JOIN scoring_generatedresponse d ON d.response_id = a.id
    JOIN scoring_pipelinestep s ON s.id = d.step_id
    JOIN scoring_endpointcall c ON c.id = s.call_id
    WHERE j.public_id = %(judge_run)s AND k.key = ANY(%(cases)s) AND k.excluded_at IS NULL
"""
_TYPES = {"a": "int2", "b": "int8", "c": "int8", "d": "int8"}
# The answers of each run that it paid for itself, on whatever cases.
_PAID = """
    SELECT s.run_id, count(*)
    FROM scoring_pipelinestep s JOIN scoring_endpointcall c ON c.id = s.call_id
    WHERE s.run_id = ANY(%(runs)s) AND c.run_id = s.run_id
    GROUP BY s.run_id
"""


def with_calls(inputs: AcuityInputs, reference_set: ReferenceSet) -> AcuityInputs:
    """The same with the calls behind each series, and a digest of both."""
    data = inputs.data
    series = {
        (data.candidate_of(i), format_): i
        for i, (_name, format_) in enumerate(data.series_names)
        if data.source_of(i) != IMPORTED
    }
    if not series:
        return inputs
    names = {name for name, _format in series}
    candidates = dict(
        Candidate.objects.filter(benchmark=reference_set.benchmark_id, name__in=names).values_list("pk", "name")
    )
    cases = [key for key, counts in zip(data.cases, data.counts.tolist(), strict=True) if counts]
    records = {
        series[candidates[candidate], format_]: record
        for (candidate, format_), record in _records(reference_set, candidates, cases, inputs).items()
        if (candidates.get(candidate), format_) in series
    }
    if not records:
        return inputs
    digest = hashlib.sha256(f"{inputs.digest} {sorted(records.items())}".encode()).hexdigest()
    return replace(inputs, digest=digest, calls=records)


def _records(
    reference_set: ReferenceSet, candidates: Mapping[int, str], cases: Sequence[str], inputs: AcuityInputs
) -> dict[tuple[int, str], CallRecord]:
    """By candidate and format."""
    classifying = PipelineRun.objects.filter(
        kind=CLASSIFY,
        benchmark=reference_set.benchmark_id,
        candidate__in=candidates,
        terms__scale=reference_set.scale_id,
        replay=False,
        imported=False,
    )
    judge_run = inputs.judge.address if inputs.judge else ""
    given = {"runs": list(classifying.values_list("pk", flat=True)), "cases": list(cases), "judge_run": judge_run}
    columns = fetch_arrays(f"SELECT * FROM ({_ANSWERS}) AS rows({', '.join(_TYPES)})", given, types=_TYPES)
    # A run without a counted answer, as on other cases, is none of the report's.
    runs: dict[tuple[int, str], set[int]] = defaultdict(set)
    latencies: dict[tuple[int, str], list[int]] = defaultdict(list)
    for is_chat, own, of_run, milliseconds in zip(*(column.tolist() for column in columns), strict=True):
        if own in candidates:
            runs[own, FORMATS[is_chat]].add(of_run)
            latencies[own, FORMATS[is_chat]].append(milliseconds)
    every = sorted({run for own in runs.values() for run in own})
    known = PipelineRun.objects.in_bulk(every)
    paid = paid_answers(every)
    prices = known_prices(known.values())
    return {
        key: record_of(sorted(latencies[key]), [known[run] for run in sorted(runs[key])], paid, prices) for key in runs
    }


def paid_answers(runs: Sequence[int]) -> dict[int, int]:
    """How many answers each run, by its id, paid for itself."""
    with connection.cursor() as cursor:
        cursor.execute(_PAID, {"runs": list(runs)})
        return dict(cursor.fetchall())


Price = tuple[float, float, str]  # of a million tokens in and out, in a currency


def _price_of(run: PipelineRun) -> Price | None:
    price_in, price_out = (float(run.config.get(name) or 0.0) for name in ("price_in", "price_out"))
    return (price_in, price_out, str(run.config.get("currency", ""))) if price_in or price_out else None


def known_prices(runs: Any) -> dict[tuple[str, ...], Price]:
    """The newest price of what runs asked, endpoint and model, for runs that asked the same and have no prices."""
    prices: dict[tuple[str, ...], Price] = {}
    for run in sorted(runs, key=lambda run: (run.created_at, run.pk)):
        price = _price_of(run)
        if price:
            prices[tuple(run.asks)] = price
    return prices


def record_of(
    latencies: list[int], runs: Sequence[PipelineRun], paid: Mapping[int, int], prices: Mapping[tuple[str, ...], Price]
) -> CallRecord:
    """What the answers of some runs took, by the latency of each (-1: unknown)."""
    own_prices = [_price_of(run) or (prices.get(tuple(run.asks)) if run.asks else None) for run in runs]
    record = CallRecord(
        n_answers=len(latencies),
        latencies=tuple(latency for latency in latencies if latency >= 0),
        n_calls=sum(run.calls for run in runs),
        n_estimated=sum(run.estimated_calls for run in runs),
        tokens_in=sum(run.tokens_in for run in runs),
        tokens_out=sum(run.tokens_out for run in runs),
        n_paid=sum(paid.get(run.pk, 0) for run in runs),
    )
    known = [price for price in own_prices if price]
    currencies = sorted({currency for _in, _out, currency in known})
    if len(known) < len(runs):
        return replace(record, why=Reason.NO_TOKEN_PRICE())
    if len(currencies) > 1:
        return replace(record, why=Reason.SEVERAL_CURRENCIES(names=", ".join(currencies)))
    if not record.n_paid:
        return replace(record, why=Reason.ANSWERS_OF_OTHER_RUNS())
    money = sum(
        Allowance(price_in=price_in, price_out=price_out).cost(run.tokens_in, run.tokens_out)
        for run, (price_in, price_out, _currency) in zip(runs, known, strict=True)
    )
    return replace(record, money=money, currency=currencies[0])
