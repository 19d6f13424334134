"""Composes the made-up candidates' responses out of the cases' sentences, so that the truth of each is known.

A response meets a criterion exactly when it contains the criterion's ``met_by`` sentence. How many criteria it meets
depends on the candidate's skill and the case's difficulty. Which criteria it meets depends on how easy each is (drawn
once a case) and on chance. Some of the other criteria are touched by their ``near_miss`` sentence.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from demo import PHYSICIAN_CANDIDATE
from demo.cases import DemoCase, DemoCriterion

# On the log-odds of coverage.
DIFFICULTY_SHIFT = {"low": 0.4, "medium": 0.0, "high": -0.4}


@dataclass(frozen=True)
class DemoCandidate:
    """A made-up candidate: its coverage of a case of medium difficulty, and how it writes.

    ``near_misses`` is the share of missed criteria that it touches all the same, where there is a sentence for it.
    """

    name: str
    kind: str  # model, physician
    coverage: float
    style: str  # prose, headed, bullets, terse
    near_misses: float
    sample: int = 0
    author: str = ""  # e-mail address of the physician who wrote it


CANDIDATES: tuple[DemoCandidate, ...] = (
    DemoCandidate("Aster-7B", "model", 0.50, "prose", 0.5),
    DemoCandidate("Borage-chat", "model", 0.62, "headed", 0.5),
    DemoCandidate("Comfrey-mini", "model", 0.30, "terse", 0.4),
    DemoCandidate("Dittany-L", "model", 0.41, "bullets", 0.5),
)
# Unaided physicians meet about 10 of 30 criteria; the exact hits are drawn in `_hits`.
PHYSICIANS: tuple[DemoCandidate, ...] = (
    DemoCandidate(PHYSICIAN_CANDIDATE, "physician", 0.345, "prose", 0.2, 0, "writer-1@example.org"),
    DemoCandidate(PHYSICIAN_CANDIDATE, "physician", 0.295, "terse", 0.2, 1, "writer-2@example.org"),
)


@dataclass(frozen=True)
class Span:
    """A quote and its place: code points ``start`` to ``end`` (exclusive) of the response's text."""

    quote: str
    start: int
    end: int


@dataclass(frozen=True)
class DemoResponse:
    """A composed response with its truth, in the order of the case's criteria.

    ``met_spans`` has the span of the satisfying sentence where the criterion is met, ``near_spans`` that of the near
    miss where there is one; None elsewhere.
    """

    case: str
    candidate: DemoCandidate
    text: str
    met_spans: tuple[Span | None, ...]
    near_spans: tuple[Span | None, ...]

    @property
    def key(self) -> str:
        """Names the response within the demo: case, candidate and sample."""
        return f"{self.case}/{self.candidate.name}/{self.candidate.sample}"

    @property
    def truth(self) -> tuple[bool, ...]:
        return tuple(span is not None for span in self.met_spans)


class _Page:
    """A text that is written part by part; `write` returns the place of each part."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    def write(self, text: str) -> Span:
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        return Span(text, start, self.length)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def _hits(candidate: DemoCandidate, case: DemoCase, rng: random.Random) -> int:
    odds = math.log(candidate.coverage / (1 - candidate.coverage)) + DIFFICULTY_SHIFT[case.difficulty]
    share = 1 / (1 + math.exp(-(odds + rng.gauss(0, 0.25))))
    return min(len(case.criteria), max(1, round(share * len(case.criteria))))


def _met(candidate: DemoCandidate, case: DemoCase, ease: Sequence[float], rng: random.Random) -> set[int]:
    """Which criteria are met: drawn without replacement, easier ones more often."""
    rank = {i: ease[i] - math.log(-math.log(rng.random())) for i in range(len(case.criteria))}
    return set(sorted(rank, key=lambda i: (-rank[i], i))[: _hits(candidate, case, rng)])


def compose(
    case: DemoCase, candidate: DemoCandidate, met: Iterable[int], touched: Iterable[int], rng: random.Random
) -> DemoResponse:
    """A coherent answer in the candidate's style: sentences by topic in the case's order, between fixed lines.

    ``met`` and ``touched`` are positions (from 0) of criteria that the answer satisfies and only touches.
    """
    met, touched = set(met), set(touched)
    met_spans: list[Span | None] = [None] * len(case.criteria)
    near_spans: list[Span | None] = [None] * len(case.criteria)
    page = _Page()

    def say(position: int) -> None:
        if position in met:
            met_spans[position] = page.write(case.criteria[position].met_by)
        else:
            near_spans[position] = page.write(case.criteria[position].near_miss)

    topics = _topics(case.criteria, met | touched)
    asides = list(case.asides)
    rng.shuffle(asides)
    if candidate.style != "terse":
        page.write(rng.choice(case.openings))
    number = 0
    for heading, positions in topics:
        if candidate.style == "headed":
            page.write(f"\n\n## {heading}\n\n")
        elif candidate.style == "bullets":
            page.write(f"\n\n**{heading}**\n")
        elif candidate.style == "prose":
            page.write("\n\n")
        for place, position in enumerate(positions):
            if candidate.style == "bullets":
                page.write("\n- ")
            elif candidate.style == "terse":
                number += 1
                page.write(f"{number}. " if number == 1 else f"\n{number}. ")
            elif place:
                page.write(case.joiner)
            say(position)
        if asides and (candidate.style == "headed" or (candidate.style == "prose" and rng.random() < 0.2)):
            page.write(case.joiner + asides.pop())
    if candidate.style != "terse":
        page.write("\n\n" + rng.choice(case.closings))
    return DemoResponse(case.key, candidate, page.text, tuple(met_spans), tuple(near_spans))


def _topics(criteria: Sequence[DemoCriterion], positions: set[int]) -> list[tuple[str, list[int]]]:
    topics: list[tuple[str, list[int]]] = []
    for position in sorted(positions):
        heading = criteria[position].heading
        if not topics or topics[-1][0] != heading:
            topics.append((heading, []))
        topics[-1][1].append(position)
    return topics


def compose_all(cases: Sequence[DemoCase], rng: random.Random) -> list[DemoResponse]:
    """Every candidate's and both physicians' response to every case; the same for the same ``rng`` state."""
    responses = []
    for case in cases:
        ease = [rng.gauss(0, 0.8) - (0.3 if item.near_miss else 0.0) for item in case.criteria]
        for candidate in (*CANDIDATES, *PHYSICIANS):
            met = _met(candidate, case, ease, rng)
            touched = {
                i
                for i, item in enumerate(case.criteria)
                if item.near_miss and i not in met and rng.random() < candidate.near_misses
            }
            responses.append(compose(case, candidate, met, touched, rng))
    return responses


def reference_answer(case: DemoCase) -> str:
    """An answer that meets every criterion, in headed paragraphs."""
    writer = DemoCandidate("reference", "reference", 1.0, "bullets", 0.0)
    return compose(case, writer, range(len(case.criteria)), (), random.Random(case.key)).text


def case_row(case: DemoCase) -> dict[str, Any]:
    """The case as one row of a ClinConsensus file, criteria as objects and the reference answer composed of all."""
    return {
        **{name: value for name, value in case.fields.items() if name != "language"},
        "rubrics": [{"criterion": item.text, "tags": [f"axis:{item.axis}"]} for item in case.criteria],
        "reference_answer": reference_answer(case),
    }
