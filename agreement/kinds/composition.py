"""What a benchmark, or a named slice of it, consists of; no rater takes part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.parameters import reference_set_of
from agreement.composition.dimensions import SINGLE, Dimension, counted_as, names_to_choose
from agreement.composition.inputs import CompositionData, Mask, read_composition, read_dimensions
from agreement.composition.tables import CompositionTables
from agreement.forms import ReportForm, choose
from agreement.kinds.composition_figures import figures
from agreement.kinds.composition_page import body, body_of_slice, dimension_label
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.models import NamedSlice, Report
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result
from agreement.scoreboard.case_sets import FIRST, GROUPED, named_slices
from annotation.models import ReferenceSet
from consilium.core.jobs import Progress, no_progress
from consilium.core.reasons import Reason
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark, Case

# What the cross table is of unless it is chosen: the first of each list in which cases differ.
USUAL_ROWS = (
    *(f"{kind}_group{FIRST}" for kind in GROUPED),
    *("theme", *(f"{kind}{FIRST}" for kind in GROUPED), "language", "reference"),
)
USUAL_COLUMNS = ("difficulty", "register", f"task_group{FIRST}", f"task{FIRST}", "language")


class CompositionForm(ReportForm):
    """A slice or all cases, and the two dimensions of the cross table."""

    subset = forms.ChoiceField(
        label=gettext_lazy("Cases"),
        required=False,
        help_text=gettext_lazy("A named slice is also compared with the other cases."),
    )
    row = forms.ChoiceField(label=gettext_lazy("Rows of the cross table"), required=False)
    column = forms.ChoiceField(label=gettext_lazy("Columns of the cross table"), required=False)
    interval = None  # type: ignore[assignment]  # Django's way to leave a field out: there is one rule
    field_order = ["subset", "row", "column", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        self.ready = Case.objects.included().filter(benchmark=benchmark).exists()
        slices = named_slices(benchmark).order_by("slug").values_list("slug", "title")
        choose(self, "subset", [("", _("All cases")), *slices])
        dimensions = read_dimensions(benchmark, _newest_set(benchmark)) if self.ready else {}
        names = [(name, dimension_label(name)) for name in names_to_choose(dimensions)]
        for field in ("row", "column"):
            choose(self, field, [("", _("Chosen automatically")), *names])
        self.fields["seed"].help_text = _("These figures involve no random sampling.")

    def parameters(self) -> dict[str, Any]:
        """An empty choice is no parameter."""
        return {name: value for name, value in super().parameters().items() if value}


def _newest_set(benchmark: Benchmark) -> ReferenceSet | None:
    sets = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale", "benchmark")
    return sets.order_by("-number").first()


def _reference_set(benchmark: Benchmark, number: Any) -> ReferenceSet | None:
    """The set of that number; None for a benchmark without reference levels."""
    return None if number is None else reference_set_of(benchmark, number)


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    number = parameters.get("reference_set")
    reference_set = _newest_set(benchmark) if number is None else reference_set_of(benchmark, number)
    subset = parameters.get("subset") or ""
    if subset and not (isinstance(subset, str) and _slice_called(benchmark, subset)):
        raise WrongParameters(_("There is no slice named %(names)s.") % {"names": subset}, field="parameters.subset")
    dimensions = read_dimensions(benchmark, reference_set)
    row = _dimension(dimensions, parameters.get("row"), "row", USUAL_ROWS, "")
    column = _dimension(dimensions, parameters.get("column"), "column", USUAL_COLUMNS, row)
    return {
        "subset": subset,
        "row": row,
        "column": column,
        "reference_set": reference_set.number if reference_set else None,
    }


def _slice_called(benchmark: Benchmark, slug: str) -> NamedSlice | None:
    return NamedSlice.objects.filter(benchmark=benchmark, slug=slug).first()


def _dimension(dimensions: Mapping[str, Dimension], given: Any, field: str, usual: tuple[str, ...], other: str) -> str:
    """The dimension that was asked for; else one of ``usual`` in which cases differ, and not ``other``."""
    if given:
        try:
            counted_as(dimensions, given)
        except (KeyError, AttributeError, TypeError):
            known = ", ".join(names_to_choose(dimensions))
            raise WrongParameters(
                _("“%(name)s” must be one of these dimensions: %(known)s.") % {"name": field, "known": known},
                field=f"parameters.{field}",
            ) from None
        return str(given)
    for name in (*usual, *dimensions):
        plain = name.removesuffix(FIRST)
        if plain in dimensions and len(dimensions[plain].values) > 1 and plain != other.removesuffix(FIRST):
            return name
    return next(iter(dimensions), "")


def compute(
    benchmark: Benchmark,
    *,
    subset: str = "",
    row: str = "",
    column: str = "",
    reference_set: int | None = None,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The cases of ``benchmark``, or of the slice ``subset``. Nothing is drawn: ``rule`` and ``seed`` play no part."""
    data, inside, n_left_out = _read(benchmark, subset, reference_set)
    if not inside.any():
        raise WrongParameters(_("There is no case to count."))
    progress(0.4)
    tables = CompositionTables(data, inside, row, column).tables()
    turns = data.dimensions["turns"].values_by_case
    single = sum(own == [SINGLE] for own, counts in zip(turns, inside.tolist(), strict=True) if counts)
    criteria, responses = data.criteria, data.responses
    facts = {
        "subset": subset,
        "subset_title": _title_of(benchmark, subset),
        "row": row,
        "column": column,
        "dimensions": list(data.dimensions),
        "n_cases": int(inside.sum()),
        "n_cases_all": len(data),
        "n_single_turn": single,
        "n_criteria": int(inside[criteria.case].sum()),
        "n_cases_with_criteria": len(np.unique(criteria.case[inside[criteria.case]])),
        "n_responses": int(inside[responses.case].sum()),
        "n_candidates": len(tables["responses"].rows),
        "reference_set": reference_set,
    }
    notes: list[str] = [Reason.SLICE_CASES_EXCLUDED(n=n_left_out)] if n_left_out else []
    return Result(tables=tables, facts=facts, notes=notes, digest=data.digest(inside))


