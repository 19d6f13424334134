"""Exports a rater's verdicts on a candidate as ClinConsensus' list: one element for each case, in release order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.selectors.ratings import faulty_pairs, with_faulty
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Candidate, Case, Response, RubricItem
from scoring.models import JudgeRun
from scoring.selectors.raters import Rater, resolve_rater

CHUNK = 200
# Why a criterion is not in the list, as the summary says it.
LEFT_OUT = {
    Outcome.INVALID: Outcome.INVALID.word,
    Outcome.CANNOT_ASSESS: "cannot assess",
    Outcome.UNDECIDED: Outcome.UNDECIDED.word,
    Outcome.FAULTY: "at fault",
    Outcome.MISSING: Outcome.MISSING.word,
}
# (response, criterion, outcome) to the explanation of its rater.
Explanations = dict[tuple[int, int, str], str]


@dataclass
class JudgementExport:
    """The list of one rater, candidate and sample. The counts are complete once `elements` has run to its end.

    ``left_out`` counts criteria of responses by why they are not in the list; ``unanswered`` cases without a response.
    A criterion that an adjudicator found faulty on a response is left out whatever the rater decided, as in scores: a
    score computed from the list equals that of ``scores``.
    """

    benchmark: Benchmark
    rater: Rater
    candidate: Candidate
    sample: int = 0
    cases: int = 0
    written: int = 0
    unanswered: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def elements(self) -> Iterator[dict[str, Any]]:
        """One element for each case with a published rubric, in the order in which the cases were made."""
        faulty = faulty_pairs(self.benchmark)
        ratings = with_faulty(self.rater.ratings(), faulty)
        published = RubricItem.objects.filter(rubric__status="published", rubric__track="gold")
        cases = Case.objects.included().filter(benchmark=self.benchmark, pk__in=published.values("rubric__case"))
        last = 0
        while chunk := list(cases.filter(pk__gt=last).order_by("pk").values_list("pk", "key")[:CHUNK]):
            last = chunk[-1][0]
            yield from self._chunk(dict(chunk), published.filter(rubric__case__in=dict(chunk)), ratings, faulty)

    def _chunk(
        self, cases: dict[int, str], items: QuerySet[RubricItem], ratings: Ratings, faulty: Ratings
    ) -> Iterator[dict[str, Any]]:
        rubrics: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        columns = ("rubric__case_id", "criterion_id", "criterion__text")
        for case, criterion, text in items.order_by("position").values_list(*columns):
            rubrics[case].append((criterion, text))
        responses = self._responses(cases)
        explanations = self._explanations(responses.values())
        for case, key in cases.items():
            self.cases += 1
            response = responses.get(case)
            results = []
            if response is None:
                self.unanswered += 1
            else:
                criteria = [criterion for criterion, _text in rubrics[case]]
                outcomes = _outcomes(ratings, response, criteria)
                rulings = _outcomes(faulty, response, criteria)
                for (criterion, text), own, ruling in zip(rubrics[case], outcomes, rulings, strict=True):
                    # A faulty criterion without a verdict does not count as a missing verdict.
                    outcome = own if ruling is Outcome.MISSING else ruling
                    if outcome not in (Outcome.MET, Outcome.NOT_MET):
                        self.left_out[LEFT_OUT[outcome]] += 1
                        continue
                    explanation = explanations.get((response, criterion, outcome.word), "")
                    met = outcome is Outcome.MET
                    results.append({"criterion": text, "criteria_met": met, "explanation": explanation})
            self.written += len(results)
            yield {"case_id": key, "criteria_results": results}

    def _responses(self, cases: Iterable[int]) -> dict[int, int]:
        """The response to each case: that of the setting ``chat``, or of the first there is."""
        rows = Response.objects.filter(case__in=cases, candidate=self.candidate, sample=self.sample)
        responses: dict[int, int] = {}
        for case, pk, setting in rows.order_by("pk").values_list("case_id", "pk", "setting"):
            if setting == "chat" or case not in responses:
                responses[case] = pk
        return responses

    def _explanations(self, responses: Iterable[int]) -> Explanations:
        """The judge's explanation, or that of the first jury member with the same outcome; physicians give none."""
        columns = ("response_id", "criterion_id", "outcome", "explanation")
        explanations: Explanations = {}
        response_ids = list(responses)
        for judge in self.rater.judges:
            rows = judge.verdicts().filter(response__in=response_ids).exclude(explanation="")
            for response, criterion, outcome, words in rows.order_by("replicate").values_list(*columns):
                explanations.setdefault((response, criterion, outcome), words)
        return explanations


def _outcomes(ratings: Ratings, response: int, criteria: list[int]) -> list[Outcome]:
    """The outcome of each criterion of a response; MISSING where nothing was decided."""
    low, high = np.searchsorted(ratings.response, [response, response + 1])
    own = dict(zip(ratings.criterion[low:high].tolist(), ratings.outcome[low:high].tolist(), strict=True))
    return [Outcome(own.get(criterion, Outcome.MISSING)) for criterion in criteria]


def as_json(elements: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON list in pieces, an element a line."""
    before = "[\n"
    for element in elements:
        yield before + json.dumps(element, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def export_judgements(
    *, benchmark: Benchmark, rater: str, candidate: str, out: Path, sample: int = 0
) -> JudgementExport:
    """Write the verdicts of ``rater`` on ``candidate`` to ``out``: the whole file or none. `DomainError`, OSError."""
    chosen = Candidate.objects.filter(benchmark=benchmark, name=candidate).first()
    if chosen is None:
        raise DomainError(_("The candidate “%(name)s” does not exist in this benchmark.") % {"name": candidate})
    export = JudgementExport(benchmark, resolve_rater(benchmark, rater), chosen, sample)
    partial = out.with_name(out.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(as_json(export.elements()))
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return export


def samples_of(run: JudgeRun, candidate: Candidate) -> list[int]:
    """The samples of a candidate that a run is over."""
    judged = Response.objects.filter(pk__in=run.items.values("response"), candidate=candidate)
    return sorted(judged.order_by().values_list("sample", flat=True).distinct())


def run_judgements(run: JudgeRun, candidate: Candidate, sample: int) -> JudgementExport:
    """The list of a run's verdicts on a candidate."""
    return JudgementExport(run.benchmark, resolve_rater(run.benchmark, f"run:{run.public_id}"), candidate, sample)
