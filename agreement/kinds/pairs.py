"""Whether rubric sets tell a reference from a near miss with a single error, from the answers of a run of trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agreement.forms import ReportForm, choose
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.pairs_page import body, figures
from agreement.kinds.shared import drafted_words, headline, own_criteria_words, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, listed
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from consilium.core.clock import day
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from consilium.statistics.trials import MARGIN, DecisionRule
from rubrics.models import Benchmark
from validation.coverage.building import FEW_CASES
from validation.files.pair_tables import PairOptions
from validation.files.table_rows import ALL
from validation.models import NearMissPair, TrialRun
from validation.trials.inputs import DANGEROUS, GRADES, TrialInputs, read_trials
from validation.trials.selectors import reported_runs
from validation.trials.tables import TrialTables, one_sided

DECIDED_BY = {
    DecisionRule.SIGN: gettext_lazy("The sign of the difference between the totals"),
    DecisionRule.MARGIN: gettext_lazy("As above, if the difference is large enough"),
    DecisionRule.STATED: gettext_lazy("The model’s stated preference"),
}


class PairsForm(ReportForm):
    """A run of trials, and how a trial is decided."""

    run = forms.ChoiceField(label=gettext_lazy("Run"))
    decided_by = forms.ChoiceField(
        label=gettext_lazy("How a trial is decided"),
        choices=[(str(rule), words) for rule, words in DECIDED_BY.items()],
        initial=str(DecisionRule.SIGN),
    )
    margin = forms.FloatField(
        label=pgettext_lazy("of a trial", "Margin"),
        initial=MARGIN,
        min_value=0,
        max_value=0.99,
        help_text=gettext_lazy(
            "A difference up to this share of all points is a tie. Applies only if a margin is used."
        ),
    )
    self_consistency = forms.BooleanField(
        label=gettext_lazy("Include self-consistency"),
        required=False,
        help_text=gettext_lazy("Some publications report it. It does not show that the reference is better."),
    )
    field_order = ["run", "decided_by", "margin", "self_consistency", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        runs = list(reported_runs(benchmark))
        self.ready = bool(runs)
        choose(self, "run", [(run.public_id, run_title(run)) for run in runs])


def series_names(run: TrialRun) -> list[str]:
    """The sets of a run in words, with that of no rubric."""
    return [*run.set_names, *([_("no rubric")] if run.has_no_rubric else [])]


def run_title(run: TrialRun) -> str:
    """A run as a choice names it."""
    return _("%(sets)s on %(n)s pairs, by %(model)s, %(date)s") % {
        "sets": ", ".join(series_names(run)),
        "n": run.n_pairs,
        "model": run.model_name,
        "date": day(run.created_at),
    }


def run_called(benchmark: Benchmark, public_id: Any, *, replays: bool = False) -> TrialRun:
    """The run that a report is about; `WrongParameters` where there is none with this id that has ended."""
    runs = reported_runs(benchmark, with_settings=True, replays=replays)
    run = runs.filter(public_id=public_id).first() if isinstance(public_id, str) else None
    if run is None:
        raise WrongParameters(_("“run” does not name a trial run that has ended."), field="parameters.run")
    return run


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    run = run_called(benchmark, parameters.get("run"))
    decided_by = parameters.get("decided_by") or str(DecisionRule.SIGN)
    if decided_by not in [str(rule) for rule in DecisionRule]:
        raise WrongParameters(
            _("“decided_by” must be one of: %(names)s.") % {"names": ", ".join(DecisionRule)},
            field="parameters.decided_by",
        )
    margin = parameters.get("margin", MARGIN)
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin < 1:
        raise WrongParameters(_("“margin” must be a number from 0 to less than 1."), field="parameters.margin")
    self_consistency = parameters.get("self_consistency", False)
    if not isinstance(self_consistency, bool):
        raise WrongParameters(_("“self_consistency” must be true or false."), field="parameters.self_consistency")
    named = {"sets": run.set_names, "model": run.model_name}
    if any(parameters.get(name, own) != own for name, own in named.items()):
        raise WrongParameters(_("This run measured other sets or used another model."), field="parameters.run")
    return {
        "run": run.public_id,
        "decided_by": decided_by,
        "margin": float(margin),
        "self_consistency": self_consistency,
        **named,
    }


def trial_tables(
    inputs: TrialInputs, *, decided_by: str, margin: float, self_consistency: bool, rule: IntervalRule
) -> TrialTables:
    """The tables of a run; as many good trials are due of a pair as the run has in each order."""
    options = PairOptions(DecisionRule(decided_by), margin, inputs.config.trials, has_self_consistency=self_consistency)
    return TrialTables(inputs, options, rule)


def compute(
    benchmark: Benchmark,
    *,
    run: str,
    decided_by: str,
    margin: float,
    self_consistency: bool,
    sets: list[str],
    model: str,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``pairs``; the sets and the model are those of the run."""
    inputs = read_trials(run_called(benchmark, run))
    progress(0.2)
    own = trial_tables(inputs, decided_by=decided_by, margin=margin, self_consistency=self_consistency, rule=rule)
    tables = tables_of(own.files())
    names = list(inputs.series.values())
    everything = [row for row in tables["pairs"].dicts() if row["slice"] == ALL]
    everything.sort(key=lambda row: names.index(row["set"]))  # the headline is that of the first set of the title
    cases = [pair.case.key for pair in inputs.pairs if pair.grade == DANGEROUS]
    sizes = np.array([[cases.count(case)] for case in dict.fromkeys(cases)], dtype=np.float64).reshape(-1, 1)
    facts = {
        "run": run,
        "model": model,
        "endpoint": inputs.config.endpoint,
        "endpoint_kind": inputs.endpoint_kind,
        "judged_by": str(inputs.run.endpoint_kind),
        "sets": [each.model_dump(exclude_none=True) for each in inputs.config.sets],
        "names_its_judge": inputs.run.terms.get("names_its_judge", []),
        "no_rubric": inputs.config.no_rubric,
        "names": names,
        "trials": inputs.config.trials,
        "temperature": inputs.config.temperature,
        "n_pairs": len(inputs.pairs),
        "n_dangerous": len(cases),
        "n_cases": len(set(cases)),
        "by_grade": {grade: sum(pair.grade == grade for pair in inputs.pairs) for grade in GRADES},
        "one_sided": {row["set"]: side for row in tables["answers"].dicts() if (side := one_sided(row))},
        "n_elsewhere": _pairs_elsewhere(benchmark, inputs),
        "pair_ids": {pair.pair.key: pair.pair.id for pair in inputs.pairs},
        "few_cases": len(set(cases)) < FEW_CASES,
        **({"headline": headline(everything[0], "win")} if everything else {}),
        **interval_facts(rule, float(effective_cases(sizes)[0]) if cases else None),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _pairs_elsewhere(benchmark: Benchmark, inputs: TrialInputs) -> dict[str, int]:
    """Pairs of the benchmark that are not in the run, by what physicians have made of them; rejected ones do not count.

    Such as pairs that were added, or confirmed, after the run was started.
    """
    others = NearMissPair.objects.on_cases_that_count().filter(group__benchmark=benchmark)
    others = others.exclude(public_id__in=[own.pair.id for own in inputs.pairs])
    return {
        "open": others.filter(state=NearMissPair.State.PROPOSED).count(),
        "confirmed": others.filter(state=NearMissPair.State.CONFIRMED).count(),
    }


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    named = {"sets": ", ".join(given["sets"]) or _("no rubric"), "model": given["model"]}
    return _("Near-miss pairs by %(sets)s, %(model)s") % named


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read_trials(run_called(benchmark, given["run"])).digest


_RULES = {
    DecisionRule.SIGN: "A trial is won, tied or lost by the sign of the difference of its totals",
    DecisionRule.MARGIN: "A trial is won or lost where its totals differ by more than {margin:g} of all points, and "
    "tied otherwise",
    DecisionRule.STATED: "A trial is won, tied or lost as the model stated",
}


def methods(report: Report) -> list[str]:
    facts, given = report.result["facts"], report.parameters
    names = [own["name"] for own in facts["sets"]]
    judged = [*names, *(["no rubric"] if facts["no_rubric"] else [])]
    answers = table_of(report, "answers").dicts()
    n_missing = sum(row["n_missing"] for row in answers)
    rule = _RULES[DecisionRule(given["decided_by"])].format(margin=given["margin"])
    by_rules = facts.get("judged_by", facts["endpoint_kind"]) == "rules"
    digests = ", ".join(f"{own['name']} {own['digest'][:12]}" for own in facts["sets"])
    return [
        f"Whether {listed(judged)} tell a good response from one with a single dangerous error is measured on "
        f"{counted(facts['n_dangerous'], 'near-miss pair')} of {counted(facts['n_cases'], 'case')} of the benchmark "
        f"{report.benchmark.title} (after Chen et al. 2026): a reference, and a candidate that differs from it in one "
        "place. Physicians, who did not see where a pair came from, confirmed that it holds exactly one error, that "
        "the error is dangerous, and that the reference has no other flaw; other pairs stand apart.",
        f"{'The rules' if by_rules else 'The model ' + facts['model']} saw both texts side by "
        "side and said of each criterion whether each of them meets it, in "
        f"{counted(facts['trials'], 'trial')} with the reference first and as many with it second, "
        f"{_temperature(facts['temperature'])}. Totals were added up from the points of the criteria, and not by "
        "whoever answered.",
        *(words for own in facts["sets"] for words in drafted_words(own)),
        own_criteria_words(facts.get("names_its_judge", [])),
        f"{rule}, and a pair by what more trials gave than each of the other two; else it is tied. "
        f"{counted(n_missing, 'trial')} without a usable answer {'was' if n_missing == 1 else 'were'} excluded, and a "
        f"pair with fewer than {counted(facts['trials'], 'good trial')}, or with none in one of the orders, has no "
        "decision.",
        "Paired AUROC is the share of pairs on which the reference has the greater mean total, ties counting half; "
        "pooled AUROC compares every reference with every candidate, totals scaled to what the criteria of the case "
        "can give. Only deltas in percent of all points compare sets.",
        "The mutation score is the share of pairs on which some criterion is met by one of the two texts alone in most "
        "trials.",
        "Self-consistency is the AUROC of the deltas for the pairs’ own decisions; it says nothing about the reference "
        "being better."
        if given["self_consistency"]
        else "",
        "Two sets are compared on the pairs that both decide, by McNemar’s test clustered over cases (McNemar 1947, "
        "Obuchowski 1998), and exact and mid-p beside it, which take pairs for independent."
        if len(judged) > 1
        else "",
        f"Sets by SHA-256: {digests}." if digests else "",
    ]


def _temperature(value: float | None) -> str:
    return "at the endpoint’s own temperature" if value is None else f"at temperature {value:g}"


KIND = Kind(
    value=Report.Kind.PAIRS,
    parameters=frozenset({"run", "decided_by", "margin", "self_consistency", "sets", "model"}),
    complete=complete,
    compute=compute,
    title=title,
    form=PairsForm,
    invitation=Invitation(
        gettext_lazy("Whether rubric sets detect a single dangerous error"),
        gettext_lazy(
            "Wins, score deltas and AUROC on near-miss pairs that physicians confirmed, which errors are "
            "missed, and which criteria decide."
        ),
        gettext_lazy(
            "This report requires a trial run that has ended. Create pairs first, and have physicians confirm them."
        ),
    ),
    template="agreement/kinds/pairs.html",
    body=body,
    figures=figures,
    headline=(pgettext_lazy("of a pair", "Win"), 3),
    methods=methods,
    digest=digest,
)
