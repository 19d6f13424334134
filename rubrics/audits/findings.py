"""Results of an audit: defective cases, rates with bounds, and agreement of auditors.

Plain values in, figures out; no Django.

A case is **defective** where at least half of those who read it would revise or remove it; it is to be **removed**
where at least half would remove it; a question is **at fault** on it where at least half say so. A tie counts as a
defect: if two physicians differ, the case deserves a look.

Each rate has two intervals: the Clopper–Pearson interval of the rate at which cases like these are defective, and the
finite-population bounds of how many of the frame's cases are defective, which take into account how large a part of
them was read (`consilium.statistics.proportion`). Given their number, the drawn cases of a slice are a random sample
of the slice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.fleiss_kappa import fleiss_kappa
from consilium.statistics.proportion import exact_proportion, finite_population_bounds
from consilium.statistics.wilson import wilson_interval

SOUND, REVISE, REMOVE = OUTCOMES = ("sound", "revise", "remove")
NONE_READ = Reason.NO_CASE_READ()
ALONE = Reason.NO_CASE_READ_TWICE()


@dataclass(frozen=True, slots=True)
class AuditAnswers:
    """One auditor's finding on one case; ``answers`` are True where nothing is wrong."""

    case: str
    outcome: str
    answers: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the ``n`` cases that were read are what ``name`` says; ``in_frame`` cases could have been drawn.

    ``bounds`` are the least and the greatest number among the frame's cases; None where nothing was read.
    """

    name: str
    hits: int
    n: int
    in_frame: int
    figure: Figure
    wilson: tuple[float, float] | None
    bounds: tuple[int, int] | None


def rate_of(name: str, hits: int, n: int, in_frame: int) -> Rate:
    """A rate with all of its bounds."""
    if n == 0:
        return Rate(name, hits, n, in_frame, Undefined(NONE_READ), None, None)
    # Cases may have left the frame since the draw, but none that was read.
    bounds = finite_population_bounds(hits, n, max(n, in_frame))
    return Rate(name, hits, n, in_frame, exact_proportion(hits, n), wilson_interval(hits, n), bounds)


def outcomes_of(readings: Iterable[AuditAnswers]) -> dict[str, str]:
    """Case → its outcome."""
    by_case: defaultdict[str, list[str]] = defaultdict(list)
    for reading in readings:
        by_case[reading.case].append(reading.outcome)
    outcome_by_case = {}
    for case, outcomes in by_case.items():
        if _half(outcomes.count(REMOVE), len(outcomes)):
            outcome_by_case[case] = REMOVE
        else:
            outcome_by_case[case] = REVISE if _half(len(outcomes) - outcomes.count(SOUND), len(outcomes)) else SOUND
    return outcome_by_case


def _half(number: int, n: int) -> bool:
    return 2 * number >= n


def rates(
    readings: Sequence[AuditAnswers],
    *,
    questions: Sequence[str],
    in_frame: int,
    in_slices: Mapping[str, int],
    slices_of: Mapping[str, Sequence[str]],
) -> list[Rate]:
    """``defective`` first, then ``outcome:…``, ``question:…`` (at fault) and the defect rate of each slice.

    ``in_slices`` counts the frame's cases by slice, ``slices_of`` names those of each drawn case.
    """
    outcomes = outcomes_of(readings)
    n = len(outcomes)
    defective = {case for case, outcome in outcomes.items() if outcome != SOUND}
    figures = [rate_of("defective", len(defective), n, in_frame)]
    for outcome in OUTCOMES:
        figures.append(rate_of(f"outcome:{outcome}", list(outcomes.values()).count(outcome), n, in_frame))
    for question in questions:
        figures.append(rate_of(f"question:{question}", len(_at_fault(readings, question)), n, in_frame))
    for name, size in sorted(in_slices.items()):
        inside = [case for case in outcomes if name in slices_of.get(case, ())]
        figures.append(rate_of(name, len(defective.intersection(inside)), len(inside), size))
    return figures


def _at_fault(readings: Iterable[AuditAnswers], question: str) -> list[str]:
    by_case: defaultdict[str, list[bool]] = defaultdict(list)
    for reading in readings:
        if question in reading.answers:
            by_case[reading.case].append(reading.answers[question])
    return [case for case, sound in by_case.items() if _half(sound.count(False), len(sound))]


@dataclass(frozen=True, slots=True)
class AuditorAgreement:
    """How far auditors agree whether a case is sound: ``raw``, the share of pairs of readings that agree, and kappa."""

    n_cases: int  # read by two or more
    raw: Figure
    kappa: Figure


def agreement_of(readings: Sequence[AuditAnswers]) -> AuditorAgreement:
    """Agreement on cases that two or more auditors have read; Fleiss' kappa, since auditors may differ by case."""
    by_case: defaultdict[str, list[bool]] = defaultdict(list)
    for reading in readings:
        by_case[reading.case].append(reading.outcome == SOUND)
    several = [sound for sound in by_case.values() if len(sound) > 1]
    if not several:
        return AuditorAgreement(0, Undefined(ALONE), Undefined(ALONE))
    pairs = [first == other for sound in several for first, other in combinations(sound, 2)]
    kappa = fleiss_kappa([[sound.count(True), sound.count(False)] for sound in several])
    return AuditorAgreement(len(several), Estimate(sum(pairs) / len(pairs), len(pairs)), kappa)
