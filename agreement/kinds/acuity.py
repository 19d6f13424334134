"""Whether the advice of candidates points to the right level of care, against a signed reference set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.inputs import AcuityInputs, read_inputs
from agreement.acuity.measures import Price
from agreement.acuity.parameters import (
    MAX_RATIO,
    chosen_candidates,
    chosen_ratio,
    finite_number,
    reference_set_of,
    title_names,
)
from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.acuity.reference_facts import reference_facts, reference_methods
from agreement.acuity.report_tables import cost_tables, report_tables
from agreement.acuity.tables import everything
from agreement.forms import ReportForm, choose
from agreement.kinds.acuity_figures import figures
from agreement.kinds.acuity_page import body, leading
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import headline, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, difference, listed
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from annotation.models import ReferenceSet
from consilium.core.jobs import Progress, no_progress
from consilium.core.out_folder import OutTable
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from consilium.statistics.triage_cost import EXPONENT, RATIO
from rubrics.models import Benchmark, Candidate

MAX_GAMMA = 10


class AcuityForm(ReportForm):
    """A reference set, candidates, and what errors cost."""

    reference_set = forms.TypedChoiceField(label=gettext_lazy("Reference set"), coerce=int)
    candidates = forms.MultipleChoiceField(
        label=gettext_lazy("Candidates"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("All that have readings on the scale of the set, where none is chosen."),
    )
    ratio = forms.FloatField(
        label=gettext_lazy("Price of a level too low"),
        initial=RATIO,
        min_value=0,
        max_value=MAX_RATIO,
        help_text=gettext_lazy("As many times that of a level too high."),
    )
    gamma = forms.FloatField(
        label=gettext_lazy("Power of the levels"),
        initial=EXPONENT,
        min_value=0,
        max_value=MAX_GAMMA,
        help_text=gettext_lazy("1: each level counts. 0: each error counts 1, whatever its size."),
    )
    field_order = ["reference_set", "ratio", "gamma", "candidates", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        sets = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale")
        choose(self, "reference_set", [(row.number, f"{row.number} ({row.scale})") for row in sets])
        candidates = Candidate.objects.filter(benchmark=benchmark, acuity_readings__isnull=False).distinct()
        names = list(candidates.order_by("name").values_list("name", flat=True))
        choose(self, "candidates", [(name, name) for name in names])
        self.ready = bool(sets and names)

    def parameters(self) -> dict[str, Any]:
        """As `complete` takes them: without candidates where none was chosen."""
        given = super().parameters()
        return given if given["candidates"] else {name: own for name, own in given.items() if name != "candidates"}


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    reference_set = reference_set_of(benchmark, parameters.get("reference_set"))
    ratio = chosen_ratio(parameters)
    gamma = finite_number(parameters.get("gamma", EXPONENT))
    if gamma is None or not 0 <= gamma <= MAX_GAMMA:
        raise WrongParameters(_("“gamma” is a number from 0 to %(most)s.") % {"most": MAX_GAMMA})
    return {
        "reference_set": reference_set.number,
        "candidates": chosen_candidates(reference_set, parameters.get("candidates")),
        "ratio": ratio,
        "gamma": gamma,
    }


def read(benchmark: Benchmark, reference_set: int, candidates: Sequence[str]) -> AcuityInputs:
    """The inputs of a report with these parameters; `WrongParameters` where there is no such set."""
    return read_inputs(reference_set_of(benchmark, reference_set), candidates)


def acuity_files(inputs: AcuityInputs, *, price: Price, rule: IntervalRule, seed: int) -> list[OutTable]:
    """All tables of a report, as files; crossings and the cheapest come last."""
    tables = report_tables(inputs.data, inputs.unusable, price=price, rule=rule)
    return [*tables, *cost_tables(inputs.data, price=price, seed=seed)]


def compute(
    benchmark: Benchmark,
    *,
    reference_set: int,
    candidates: Sequence[str],
    ratio: float,
    gamma: float,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``acuity``. The seed is that of the resamples in which curves cross."""
    inputs = read(benchmark, reference_set, candidates)
    progress(0.2)
    price = Price(ratio, gamma)
    tables = tables_of(acuity_files(inputs, price=price, rule=rule, seed=seed))
    chosen = reference_set_of(benchmark, reference_set)
    best = leading(tables["acuity"].dicts())
    facts = {
        "reference_set": chosen.number,
        "set_digest": chosen.digest,
        "signed_at": f"{chosen.signed_at:%Y-%m-%d}",
        "datasets": chosen.datasets,
        "scale": str(chosen.scale),
        **reference_facts(chosen),
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
        "n_cases": len(everything(inputs.data).cases),
        "n_unusable": len(inputs.unusable),
        **({"headline": headline(best, "cost_all")} if best else {}),
        **interval_facts(rule, _effective(inputs.data)),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _effective(data: AcuityData) -> float | None:
    """The least number of effective cases behind a cost over everything asked."""
    planned = np.where(data.is_asked[everything(data).cases], data.samples(), 0).astype(np.float64)
    behind = [float(cases) for cases in effective_cases(planned) if cases > 0]
    return min(behind, default=None)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Acuity of %(names)s, reference set %(number)s, %(ratio)s : 1") % {
        "names": title_names(given["candidates"]),
        "number": given["reference_set"],
        "ratio": f"{given['ratio']:g}",
    }


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read(benchmark, given["reference_set"], given["candidates"]).digest


