"""What the filter of a batch names must be there: a misspelt name would silently leave out what it should name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.utils.translation import gettext as _

from consilium.core.errors import FaultsRefused, LineError
from rubrics.models import Benchmark, Candidate, Case


def refuse_unknown(
    benchmark: Benchmark,
    *,
    candidates: Sequence[str] = (),
    cases: Sequence[str] = (),
    tags: Sequence[str] = (),
    languages: Sequence[str] = (),
    prefix: str = "",
) -> None:
    """`FaultsRefused` names every candidate, case (by key), tag and language that the benchmark does not have.

    ``prefix`` is what the API has before the names of these fields. The line of a fault is the place in its list.
    """
    errors: list[LineError] = []

    def compare(field: str, names: Sequence[str], known: Collection[str], message: str) -> None:
        errors.extend(
            LineError(place, f"{prefix}{field}", message % {"name": name[:80]})
            for place, name in enumerate(names, start=1)
            if name not in known
        )

    if candidates:
        rows = Candidate.objects.filter(benchmark=benchmark).called(candidates).values_list("name", "public_id")
        known = {name for row in rows for name in row}
        compare("candidates", candidates, known, _("The candidate “%(name)s” does not exist in this benchmark."))
    every_case = Case.with_stubs.filter(benchmark=benchmark).order_by()
    if cases:
        known = set(every_case.filter(key__in=list(cases)).values_list("key", flat=True))
        compare("cases", cases, known, _("The case “%(name)s” does not exist in this benchmark."))
    if tags:
        known = {tag for row in every_case.values_list("tags", "label_tags") for some in row for tag in some}
        compare("tags", tags, known, _("No case of this benchmark has the tag “%(name)s”."))
    if languages:
        known = set(every_case.values_list("language", flat=True))
        compare("languages", languages, known, _("No case of this benchmark is in the language “%(name)s”."))
    if errors:
        raise FaultsRefused(errors, detail=" ".join(error.message for error in errors))
