"""Parameters of reports: validated and completed before a report is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from agreement.calibration.thresholds import LARGEST_K
from agreement.models import NamedSlice
from agreement.scoreboard.case_sets import named_slices
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.selectors.raters import Rater, UnknownRater, require_verdicts, resolve_rater


class WrongParameters(DomainError):
    """The parameters do not make a report."""


def named_raters(benchmark: Benchmark, parameters: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The named raters by their full labels; `UnknownRater` where one is not there."""
    raters = [_named(benchmark, parameters, name) for name in names]
    require_verdicts(*raters)
    labels = {name: rater.label for name, rater in zip(names, raters, strict=True)}
    if len(set(labels.values())) != len(labels):
        raise WrongParameters(
            _("Choose different raters: a rater always agrees with itself."), field=f"parameters.{names[-1]}"
        )
    return labels


def _named(benchmark: Benchmark, parameters: Mapping[str, Any], name: str) -> Rater:
    """The rater that one parameter names; an error names the parameter."""
    given = parameters.get(name)
    if not isinstance(given, str) or not given.strip():
        raise WrongParameters(_("“%(name)s” is missing. Enter a rater.") % {"name": name}, field=f"parameters.{name}")
    try:
        return resolve_rater(benchmark, given)
    except UnknownRater as unknown:
        message = _("“%(name)s”: %(why)s") % {"name": name, "why": unknown}
        raise UnknownRater(message, field=f"parameters.{name}") from None


def chosen_subsets(benchmark: Benchmark, given: Any) -> list[str]:
    """The named slices by slug, in order; all on offer where none were named.

    They are stored with the report, so that computing it again gives the same tables, whatever slices were added since.
    """
    if given is None:
        return sorted(named_slices(benchmark).values_list("slug", flat=True))
    if not isinstance(given, list) or not all(isinstance(slug, str) for slug in given):
        raise WrongParameters(_("“subsets” must be a list of named slices."), field="parameters.subsets")
    known = set(NamedSlice.objects.filter(benchmark=benchmark, slug__in=given).values_list("slug", flat=True))
    unknown = sorted(set(given) - known)
    if unknown:
        raise WrongParameters(
            _("There is no slice named %(names)s.") % {"names": ", ".join(unknown)}, field="parameters.subsets"
        )
    return sorted(known)


def chosen_slices(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Whether there are figures by slice, and the named slices among them."""
    given = parameters.get("slices", False)
    if not isinstance(given, bool):
        raise WrongParameters(_("“slices” must be true or false."), field="parameters.slices")
    if not given:
        if parameters.get("subsets"):
            raise WrongParameters(_("“subsets” requires “slices”."), field="parameters.subsets")
        return {"slices": False, "subsets": []}
    return {"slices": True, "subsets": chosen_subsets(benchmark, parameters.get("subsets"))}


def chosen_flag(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A parameter that asks for more slices; nothing where it does not, as in reports from before there was one."""
    given = parameters.get(name, False)
    if not isinstance(given, bool):
        raise WrongParameters(_("“%(name)s” must be true or false.") % {"name": name}, field=f"parameters.{name}")
    return {name: True} if given else {}


def checked_k(given: Any) -> int:
    """The threshold k, a whole number within its bounds."""
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= LARGEST_K:
        message = _("k must be a whole number from 1 to %(largest)s.") % {"largest": LARGEST_K}
        raise WrongParameters(message, field="parameters.k")
    return given