_STATUS_WORDS = {
    "boundary": "between two levels (in a table of their own)",
    "ambiguous": "ambiguous",
    "set_aside": "set aside, since more than half of the physicians could not tell",
    "without_reference": "without a reference",
}


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = [row for row in table_of(report, "acuity").dicts() if row["candidate"] != "all"]
    pooled = [row for row in rows if row["aggregate"] == "pooled"]
    names = sorted({row["candidate"] for row in pooled})
    states = {
        "n_refused": "refused", "n_no_level": "without a level", "n_several": "with several levels",
        "n_invalid": "unreadable", "n_missing": "missing",
    }  # fmt: skip
    lost = [f"{sum(row[name] for row in pooled):,} {words}" for name, words in states.items()]
    others = [
        f"{counted(n, 'case')} {words}" for status, words in _STATUS_WORDS.items() if (n := facts["statuses"][status])
    ]
    ratio, gamma = facts["ratio"], facts["gamma"]
    levels = " < ".join(level["value"] for level in facts["levels"])
    formats = listed({"qa": "a forced choice", "chat": "as to a patient"}[format_] for format_ in facts["formats"])
    return [
        f"The urgency that {counted(len(names), 'candidate')} ({listed(names)}) of the benchmark "
        f"{report.benchmark.title} advise, asked in {formats}, was compared with reference set "
        f"{facts['reference_set']}, signed on {facts['signed_at']}, on the scale {facts['scale']} ({levels}).",
        f"{counted(facts['n_cases'], 'case')} with one clear level stand in the main figures"
        + (f"; left out of them: {listed(others)}." if others else "."),
        f"There were {sum(row['n_readings'] for row in pooled):,} readings on them, "
        f"{sum(row['n_usable'] for row in pooled):,} of one level; {listed(lost)}. No level was ever assumed.",
        *reference_methods(facts),
        "Unless said otherwise each case counts 1, as the mean over its usable readings.",
        f"A reading d levels below the reference or o levels above it costs {ratio:g} · d^{gamma:g} + o^{gamma:g}; "
        "over everything asked, a reading that names no one level, or is missing, costs as much as the worst answer. "
        "Candidates are ranked by that cost.",
        "QWK is Cohen’s kappa with quadratic weights (Cohen 1968), alpha Krippendorff’s ordinal alpha; safety, "
        "comprehensiveness and inclination are those of Kopka et al. 2023.",
        "The interval of emergencies missed is Wilson’s, which takes readings for independent.",
        *_pairs(report),
        "Where the cost curves of two candidates cross was found on the cases of which both have a usable reading, "
        f"with resamples of cases (seed {report.seed}).",
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
    parameters=frozenset({"reference_set", "candidates", "ratio", "gamma"}),
    complete=complete,
    compute=compute,
    title=title,
    form=AcuityForm,
    invitation=Invitation(
        gettext_lazy("Compare candidates with a reference set"),
        gettext_lazy("Errors have a direction and a price. Whoever does not answer pays the worst price."),
        gettext_lazy("This takes a signed reference set, and readings of candidates on its scale."),
    ),
    template="agreement/kinds/acuity.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Cost over everything asked"), 3),
    methods=methods,
    digest=digest,
)