def _read(benchmark: Benchmark, subset: str, reference_set: int | None) -> tuple[CompositionData, Mask, int]:
    """The cases, which of them are in the slice, and how many of the slice are excluded now."""
    data = read_composition(benchmark, _reference_set(benchmark, reference_set))
    if not subset:
        return data, np.ones(len(data), dtype=bool), 0
    named = _slice_called(benchmark, subset)
    if named is None:
        raise WrongParameters(_("There is no slice named %(names)s.") % {"names": subset})
    inside = data.inside(named.case_ids)
    return data, inside, len(named.case_ids) - int(inside.sum())


def _title_of(benchmark: Benchmark, subset: str) -> str:
    named = _slice_called(benchmark, subset) if subset else None
    return named.title if named else ""


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    if given.get("subset"):
        return _("Composition of the slice %(name)s") % {"name": given["subset"]}
    return _("Composition of all cases")


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    data, inside, _n_left_out = _read(benchmark, given.get("subset", ""), given.get("reference_set"))
    return data.digest(inside)


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    whole = f"the benchmark {report.benchmark.title}"
    of = f"the slice {facts['subset_title']} of {whole}" if facts["subset"] else whole
    criteria = next(row for row in table_of(report, "rubrics").dicts() if row["measure"] == "criteria")
    paragraphs = [
        f"{of[0].upper()}{of[1:]} has {counted(facts['n_cases'], 'case')}, {facts['n_single_turn']:,} of them with one "
        f"turn of the user, and {counted(facts['n_criteria'], 'criterion', 'criteria')} in current rubrics.",
        "A case with several labels of one kind counts for each of them; its first label is the first in the order in "
        "which its file or its author lists them, so that shares by first labels add up to 100%. Shares are of all "
        "cases, with those without a label in a row of their own.",
        "Lengths are in code points. Standard deviations are those of a sample, quartiles linear between order "
        "statistics (Hyndman and Fan 1996).",
    ]
    if criteria["n"]:
        paragraphs.append(
            f"A rubric has {criteria['minimum']:,} to {criteria['maximum']:,} criteria, {criteria['mean']:.1f} on "
            f"average, over the {counted(criteria['n'], 'case')} with one."
        )
    if "enrichment" in table_names(report):
        paragraphs.append(
            "The slice is compared with the other cases of the benchmark: the ratio of the two shares has Koopman’s "
            "95% score interval (Koopman 1984). Enrichment, the share in the slice over that in all cases, is a "
            "function of this ratio, and its interval has the same ends put through it. The intervals are not "
            "corrected for their number."
        )
    return paragraphs


KIND = Kind(
    value=Report.Kind.COMPOSITION,
    parameters=frozenset({"subset", "row", "column", "reference_set"}),
    complete=complete,
    compute=compute,
    title=title,
    form=CompositionForm,
    invitation=Invitation(
        gettext_lazy("Describe the cases"),
        gettext_lazy(
            "How many cases have each label, how long conversations are, how many criteria rubrics have, and how a "
            "named slice differs from the other cases. This report requires no decisions."
        ),
        gettext_lazy("There are no cases yet."),
    ),
    template="agreement/kinds/composition.html",
    body=body,
    body_of_slice=body_of_slice,
    figures=figures,
    methods=methods,
    digest=digest,
    interval_rules=(Report.Interval.JACKKNIFE,),
)
