"""The parameters that reports on acuity share, checked; and how their pages name things."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agreement.acuity.inputs import candidates_with_readings
from agreement.acuity.level_judges import chosen_judge
from agreement.reports.parameters import WrongParameters
from annotation.models import ReferenceSet
from consilium.statistics.triage_cost import EXPONENT, RATIO
from rubrics.models import Benchmark

MAX_RATIO = 1000
MAX_GAMMA = 10
MAX_TITLE_NAMES = 3
# Whether cases between two levels are in the main figures.
EXCLUDE, INCLUDE = BOUNDARY = ("exclude", "include")


def finite_number(given: Any) -> float | None:
    """The number that was given; None for anything else, and for what is not finite."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def chosen_ratio(parameters: Mapping[str, Any]) -> float:
    """The price of a level too low over that of a level too high."""
    ratio = finite_number(parameters.get("ratio", RATIO))
    if ratio is None or not 0 < ratio <= MAX_RATIO:
        raise WrongParameters(
            _("“ratio” must be a number greater than 0 and at most %(most)s.") % {"most": MAX_RATIO},
            field="parameters.ratio",
        )
    return ratio


def chosen_gamma(parameters: Mapping[str, Any]) -> float:
    """The power of the levels in the cost."""
    gamma = finite_number(parameters.get("gamma", EXPONENT))
    if gamma is None or not 0 <= gamma <= MAX_GAMMA:
        raise WrongParameters(
            _("“gamma” must be a number from 0 to %(most)s.") % {"most": MAX_GAMMA}, field="parameters.gamma"
        )
    return gamma


def reference_set_of(benchmark: Benchmark, given: Any) -> ReferenceSet:
    """The set of that number; the newest where none is named."""
    sets = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale", "benchmark").order_by("-number")
    if given is None:
        newest = sets.first()
        if newest is None:
            raise WrongParameters(
                _("No reference set has been signed. Sign one first."), field="parameters.reference_set"
            )
        return newest
    if isinstance(given, bool) or not isinstance(given, int):
        raise WrongParameters(
            _("“reference_set” must be the number of a reference set."), field="parameters.reference_set"
        )
    known = list(sets.values_list("number", flat=True))
    if given not in known:
        raise WrongParameters(
            _("There is no reference set %(number)s. Available: %(known)s.")
            % {"number": given, "known": ", ".join(map(str, sorted(known))) or _("none signed yet")},
            field="parameters.reference_set",
        )
    return sets.get(number=given)


def chosen_candidates(reference_set: ReferenceSet, given: Any, judge: str) -> list[str]:
    """The candidates by name, in order; all that were asked about the cases of the set where none is named.

    Those whose responses ``judge`` has read are among them.
    """
    known = candidates_with_readings(reference_set, judge, originals=given is None)
    if given is None:
        if not known:
            raise WrongParameters(
                _("No candidate has readings for the cases of reference set %(number)s.")
                % {"number": reference_set.number},
                field="parameters.candidates",
            )
        return known
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise WrongParameters(_("“candidates” must be a list of candidate names."), field="parameters.candidates")
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise WrongParameters(
            _("These candidates have no readings for the cases of reference set %(number)s: %(names)s.")
            % {"number": reference_set.number, "names": ", ".join(unknown)},
            field="parameters.candidates",
        )
    return sorted(set(given))


def chosen_series(reference_set: ReferenceSet, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Set, candidates, and the judge whose readings stand beside theirs, where one has read responses."""
    judge = chosen_judge(reference_set, parameters.get("judge"))
    candidates = chosen_candidates(reference_set, parameters.get("candidates"), judge.get("judge", ""))
    return {"reference_set": reference_set.number, "candidates": candidates, **judge}


def chosen_boundary(parameters: Mapping[str, Any]) -> str:
    """Whether cases between two levels are in the main figures: ``exclude`` (the default) or ``include``."""
    given = parameters.get("boundary", EXCLUDE)
    if given not in BOUNDARY:
        raise WrongParameters(
            _("“boundary” must be one of: %(names)s.") % {"names": ", ".join(BOUNDARY)}, field="parameters.boundary"
        )
    return str(given)


def title_names(names: Sequence[str]) -> str:
    """The first candidates of a report, and how many more there are."""
    shown = ", ".join(names[:MAX_TITLE_NAMES])
    more = len(names) - MAX_TITLE_NAMES
    return _("%(names)s and %(n)s more") % {"names": shown, "n": more} if more > 0 else shown


def with_exponent(title: str, given: Mapping[str, Any]) -> str:
    """The title of a report, with the exponent of the level difference where it is not the default."""
    gamma = given.get("gamma", EXPONENT)
    if gamma == EXPONENT:
        return title
    return _("%(title)s, exponent %(exponent)s") % {"title": title, "exponent": f"{gamma:g}"}


def exponent_in_words(facts: Mapping[str, Any]) -> str:
    """The exponent of the level difference as a page states it; empty for a report that is older than the fact."""
    if "gamma" not in facts:
        return ""
    return _("Exponent of the level difference in the cost: %(exponent)s.") % {"exponent": f"{facts['gamma']:g}"}


def level_label(level: Mapping[str, str]) -> str:
    """The label of a level in the reader's language."""
    return level["label_zh" if (get_language() or "en").startswith("zh") else "label_en"]
