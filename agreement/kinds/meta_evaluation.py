"""Judges among physicians, theme by theme: HealthBench's meta-evaluation on a benchmark's own decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm, choose
from agreement.judged.alternative import ALL, checked_group
from agreement.judged.coverage import coverage_remarks
from agreement.judged.meta_panel import read_panel
from agreement.judged.training_overlap import learned_candidates, learners
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.page_table import PageTable, first_rows
from agreement.kinds.shared import raters_table
from agreement.label_files import theme_tables
from agreement.label_files.theme_tables import MINIMUM_PAIRS, NO_THEME, WEIGHTED
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.numbers import number
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, learned, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, group_choices, judge_choices, rater_choices, shown_name
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason
from consilium.figures.strip import StripRow, strip
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from rubrics.slice_words import value_words
from scoring.selectors.raters import require_verdicts, resolve_rater

MAX_JUDGES = 5  # as many as the figure has shapes for
LARGEST_MINIMUM = 100_000


class MetaEvaluationForm(ReportForm):
    """Judges, physicians, and from how many pairs on a physician counts."""

    judges = forms.MultipleChoiceField(
        label=gettext_lazy("Judges"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("All are measured on the same items. At most five."),
    )
    group = forms.ChoiceField(label=gettext_lazy("Physicians"))
    minimum = forms.IntegerField(
        label=gettext_lazy("Minimum number of pairs per physician"),
        min_value=1,
        max_value=LARGEST_MINIMUM,
        initial=MINIMUM_PAIRS,
        help_text=gettext_lazy("In a theme. Physicians with fewer pairs do not count in its percentile."),
    )
    field_order = ["judges", "group", "minimum", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        judges = judge_choices(benchmark)
        runs = [offer for offer in rater_choices(benchmark) if offer.kind == "run"]
        groups = group_choices(benchmark, stages=False)
        self.ready = bool((judges or runs) and groups)
        choose(self, "judges", [(offer.rater, offer.choice) for offer in [*judges, *runs]])
        self.fields["judges"].initial = [offer.rater for offer in judges[:1]]
        everyone = (ALL, gettext_lazy("All physicians of the benchmark"))
        choose(self, "group", [everyone, *((offer.rater.rpartition("@")[0], offer.label) for offer in groups)])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    given, minimum = parameters.get("judges"), parameters.get("minimum", MINIMUM_PAIRS)
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise WrongParameters(_("“judges” must be a list of at least one judge."), field="parameters.judges")
    try:
        raters = [resolve_rater(benchmark, name) for name in dict.fromkeys(names)]
        require_verdicts(*raters)
    except DomainError as error:
        error.field = "parameters.judges"
        raise
    if not all(rater.is_judge for rater in raters):
        raise WrongParameters(
            _("Only a judge, a run of a judge, or a jury of judges can be placed among physicians."),
            field="parameters.judges",
        )
    labels = list(dict.fromkeys(rater.label for rater in raters))
    if len(labels) > MAX_JUDGES:
        raise WrongParameters(_("Choose at most %(n)s judges.") % {"n": MAX_JUDGES}, field="parameters.judges")
    if not isinstance(minimum, int) or isinstance(minimum, bool) or not 1 <= minimum <= LARGEST_MINIMUM:
        raise WrongParameters(
            _("The minimum number of pairs per physician must be a whole number from 1 to %(largest)s.")
            % {"largest": LARGEST_MINIMUM},
            field="parameters.minimum",
        )
    return {"judges": labels, "group": checked_group(benchmark, str(parameters.get("group", ALL))), "minimum": minimum}


def compute(
    benchmark: Benchmark,
    *,
    judges: list[str],
    group: str = ALL,
    minimum: int = MINIMUM_PAIRS,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Judges against physicians and physicians against each other, by theme and by cluster."""
    panel = read_panel(benchmark, judges=judges, group=group)
    require_verdicts(*panel.raters)
    progress(0.5)
    tables = theme_tables.theme_tables(panel.labels, panel.verdicts, panel.themes, minimum=minimum, rule=rule)
    progress(0.9)
    text = theme_tables.TEXT_COLUMNS
    behind = raters_table(*panel.raters)
    runs = [run.public_id for rater in panel.raters for run in rater.runs]
    whole, first = tables.themes[0], tables.percentiles[0]
    return Result(
        tables={
            "themes": Table.of(theme_tables.THEMES_COLUMNS, tables.themes, text),
            "percentiles": Table.of(theme_tables.PERCENTILES_COLUMNS, tables.percentiles, text),
            "clusters": Table.of(theme_tables.CLUSTERS_COLUMNS, tables.clusters, text),
            "theme_physicians": Table.of(theme_tables.PHYSICIANS_COLUMNS, tables.physicians, text),
            "raters": behind,
        },
        facts={
            "judges": [rater.label for rater in panel.raters],
            "group": panel.group,
            "raters": behind.dicts(),
            "runs": runs,
            "learned": learned_candidates(benchmark, runs),
            "learned_by": learners(benchmark, *panel.raters),
            "n_items": len(panel.labels.keys),
            "n_labels": len(panel.labels.item),
            "n_physicians": len(np.unique(panel.labels.physician)),
            "n_cases": panel.labels.n_cases,
            "n_undecided": panel.n_undecided,
            "n_not_shared": panel.n_not_shared,
            "is_mapped": bool(panel.themes),
            **interval_facts(rule, whole["mf1_effective"]),
            "headline": {
                **({"of": first["judge"]} if len(judges) > 1 else {}),
                "value": first["percentile"],
                "low": None,
                "high": None,
                "reason": first["note"] if first["percentile"] is None else "",
            },
        },
        notes=[*coverage_remarks(*panel.raters), *parts_of(Reason.PAIRS_FAULTY.counted(panel.n_faulty))],
        digest=panel.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    names = ", ".join(display_name(judge, runs) for judge in given["judges"])
    return _("%(judges)s among physicians, by theme") % {"judges": names}


def theme_label(theme: str) -> str:
    """A theme as pages show it."""
    special = {"all": _("All items"), WEIGHTED: _("Weighted average of the themes"), NO_THEME: _("No theme")}
    return special.get(theme) or value_words("theme", theme)


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    names = {judge: shown_name(report.benchmark, judge) for judge in facts["judges"]}
    physicians = table_of(report, "theme_physicians").dicts()
    return {
        "judge_names": ", ".join(names.values()),
        "group": _("all physicians") if facts["group"] == ALL else facts["group"].removeprefix("group:"),
        "minimum": report.parameters["minimum"],
        "n_people": f"{facts['n_physicians']:,}",
        "by_theme": _themes(report, names),
        "percentiles": _percentiles(report, names),
        "clusters": _clusters(report, names),
        "physicians": _physicians(physicians),
    }


def _heading(names: Mapping[str, str], row: Row) -> str:
    """The judge above its rows, where there are several."""
    return names.get(row["judge"], row["judge"]) if len(names) > 1 else ""


def _grouped(rows: list[Row], names: Mapping[str, str], cells: Any) -> dict[str, list[list[str]]]:
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(_heading(names, row), []).append(cells(row))
    return groups


def _themes(report: Report, names: Mapping[str, str]) -> PageTable:
    return PageTable(
        "themes",
        _("Macro-F1 by theme"),
        [
            (_("Theme"), False),
            (_("Pairs"), True),
            (_("Cases"), True),
            (_("Judge and physicians"), True),
            (_("F1 met"), True),
            (_("F1 not met"), True),
            (_("Agreement among physicians"), True),
        ],
        _grouped(
            table_of(report, "themes").dicts(),
            names,
            lambda row: [
                theme_label(row["theme"]),
                f"{row['n_pairs']:,}",
                f"{row['n_cases']:,}",
                number(row, "mf1").cell,
                *(_part(row, name) for name in ("f1_met", "f1_not_met", "ceiling")),
            ],
        ),
        remark=_("The average weights each theme by its number of pairs."),
    )


def _part(row: Row, name: str) -> str:
    """A figure that the weighted average does not have."""
    return "–" if row[name] is None and row["theme"] == WEIGHTED else number(row, name).cell


def _percentiles(report: Report, names: Mapping[str, str]) -> PageTable:
    def cells(row: Row) -> list[str]:
        quartiles = [row[f"physicians_{name}"] for name in ("q1", "median", "q3")]
        return [
            theme_label(row["theme"]),
            number(row, "f1_balanced").cell if row["f1_balanced"] is not None else "–",
            number(row, "percentile", digits=0).cell,
            f"{row['n_physicians']:,}",
            "–" if row["physicians_mean"] is None else f"{row['physicians_mean']:.3f}",
            "–" if None in quartiles else " · ".join(f"{value:.3f}" for value in quartiles),
        ]

    return PageTable(
        "percentiles",
        _("The judge among the physicians"),
        [
            (_("Theme"), False),
            (_("Macro-F1 of the judge"), True),
            (_("Percentile"), True),
            (_("Physicians"), True),
            (_("Mean of the physicians"), True),
            (_("First quartile · median · third quartile"), True),
        ],
        _grouped(table_of(report, "percentiles").dicts(), names, cells),
        remark=_(
            "The percentile is the share of physicians with a lower Macro-F1 against the other physicians; equal "
            "values count half. The weighted average adds up the physicians of its themes."
        ),
    )


def _clusters(report: Report, names: Mapping[str, str]) -> PageTable:
    return PageTable(
        "clusters",
        _("By cluster"),
        [
            (_("Cluster"), False),
            (_("Theme"), False),
            (_("Pairs"), True),
            (_("Judge and physicians"), True),
            (_("Agreement among physicians"), True),
        ],
        _grouped(
            table_of(report, "clusters").dicts(),
            names,
            lambda row: [
                row["cluster"].removeprefix("cluster:").replace("_", " "),
                theme_label(row["theme"]),
                f"{row['n_pairs']:,}",
                number(row, "mf1").cell,
                number(row, "ceiling").cell,
            ],
        ),
    )


def _physicians(rows: list[Row]) -> PageTable:
    own = sorted((row for row in rows if row["theme"] == "all"), key=lambda row: (-row["n_pairs"], row["physician"]))
    groups, more = first_rows(
        own,
        lambda row: [
            row["physician"],
            f"{row['n_pairs']:,}",
            f"{row['n_cases']:,}",
            number(row, "f1_balanced").cell,
            _("yes") if row["counts"] else _("no"),
        ],
    )
    return PageTable(
        "theme_physicians",
        _("Each physician against the others, over all items"),
        [
            (_("Physician"), False),
            (_("Pairs"), True),
            (_("Cases"), True),
            (_("Macro-F1"), True),
            (_("Counts"), False),
        ],
        groups,
        remark=more,
    )


def figures(report: Report) -> Iterator[Figure]:
    rows = strip_rows(report)
    ends = [value for row in rows for value in (*(dot for _name, dot in row.dots), *(at for _name, at in row.marks))]
    if not ends:
        return
    low = max(0.0, min(ends) - 0.05)

    def drawing(palette: Palette) -> object:
        return strip(
            rows,
            palette,
            x_title=_("Macro-F1"),
            description=_("In each theme the Macro-F1 of every physician against the others, and that of the judges."),
            dots_name=_("a physician"),
            mean_name=_("mean of the physicians"),
            domain=(low, 1.0),
        )

    yield Figure(
        "strip",
        _("Judges among the physicians, by theme"),
        _("Each dot is a physician with enough pairs, against the other physicians. The table has all figures."),
        "percentiles",
        drawing,
    )


def strip_rows(report: Report) -> list[StripRow]:
    """A row for each theme, and one for all items."""
    facts = report.result["facts"]
    names = {judge: shown_name(report.benchmark, judge) for judge in facts["judges"]}
    percentiles = [row for row in table_of(report, "percentiles").dicts() if row["theme"] != WEIGHTED]
    physicians = [row for row in table_of(report, "theme_physicians").dicts() if row["counts"]]
    rows = []
    for theme in dict.fromkeys(row["theme"] for row in percentiles):
        own = [row for row in percentiles if row["theme"] == theme]
        rows.append(
            StripRow(
                theme_label(theme),
                [(row["physician"], row["f1_balanced"]) for row in physicians if row["theme"] == theme],
                own[0]["physicians_mean"],
                [(names[row["judge"]], row["f1_balanced"]) for row in own if row["f1_balanced"] is not None],
            )
        )
    return rows


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of the inputs as they are now."""
    return read_panel(benchmark, judges=given["judges"], group=given["group"]).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    themes = table_of(report, "themes").dicts()
    whole = [row for row in themes if row["theme"] == "all"]
    judged = listed(rater_in_words(judge) for judge in facts["judges"])
    physicians = "all physicians" if facts["group"] == ALL else f"the physicians of {facts['group'][6:]}"
    mapped = "the benchmark’s map of clusters" if facts["is_mapped"] else "the name of its cluster"
    left_out = facts["n_not_shared"]
    return [
        f"As in HealthBench’s meta-evaluation (Arora et al. 2025), {judged} and {physicians} were compared on "
        f"{counted(facts['n_items'], 'pair')} of a response and a criterion of {counted(facts['n_cases'], 'case')} "
        f"that two physicians or more answered ({counted(facts['n_labels'], 'label')} by "
        f"{counted(facts['n_physicians'], 'physician')}), by their own decisions of the first round.",
        f"{counted(left_out, 'pair')} that not every judge was to decide, or that one left undecided, "
        f"{'is' if left_out == 1 else 'are'} excluded."
        if left_out
        else "",
        f"The theme of a criterion is given by {mapped}.",
        sentences.MF1,
        "A judge is compared with every physician of an item, a physician with every other physician of it.",
        *(sentences.conservative(row) for row in whole[:1]),
        f"A physician counts in a theme from {counted(report.parameters['minimum'], 'pair')} on, and where both sides "
        "gave both answers. The percentile of a judge is the share of these physicians whose Macro-F1 is lower, ties "
        "counting half; quartiles are interpolated linearly (type 7 of Hyndman and Fan 1996).",
        "Averages over themes weight each theme by the judge’s pairs; the weights are fixed in the interval.",
        learned(facts),
    ]


KIND = Kind(
    value=Report.Kind.META_EVAL,
    parameters=frozenset({"judges", "group", "minimum"}),
    complete=complete,
    compute=compute,
    title=title,
    form=MetaEvaluationForm,
    invitation=Invitation(
        gettext_lazy("Judges among physicians, by theme"),
        gettext_lazy(
            "Macro-F1 of judges and of each physician against the other physicians, and the percentile of a judge, for "
            "each theme of the criteria."
        ),
        gettext_lazy(
            "This report requires a judge with a finished run, and responses that two physicians have graded."
        ),
    ),
    template="agreement/kinds/meta_evaluation.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Percentile among physicians"), 0),
    methods=methods,
    digest=digest,
)
