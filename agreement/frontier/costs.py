"""What a response of each candidate costs, and what that figure rests on. No number is made up.

Responses that runs asked for cost what the calls of these runs cost (`agreement.acuity.call_records`): all calls, also
retries and failed ones, over the responses that they gave. If the runs have no price, their recorded tokens have that
of the candidate's attributes. Other responses cost their recorded tokens at the price of the attributes; without
recorded tokens there is no cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.call_records import known_prices, paid_answers, record_of
from agreement.acuity.frontier_table import CallRecord
from consilium.core.ratings import fetch_arrays
from consilium.core.reasons import Reason
from consilium.llm.meter import Allowance
from rubrics.models import Benchmark
from rubrics.services.attribute_values import AttributeValues
from scoring.models import PipelineRun

# What a cost rests on: the calls at the price of their runs, the calls at that of the attributes, recorded tokens.
CALLS, CALLS_LISTED, TOKENS = "calls", "calls_listed", "tokens"
# A response whose tokens are unknown.
UNKNOWN = -1
_TOKENS = """
    SELECT r.id::int8 AS response, {tokens_in} AS tokens_in, {tokens_out} AS tokens_out
    FROM rubrics_response r JOIN rubrics_case k ON k.id = r.case_id
    WHERE k.benchmark_id = %(benchmark)s AND (r.metadata ? 'usage' OR r.metadata ? 'tokens_out')
    ORDER BY r.id
"""
# Where metadata have a number of tokens, whole and without a sign.
_PLACES = {
    "tokens_in": ("tokens_in", "usage,prompt_tokens", "usage,input_tokens"),
    "tokens_out": ("tokens_out", "usage,completion_tokens", "usage,output_tokens"),
}
_RUNS = """
    SELECT d.response_id::int8 AS response, s.run_id::int8 AS run
    FROM scoring_generatedresponse d
    JOIN scoring_pipelinestep s ON s.id = d.step_id
    JOIN scoring_pipelinerun g ON g.id = s.run_id
    WHERE g.benchmark_id = %(benchmark)s ORDER BY d.response_id
"""


@dataclass(frozen=True)
class Cost:
    """Of one response, in ``currency``, by ``basis``; without ``value``, ``why`` says so.

    ``n`` responses have recorded calls or tokens; ``tokens_in`` and ``tokens_out`` are the mean numbers that the cost
    of a response rests on.
    """

    value: float | None = None
    basis: str = ""
    currency: str = ""
    n: int = 0
    tokens_in: float | None = None
    tokens_out: float | None = None
    n_estimated: int = 0
    why: str = ""


def _token_sql(name: str) -> str:
    texts = [f"substring(r.metadata #>> '{{{place}}}' from '^[0-9]{{1,9}}$')" for place in _PLACES[name]]
    return f"COALESCE({', '.join(texts)}, '{UNKNOWN}')::int8"


def read_costs(
    benchmark: Benchmark,
    attributes: Sequence[AttributeValues],
    response_ids: NDArray[np.int64],
    response_candidate: NDArray[np.int64],
) -> list[Cost]:
    """Of each candidate, whose responses have its place in ``attributes`` as ``response_candidate``."""
    of_response = {"response": "int8", "run": "int8"}
    response, run = fetch_arrays(_RUNS, {"benchmark": benchmark.pk}, types=of_response)
    with_tokens = _TOKENS.format(**{name: _token_sql(name) for name in _PLACES})
    types = {"response": "int8", "tokens_in": "int8", "tokens_out": "int8"}
    metered, tokens_in, tokens_out = fetch_arrays(with_tokens, {"benchmark": benchmark.pk}, types=types)
    runs = PipelineRun.objects.in_bulk(np.unique(run[np.isin(response, response_ids)]).tolist())
    paid = paid_answers(sorted(runs))
    # Runs that generate have no prices of their own: those of any run that asked the same model at the same endpoint.
    prices = known_prices(PipelineRun.objects.filter(benchmark=benchmark)) if runs else {}
    costs = []
    for place, known in enumerate(attributes):
        own = response_ids[response_candidate == place]
        by_runs = np.isin(response, own)
        if by_runs.any():
            behind = [runs[pk] for pk in np.unique(run[by_runs]).tolist()]
            record = record_of([UNKNOWN] * int(by_runs.sum()), behind, paid, prices)
            costs.append(_of_calls(record, known))
        else:
            counted = np.isin(metered, own) & (tokens_in != UNKNOWN) & (tokens_out != UNKNOWN)
            costs.append(_of_tokens(tokens_in[counted], tokens_out[counted], known))
    return costs


def _of_calls(record: CallRecord, known: AttributeValues) -> Cost:
    cost = Cost(n=record.n_answers, n_estimated=record.n_estimated, why=record.why)
    if not record.n_paid:
        return cost
    means: dict[str, Any] = {
        "tokens_in": record.tokens_in / record.n_paid,
        "tokens_out": record.tokens_out / record.n_paid,
    }
    shared = {"n": record.n_answers, "n_estimated": record.n_estimated, **means}
    if record.money is not None:
        return Cost(record.money / record.n_paid, CALLS, record.currency, **shared)
    listed = _listed(known)
    if record.why == Reason.NO_TOKEN_PRICE() and listed is not None:
        money = listed.cost(record.tokens_in, record.tokens_out)
        return Cost(money / record.n_paid, CALLS_LISTED, known.currency, **shared)
    return Cost(why=record.why, **shared)


def _of_tokens(tokens_in: NDArray[np.int64], tokens_out: NDArray[np.int64], known: AttributeValues) -> Cost:
    n = len(tokens_in)
    if not n:
        return Cost(why=Reason.NO_TOKENS_RECORDED())
    means: Mapping[str, Any] = {"n": n, "tokens_in": float(tokens_in.mean()), "tokens_out": float(tokens_out.mean())}
    listed = _listed(known)
    if listed is None:
        return Cost(why=Reason.NO_LISTED_PRICE(), **means)
    money = listed.cost(int(tokens_in.sum()), int(tokens_out.sum()))
    return Cost(money / n, TOKENS, known.currency, **means)


def _listed(known: AttributeValues) -> Allowance | None:
    """The prices of the attributes; None where one of the two is unknown."""
    if known.price_in is None or known.price_out is None:
        return None
    return Allowance(price_in=float(known.price_in), price_out=float(known.price_out))
