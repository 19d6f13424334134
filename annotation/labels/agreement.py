"""Agreement of physicians on a label question, over all its cases.

Plain values in, figures out; no Django. Answers: Krippendorff's alpha (ordinal for levels, else nominal) and, where
every case has as many answers, Fleiss' kappa. Certainties, 0 to 100: intraclass correlations, with intervals only where
they rest on at least ten cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, with_note
from consilium.statistics.fleiss_kappa import fleiss_kappa
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.intraclass_correlation import intraclass_correlations
from consilium.statistics.krippendorff_alpha import Level, krippendorff_alpha

MINIMUM_CASES = 10  # of an interval of an intraclass correlation
CORRELATIONS = {
    "icc1": "one",
    "icc2": "two",
    "icc3": "three",
    "icc1k": "one_mean",
    "icc2k": "two_mean",
    "icc3k": "three_mean",
}

Certainty = tuple[int, int, int]  # case, physician, certainty


def label_agreement(
    counts: Sequence[Sequence[int]], certainties: Sequence[Certainty], *, ordered: bool
) -> Iterator[tuple[str, Figure]]:
    """Names and figures: alpha, fleiss_kappa and, of levels, `CORRELATIONS`. ``counts`` of each case by option."""
    answered = [row for row in counts if sum(row)]
    yield "alpha", krippendorff_alpha(answered, Level.ORDINAL if ordered else Level.NOMINAL, rule=DEFAULT_RULE)
    yield "fleiss_kappa", fleiss_kappa(answered, rule=DEFAULT_RULE)
    if not ordered:
        return
    correlations = intraclass_correlations(
        [case for case, _, _ in certainties],
        [physician for _, physician, _ in certainties],
        [given for _, _, given in certainties],
    )
    for name, field in CORRELATIONS.items():
        yield name, _with_due_interval(getattr(correlations, field))


def _with_due_interval(figure: Figure) -> Figure:
    """The figure, without its interval where it rests on too few cases."""
    if not isinstance(figure, Estimate) or figure.low is None or figure.n >= MINIMUM_CASES:
        return figure
    return with_note(replace(figure, low=None, high=None), Reason.INTERVAL_CASES(cases=figure.n, needed=MINIMUM_CASES))
