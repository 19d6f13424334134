"""Whether the advice of candidates points to the right level of care, against a signed reference set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django import forms
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.call_records import with_calls
from agreement.acuity.crossing_tables import cases_of_cheapest
from agreement.acuity.frontier_table import FRONTIER_COLUMNS, frontier_rows
from agreement.acuity.frontier_table import TEXT_COLUMNS as FRONTIER_TEXT
from agreement.acuity.inputs import AcuityInputs, read_inputs
from agreement.acuity.level_judges import judge_methods
from agreement.acuity.measures import Price
from agreement.acuity.parameters import (
    EXCLUDE,
    INCLUDE,
    MAX_GAMMA,
    MAX_RATIO,
    chosen_boundary,
    chosen_gamma,
    chosen_ratio,
    chosen_series,
    reference_set_of,
    title_names,
    with_exponent,
)
from agreement.acuity.plan_facts import formats_of, plan_facts, plan_methods
from agreement.acuity.powered_advice import powered_tables, with_physicians
from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.acuity.reference_facts import reference_facts, reference_methods
from agreement.acuity.released_runs import release_methods
from agreement.acuity.report_tables import cost_tables, report_tables
from agreement.acuity.tables import everything, parts_of
from agreement.forms import ReportForm, choose
from agreement.kinds.acuity_figures import figures
from agreement.kinds.acuity_page import acuity_rows, body, body_of_slice, leading
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import cost_in_words, headline, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import chosen_slices
from agreement.reports.sentences import counted, difference, listed
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result
from annotation.models import ReferenceSet
from consilium.core.jobs import Progress, no_progress
from consilium.core.out_folder import OutTable
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from consilium.statistics.triage_cost import EXPONENT, RATIO
from rubrics.models import Benchmark, Candidate
from scoring.models import AcuityReading
from scoring.runs.selectors import level_runs

LEAST_RATIO = 0.001  # of the form: a browser knows no bound that is itself not allowed


class AcuityForm(ReportForm):
    """A reference set, candidates, a judge where there are several, and what errors cost."""

    may_be_empty = ("candidates", "judge", "boundary")

    reference_set = forms.TypedChoiceField(label=gettext_lazy("Reference set"), coerce=int)
    candidates = forms.MultipleChoiceField(
        label=gettext_lazy("Candidates"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("If none is chosen: all candidates with readings on the scale of the set."),
    )
    judge = forms.ChoiceField(
        label=gettext_lazy("Judge"),
        required=False,
        help_text=gettext_lazy(
            "If several judges have read the responses written to a patient: the judge whose readings count."
        ),
    )
    ratio = forms.FloatField(
        label=gettext_lazy("Relative cost of a level too low"),
        initial=RATIO,
        min_value=LEAST_RATIO,
        max_value=MAX_RATIO,
        error_messages={"min_value": gettext_lazy("Enter a number greater than 0: 0.001 or more.")},
        help_text=gettext_lazy("As a multiple of the cost of a level too high."),
    )
    gamma = forms.FloatField(
        label=gettext_lazy("Exponent of the level difference"),
        initial=EXPONENT,
        min_value=0,
        max_value=MAX_GAMMA,
        help_text=gettext_lazy(
            "1: the cost grows with the number of levels. 0: every error costs 1, whatever its size."
        ),
    )
    boundary = forms.ChoiceField(
        label=gettext_lazy("Cases between two levels"),
        choices=[
            (EXCLUDE, gettext_lazy("In a separate table")),
            (INCLUDE, gettext_lazy("Also in the main figures, with both levels counted as right")),
        ],
        initial=EXCLUDE,
        required=False,
    )
    slices = forms.BooleanField(
        label=gettext_lazy("Include slices"),
        required=False,
        initial=True,
        help_text=gettext_lazy(
            "Dataset, how a case was labelled, reference level, language, register, difficulty, tags, named slices."
        ),
    )
    field_order = ["reference_set", "ratio", "gamma", "candidates", "judge", "boundary", "slices", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        sets = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale")
        choose(self, "reference_set", [(row.number, f"{row.number} ({row.scale})") for row in sets])
        read = AcuityReading.objects.exclude(source=AcuityReading.Source.EDITED)
        candidates = Candidate.objects.filter(Exists(read.filter(candidate=OuterRef("pk"))), benchmark=benchmark)
        names = list(candidates.order_by("name").values_list("name", flat=True))
        choose(self, "candidates", [(name, name) for name in names])
        judges = {run.judge.name for scale in {row.scale for row in sets} for run in level_runs(scale)}
        if len(judges) > 1:
            newest = gettext_lazy("The judge whose run finished last")
            choose(self, "judge", [("", newest), *((name, name) for name in sorted(judges))])
        else:
            del self.fields["judge"]
        self.ready = bool(sets and names)

    def parameters(self) -> dict[str, Any]:
        """As `complete` takes them: without candidates where none was chosen."""
        # An empty choice is none: of candidates, of a judge, and of what becomes of boundary cases.
        return {name: own for name, own in super().parameters().items() if own or name not in self.may_be_empty}


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    reference_set = reference_set_of(benchmark, parameters.get("reference_set"))
    ratio = chosen_ratio(parameters)
    gamma = chosen_gamma(parameters)
    return {
        **chosen_series(reference_set, parameters),
        "ratio": ratio,
        "gamma": gamma,
        "boundary": chosen_boundary(parameters),
        **chosen_slices(benchmark, parameters),
    }


def read(benchmark: Benchmark, given: Parameters) -> AcuityInputs:
    """The inputs of a report with these parameters; `WrongParameters` where there is no such set."""
    reference_set = reference_set_of(benchmark, given["reference_set"])
    inputs = read_inputs(
        reference_set,
        given["candidates"],
        # A report that is older than these has none of them.
        judge=given.get("judge", ""),
        counts_boundary=given.get("boundary") == INCLUDE,
        slices=given.get("slices", False),
        subsets=given.get("subsets", ()),
    )
    return with_calls(with_physicians(inputs), reference_set)


def acuity_files(inputs: AcuityInputs, *, price: Price, rule: IntervalRule, seed: int) -> list[OutTable]:
    """All tables of a report, as files; those that files alone cannot give come last."""
    tables = report_tables(inputs.data, inputs.unusable, price=price, rule=rule)
    acuity = [row for table in tables if table.name == "acuity" for row in table.rows if isinstance(row, Mapping)]
    rows = frontier_rows(inputs.data, acuity, inputs.calls)
    return [
        *tables,
        *cost_tables(inputs.data, price=price, seed=seed),
        *powered_tables(inputs, price=price),
        OutTable("frontier", FRONTIER_COLUMNS, rows, FRONTIER_TEXT),
    ]


def compute(
    benchmark: Benchmark,
    *,
    reference_set: int,
    candidates: Sequence[str],
    ratio: float,
    gamma: float,
    judge: str = "",
    boundary: str = EXCLUDE,
    slices: bool = False,
    subsets: Sequence[str] = (),
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``acuity``. The seed is that of the resamples in which curves cross."""
    chosen = reference_set_of(benchmark, reference_set)
    given = {"candidates": candidates, "judge": judge, "boundary": boundary, "slices": slices, "subsets": subsets}
    inputs = read(benchmark, {"reference_set": reference_set, **given})
    progress(0.2)
    price = Price(ratio, gamma)
    tables = tables_of(acuity_files(inputs, price=price, rule=rule, seed=seed))
    best = leading(tables["acuity"].dicts())
    facts = {
        "reference_set": chosen.number,
        "set_digest": chosen.digest,
        "signed_at": f"{chosen.signed_at:%Y-%m-%d}",
        "datasets": chosen.datasets,
        "scale": str(chosen.scale),
        **reference_facts(chosen),
        **inputs.run_facts,
        **plan_facts(
            chosen,
            {"candidates": candidates, "judge": judge, "ratio": ratio, "gamma": gamma},
            formats=formats_of(inputs.data),
        ),
        "levels": [{name: level[name] for name in ("value", "label_en", "label_zh")} for level in chosen.scale.levels],
        "statuses": {
            status.name.lower(): int((inputs.data.status == int(status)).sum())
            for status in CaseStatus
            if status is not CaseStatus.EXCLUDED
        },
        "n_not_asked": int((~inputs.data.is_asked.any(axis=1)).sum()),
        "formats": list(dict.fromkeys(format_ for _candidate, format_ in inputs.data.series_names)),
        "ratio": ratio,
        "gamma": gamma,
        "boundary": boundary,
        "n_cases": len(everything(inputs.data).cases),
        "cheapest_cases": cases_of_cheapest(inputs.data, price),
        "n_unusable": len(inputs.unusable),
        "slices": [part.name for part in parts_of(inputs.data)],
        **({"headline": headline(best, "cost_all")} if best else {}),
        **interval_facts(rule, _effective(inputs.data)),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _effective(data: AcuityData) -> float | None:
    """The least number of effective cases behind a cost over everything asked."""
    planned = data.n_planned()[everything(data).cases].astype(np.float64)
    behind = [float(cases) for cases in effective_cases(planned) if cases > 0]
    return min(behind, default=None)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    named = _("Acuity of %(names)s, reference set %(number)s, %(ratio)s : 1") % {
        "names": title_names(given["candidates"]),
        "number": given["reference_set"],
        "ratio": f"{given['ratio']:g}",
    }
    named = with_exponent(named, given)
    if given.get("boundary") != INCLUDE:
        return named
    return _("%(title)s, with cases between two levels") % {"title": named}


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read(benchmark, given).digest


_STATUS_WORDS = {
    "boundary": "between two levels (in a table of their own)",
    "ambiguous": "ambiguous",
    "set_aside": "set aside, since more than half of the physicians could not tell",
    "without_reference": "without a reference",
}


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = [row for row in acuity_rows(report) if row["candidate"] != "all"]
    pooled = [row for row in rows if row["aggregate"] == "pooled"]
    names = sorted({row["candidate"] for row in pooled})
    states = {
        "n_refused": "refused", "n_no_level": "without a level", "n_several": "with several levels",
        "n_invalid": "unreadable", "n_missing": "missing",
    }  # fmt: skip
    lost = [f"{sum(row[name] for row in pooled):,} {words}" for name, words in states.items()]
    included = facts.get("boundary") == INCLUDE
    others = [
        f"{counted(n, 'case')} {words}"
        for status, words in _STATUS_WORDS.items()
        if (n := facts["statuses"][status]) and not (included and status == "boundary")
    ]
    n_boundary = facts["statuses"]["boundary"] if included else 0
    ratio, gamma = facts["ratio"], facts["gamma"]
    levels = " < ".join(level["value"] for level in facts["levels"])
    formats = listed({"qa": "a forced choice", "chat": "as to a patient"}[format_] for format_ in facts["formats"])
    return [
        f"The urgency that {counted(len(names), 'candidate')} ({listed(names)}) of the benchmark "
        f"{report.benchmark.title} advise, asked in {formats}, was compared with reference set "
        f"{facts['reference_set']}, signed on {facts['signed_at']}, on the scale {facts['scale']} ({levels}).",
        f"{counted(facts['n_cases'] - n_boundary, 'case')} with one clear level are in the main figures"
        + (
            f", and {counted(n_boundary, 'case')} between two levels, of which both are right; a level beyond them "
            "counts from the nearer one, and bias leaves these cases out"
            if n_boundary
            else ""
        )
        + (f"; excluded from them: {listed(others)}." if others else "."),
        f"There were {sum(row['n_readings'] for row in pooled):,} readings on them, "
        f"{sum(row['n_usable'] for row in pooled):,} of one level; {listed(lost)}. No level was ever assumed.",
        *reference_methods(facts),
        *judge_methods(facts),
        *_powered(report),
        *release_methods(facts),
        *plan_methods(facts),
        "Unless said otherwise each case counts 1, as the mean over its usable readings.",
        f"{cost_in_words(ratio, gamma)}; over everything asked, a reading that names no one level, or is missing, "
        "costs as much as the worst answer. "
        f"Candidates are ranked by that cost, each with the range of ranks that {_ranks(report)} leave open; "
        "candidates that share no case, or too few, are not compared with each other; the "
        "relative level index is that of Kopka et al. 2023.",
        "QWK is Cohen’s kappa with quadratic weights (Cohen 1968), alpha Krippendorff’s ordinal alpha; safety, "
        "comprehensiveness and inclination are those of Kopka et al. 2023.",
        "The interval of emergencies missed is Wilson’s, which takes readings for independent.",
        *_pairs(report),
        "Where the cost curves of two candidates cross was found on the cases of which both have a usable reading, "
        f"with resamples of cases (seed {report.seed}).",
    ]


def _ranks(report: Report) -> str:
    if report.interval == Report.Interval.JACKKNIFE:
        return "paired comparisons with Holm’s correction (Holm 1979)"
    return "resamples of cases"


def _powered(report: Report) -> list[str]:
    if "powered" not in table_names(report):
        return []
    return [
        "Beside the rates of these readings stand prediction-powered estimates (Angelopoulos et al. 2023), with "
        "responses weighted by the inverse of the share of their stratum, the judge’s level and the candidate, that "
        "was read; over responses with a level by the judge on cases with one clear level."
    ]


def _pairs(report: Report) -> list[str]:
    if not table_of(report, "pairs").rows:
        return []
    return [
        "Two candidates were compared on shared cases, and by McNemar’s exact test of the modes with Holm’s correction "
        "over all pairs (McNemar 1947; Holm 1979).",
        difference(report, "a difference"),
    ]


KIND = Kind(
    value=Report.Kind.ACUITY,
    parameters=frozenset({"reference_set", "candidates", "judge", "ratio", "gamma", "boundary", "slices", "subsets"}),
    complete=complete,
    compute=compute,
    title=title,
    form=AcuityForm,
    invitation=Invitation(
        gettext_lazy("Compare candidates with a reference set"),
        gettext_lazy(
            "Errors have a direction and a cost. A candidate that does not answer is charged the highest cost."
        ),
        gettext_lazy("This report requires a signed reference set and readings of candidates on its scale."),
    ),
    template="agreement/kinds/acuity.html",
    body=body,
    body_of_slice=body_of_slice,
    figures=figures,
    headline=(gettext_lazy("Cost over all questions asked"), 3),
    methods=methods,
    digest=digest,
)
