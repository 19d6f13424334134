"""Which responses are due: every sample of every case, except those that exist or are being requested."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection
from django.db.models import Avg, Q

from consilium.llm.meter import BYTES_PER_TOKEN
from rubrics.models import Benchmark, Candidate, Case, Response
from rubrics.selectors.lists import narrowed
from scoring.generation.config import GenerationConfig
from scoring.models import GenerationRun, PipelineStep
from scoring.models.generation import RESPONSES

FILTERS = ("tag", "difficulty", "register", "language")


@dataclass(frozen=True, slots=True)
class CaseFrame:
    """A filter of cases. ``cases``: how many of the matching ones are drawn by ``seed``; 0 for all."""

    tag: str = ""
    difficulty: str = ""
    register: str = ""
    language: str = ""
    cases: int = 0
    seed: int = 0

    def stored(self) -> dict[str, Any]:
        """The filter as JSON values, as a run stores it."""
        return asdict(self)


def frame_of(values: Mapping[str, Any]) -> CaseFrame:
    """The frame of stored or submitted values."""
    texts = {name: str(values.get(name) or "") for name in FILTERS}
    return CaseFrame(**texts, cases=int(values.get("cases") or 0), seed=int(values.get("seed") or 0))


def cases_in(benchmark: Benchmark, frame: CaseFrame) -> list[int]:
    """The ids of the frame's cases in the order of their keys, or of the draw.

    The draw uses keys and not ids, so that a seed draws the same cases in every database.
    """
    chosen = {name: getattr(frame, name) for name in FILTERS}
    rows = narrowed(Case.objects.filter(benchmark=benchmark).included(), chosen).values_list("key", "pk")
    ordered_rows = sorted(rows)
    if not frame.cases:
        return [pk for _key, pk in ordered_rows]
    drawn = sorted(ordered_rows, key=lambda row: hashlib.sha256(f"{frame.seed}\x1f{row[0]}".encode()).digest())
    return [pk for _key, pk in drawn[: frame.cases]]


# `rubrics.acuity.framings.is_bare`, as SQL on cases called c.
BARE = "jsonb_array_length(c.conversation) = 1 AND c.conversation -> 0 ->> 'role' = 'user'"
# Ordered by sample, so that a run that is cut short has one answer to every case before it has two to any.
DUE = """
    SELECT c.id AS case_id, s.sample
    FROM unnest(%(cases)s::bigint[]) WITH ORDINALITY AS c (id, place)
    CROSS JOIN generate_series(0, %(samples)s - 1) AS s (sample)
    WHERE NOT EXISTS (
        SELECT 1 FROM rubrics_response r WHERE r.case_id = c.id AND r.candidate_id = %(candidate)s
           AND r.setting = %(setting)s AND r.sample = s.sample
    ) AND NOT EXISTS (
        SELECT 1 FROM scoring_pipelinestep i JOIN scoring_pipelinerun g ON g.id = i.run_id
        WHERE i.case_id = c.id AND i.key = s.sample::text AND i.state = 'ready' AND g.kind = 'responses'
          AND g.candidate_id = %(candidate)s AND g.terms ->> 'setting' = %(setting)s AND g.status = ANY(%(live)s)
          AND NOT g.replay
    )
    ORDER BY s.sample, c.place
"""


def due_parameters(cases: list[int], candidate: Candidate | None, setting: str, samples: int) -> dict[str, Any]:
    """The parameters of the query `DUE`."""
    return {
        "cases": cases,
        "candidate": candidate.pk if candidate else 0,
        "setting": setting,
        "samples": samples,
        "live": [str(status) for status in GenerationRun.LIVE],
    }


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run that has not been made yet.

    ``tokens_out`` is estimated from ``estimated_from`` earlier answers of the model; without any, it is the maximum.
    """

    cases: int
    calls: int
    existing: int
    tokens_in: int
    tokens_out: int
    estimated_from: int = 0
    # Responses of this candidate that were generated with other settings, or imported from a file.
    otherwise: int = 0
    # Where the run has a framing: the cases that are due and are framed, and those that go as they are.
    framed: int = 0
    unframed: int = 0

    @property
    def most(self) -> bool:
        """Whether ``tokens_out`` is an upper bound and not an estimate."""
        return not self.estimated_from


def size_of(
    benchmark: Benchmark,
    candidate: Candidate | None,
    frame: CaseFrame,
    config: GenerationConfig,
    *,
    setting: str,
    samples: int,
) -> Size:
    """Count and estimate; a fixed number of queries."""
    cases = cases_in(benchmark, frame)
    params = due_parameters(cases, candidate, setting, samples)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT count(*), COALESCE(sum(octet_length(c.conversation::text)), 0), count(DISTINCT c.id),
                count(*) FILTER (WHERE {BARE}), count(DISTINCT c.id) FILTER (WHERE {BARE})
            FROM ({DUE}) AS d JOIN rubrics_case c ON c.id = d.case_id
            """,
            params,
        )
        calls, written, n_due, framed_calls, n_bare = cursor.fetchone()
    n_bytes = int(written) + calls * len(config.system_prompt.encode())
    if config.framing is not None:
        n_bytes += framed_calls * len(config.framing.text.encode())
    earlier = PipelineStep.objects.filter(
        run__kind=RESPONSES, run__benchmark=benchmark, run__config__model=config.model, state=PipelineStep.State.DONE
    ).exclude(tokens_out=None)
    mean = earlier.aggregate(mean=Avg("tokens_out"))["mean"]
    return Size(
        cases=len(cases),
        calls=int(calls),
        existing=len(cases) * samples - int(calls),
        tokens_in=about(n_bytes / BYTES_PER_TOKEN),
        tokens_out=about(calls * (mean if mean is not None else config.max_tokens)),
        estimated_from=earlier.count() if mean is not None else 0,
        otherwise=n_with_other_settings(candidate, config, setting) if candidate else 0,
        framed=0 if config.framing is None else int(n_bare),
        unframed=0 if config.framing is None else int(n_due - n_bare),
    )


def n_with_other_settings(candidate: Candidate, config: GenerationConfig, setting: str) -> int:
    """How many responses of the candidate have other settings; all responses of a candidate should have the same."""
    mine = Response.objects.filter(candidate=candidate, setting=setting)
    alike = Q(metadata__generation__settings=config.settings(framed=False))
    if config.framing is not None:
        framed = Q(metadata__generation__settings=config.settings(framed=True))
        alike = (alike & ~is_bare_case("case__")) | framed
    return mine.count() - mine.filter(alike).count()


def is_bare_case(path: str = "") -> Q:
    """`rubrics.acuity.framings.is_bare` as a condition; ``path`` leads to the case."""
    return Q(**{f"{path}conversation__0__role": "user", f"{path}conversation__1__isnull": True})


def about(number: float) -> int:
    """Round to three significant digits: more would suggest a precision that the estimate does not have."""
    return math.ceil(float(f"{number:.3g}"))
