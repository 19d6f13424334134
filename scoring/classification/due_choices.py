"""Which forced choices are due: every sample of every case with a text, except those that exist or are being asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Avg

from consilium.llm.acuity import choice_messages
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.models import AcuityScale, Benchmark, Candidate, Case
from scoring.classification.config import ClassificationConfig
from scoring.generation.due_responses import CaseFrame, about, cases_in
from scoring.models import AcuityReading, ClassificationRun, PipelineStep
from scoring.models.classification import CLASSIFY

# The settings that a reading depends on.
ASKED_BY = ("model", "ask", "confidence", "logprobs", "temperature", "top_p", "max_tokens", "seed", "order_seed")
# Ordered by sample, so that a run that is cut short has one answer to every case before it has two to any.
DUE = """
    SELECT c.id AS case_id, s.sample
    FROM unnest(%(cases)s::bigint[]) WITH ORDINALITY AS c (id, place)
    CROSS JOIN generate_series(0, %(samples)s - 1) AS s (sample)
    WHERE NOT EXISTS (
        SELECT 1 FROM scoring_acuityreading r WHERE r.case_id = c.id AND r.candidate_id = %(candidate)s
           AND r.scale_id = %(scale)s AND r.sample = s.sample AND r.pipeline_run_id IS NOT NULL
    ) AND NOT EXISTS (
        SELECT 1 FROM scoring_pipelinestep i JOIN scoring_pipelinerun g ON g.id = i.run_id
        WHERE i.case_id = c.id AND i.key = s.sample::text AND i.state = 'ready' AND g.kind = 'classify'
          AND g.candidate_id = %(candidate)s AND (g.terms ->> 'scale')::bigint = %(scale)s
          AND g.status = ANY(%(live)s) AND NOT g.replay
    )
    ORDER BY s.sample, c.place
"""


def due_parameters(
    cases: list[int], candidate: Candidate | None, scale: AcuityScale | None, samples: int
) -> dict[str, Any]:
    """The parameters of the query `DUE`."""
    return {
        "cases": cases,
        "candidate": candidate.pk if candidate else 0,
        "scale": scale.pk if scale else 0,
        "samples": samples,
        "live": [str(status) for status in ClassificationRun.LIVE],
    }


@dataclass(frozen=True, slots=True)
class ChoiceSize:
    """The size of a run that has not been made yet.

    ``tokens_out`` is estimated from ``estimated_from`` earlier answers of the model; without any, it is the maximum.
    ``cost_at_most`` is what its requests can cost if each answer is as long as it may be and none is asked again; None
    without prices. ``stubs``: cases of the benchmark without a text, which are left out.
    """

    cases: int
    calls: int
    existing: int
    stubs: int
    tokens_in: int
    tokens_out: int
    estimated_from: int = 0
    otherwise: int = 0
    cost_at_most: float | None = None
    currency: str = ""

    @property
    def most(self) -> bool:
        """Whether ``tokens_out`` is an upper bound and not an estimate."""
        return not self.estimated_from


def size_of(
    benchmark: Benchmark,
    candidate: Candidate | None,
    scale: AcuityScale | None,
    frame: CaseFrame,
    config: ClassificationConfig,
    *,
    samples: int,
) -> ChoiceSize:
    """Count and estimate; a fixed number of queries. ``scale`` is None where it is a starter not used yet."""
    cases = cases_in(benchmark, frame)
    params = due_parameters(cases, candidate, scale, samples)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT count(*), COALESCE(sum(octet_length(c.conversation::text)), 0)
            FROM ({DUE}) AS d JOIN rubrics_case c ON c.id = d.case_id
            """,
            params,
        )
        calls, written = cursor.fetchone()
    messages = choice_messages([], config.options, ask=config.ask, nonce="0" * 16, confidence=config.confidence)
    n_bytes = int(written) + calls * len(body_of(messages, config.parameters(0)))
    most_out = calls * config.max_tokens
    earlier = PipelineStep.objects.filter(
        run__kind=CLASSIFY,
        run__benchmark=benchmark,
        run__config__model=config.model,
        run__config__ask=config.ask,
        state=PipelineStep.State.DONE,
    ).exclude(tokens_out=None)
    mean = earlier.aggregate(mean=Avg("tokens_out"))["mean"]
    cost = config.allowance.cost(n_bytes / MIN_BYTES_PER_TOKEN, most_out) if config.priced else None
    return ChoiceSize(
        cases=len(cases),
        calls=int(calls),
        existing=len(cases) * samples - int(calls),
        stubs=n_stubs(benchmark),
        tokens_in=about(n_bytes / BYTES_PER_TOKEN),
        tokens_out=about(calls * mean if mean is not None else most_out),
        estimated_from=earlier.count() if mean is not None else 0,
        otherwise=n_asked_otherwise(candidate, scale, config),
        cost_at_most=cost,
        currency=config.currency,
    )


def n_stubs(benchmark: Benchmark) -> int:
    """The cases that are there without a text."""
    return Case.with_stubs.filter(benchmark=benchmark, is_stub=True).included().count()


def n_asked_otherwise(candidate: Candidate | None, scale: AcuityScale | None, config: ClassificationConfig) -> int:
    """How many readings of the candidate were asked for by other settings; all of a series should have the same."""
    if candidate is None or scale is None:
        return 0
    mine = AcuityReading.objects.filter(candidate=candidate, scale=scale, pipeline_run__isnull=False)
    same = {name: value for name, value in config.model_dump(mode="json").items() if name in ASKED_BY}
    alike = {f"pipeline_run__config__{name}": value for name, value in same.items()}
    return mine.count() - mine.filter(**alike).count()
