"""Judges against two groups, and the groups against each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm, choose, grouped
from agreement.judged import fidelity
from agreement.judged.coverage import coverage_remarks, remark_on_coverage
from agreement.judged.fidelity import MAX_JUDGES, JudgesAndGroups, read_judges
from agreement.judged.training_overlap import learned_candidates, learners, remark
from agreement.kinds.fidelity_page import CEILING, body, figures, judges_of, labels_of, rows_of, sides
from agreement.kinds.kind import Invitation, Kind, Parameters, Read
from agreement.kinds.shared import headline, judged_by, raters_table
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import capital, counted, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, group_choices, judge_choices
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.noninferiority import DEFAULT_MARGIN
from rubrics.models import Benchmark
from scoring.selectors.raters import UnknownRater, require_verdicts, resolve_rater

GROUPS = ("group_a", "group_b")
NAMED_IN_TITLE = 3
# The comparisons of a judge, and of the groups, by the two raters that each compares.
JUDGED = {"judge_a": "a", "judge_b": "b"}


class FidelityForm(ReportForm):
    """Judges and two groups."""

    judges = forms.MultipleChoiceField(
        label=gettext_lazy("Judges"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Several judges are compared on the pairs that all of them were assigned."),
    )
    group_a = forms.ChoiceField(label=gettext_lazy("First group"))
    group_b = forms.ChoiceField(label=gettext_lazy("Second group"))
    margin = forms.FloatField(
        label=gettext_lazy("Margin"),
        min_value=0.001,
        max_value=0.999,
        initial=DEFAULT_MARGIN,
        required=False,
        help_text=gettext_lazy(
            "How far the Macro-F1 of a judge may be below that of the groups and still be acceptable. "
            "Decide this before you see the results."
        ),
    )
    field_order = ["judges", "group_a", "group_b", "margin", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        groups, judges = group_choices(benchmark), judge_choices(benchmark)
        checked = [offer for offer in groups if offer.rater.endswith("@checked")]
        self.ready = len(checked) > 1 and bool(judges)
        choose(self, "judges", grouped(judges))
        self.fields["judges"].initial = [offer.rater for offer in judges[:1]]
        for name, offer in zip(GROUPS, checked, strict=False):
            self.fields[name].initial = offer.rater
        for name in GROUPS:
            choose(self, name, [(offer.rater, offer.label) for offer in groups])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One judge is stored as ``judge``, as it always was, several as ``judges``."""
    margin = parameters.get("margin")
    margin = DEFAULT_MARGIN if margin is None else margin
    if not isinstance(margin, int | float) or isinstance(margin, bool) or not 0 < margin < 1:
        raise WrongParameters(_("The margin must be a number between 0 and 1."), field="parameters.margin")
    if "judges" not in parameters:
        named = named_raters(benchmark, parameters, "judge", *GROUPS)
    elif parameters.get("judge"):
        raise WrongParameters(_("Give “judge” or “judges”, not both."), field="parameters.judges")
    else:
        named = {**named_raters(benchmark, parameters, *GROUPS)}
        judges = _several(benchmark, parameters["judges"], named.values())
        named = {**({"judges": judges} if len(judges) > 1 else {"judge": judges[0]}), **named}
    _two_of_physicians(benchmark, {name: named[name] for name in GROUPS})
    return {**named, "margin": float(margin)}


def _several(benchmark: Benchmark, given: Any, groups: Collection[str]) -> list[str]:
    """The judges by their full labels, in the order given."""
    field = "parameters.judges"
    if not isinstance(given, list) or not given or not all(isinstance(name, str) and name.strip() for name in given):
        raise WrongParameters(_("“judges” must be a list of raters."), field=field)
    if len(given) > MAX_JUDGES:
        raise WrongParameters(_("Choose at most %(n)s judges.") % {"n": MAX_JUDGES}, field=field)
    try:
        raters = [resolve_rater(benchmark, name) for name in given]
    except UnknownRater as unknown:
        raise UnknownRater(_("“%(name)s”: %(why)s") % {"name": "judges", "why": unknown}, field=field) from None
    require_verdicts(*raters)
    labels = [rater.label for rater in raters]
    twice = next((label for label in labels if labels.count(label) > 1), "")
    if twice:
        raise WrongParameters(_("%(rater)s is named twice.") % {"rater": twice}, field=field)
    if not set(labels).isdisjoint(groups):
        raise WrongParameters(_("Choose different raters: a rater always agrees with itself."), field=field)
    return labels


def _two_of_physicians(benchmark: Benchmark, groups: Mapping[str, str]) -> None:
    """Refuse an unsuitable ceiling: one of judges, or of one group with itself at another stage.

    ``groups`` are labels of raters by the names of their parameters.
    """
    for name, label in groups.items():
        if resolve_rater(benchmark, label).is_judge:
            words = {"rater": label}
            raise WrongParameters(
                _("The human ceiling must come from physicians, and %(rater)s is not a physician rater.") % words,
                field=f"parameters.{name}",
            )
    if len({label.rpartition("@")[0] or label for label in groups.values()}) < len(groups):
        raise WrongParameters(
            _("The human ceiling requires two groups; these are two stages of the same group."),
            field="parameters.group_b",
        )


def compute(
    benchmark: Benchmark,
    *,
    group_a: str,
    group_b: str,
    judge: str = "",
    judges: Sequence[str] = (),
    margin: float = DEFAULT_MARGIN,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """One judge or several against two groups, and the groups against each other."""
    inputs = read_judges(benchmark, judges=judges or [judge], group_a=group_a, group_b=group_b)
    require_verdicts(*inputs.raters)
    progress(0.5)
    comparison = fidelity.fidelity(inputs, margin=margin, rule=rule)
    facts = _remark(benchmark, inputs, comparison)
    raters = raters_table(*inputs.raters)
    progress(0.9)
    several = len(inputs.judges) > 1

    def table(columns: tuple[str, ...], rows: list[Row]) -> Table:
        """Rows of one judge do not name it."""
        return Table.of(("judge", *columns) if several else columns, rows, fidelity.TEXT_COLUMNS)

    tables = {
        "fidelity": table(fidelity.COLUMNS, comparison.rows),
        "robustness": table(fidelity.ROBUSTNESS_COLUMNS, comparison.robustness),
        "fidelity_slices": table(fidelity.COLUMNS, comparison.slices),
        "non_inferiority": table(fidelity.MARGIN_COLUMNS, comparison.non_inferiority),
        "fidelity_groups": Table.of(fidelity.GROUPS_COLUMNS, comparison.groups, fidelity.TEXT_COLUMNS),
    }
    if several:
        tables = {
            "fidelity_judges": Table.of(fidelity.JUDGES_COLUMNS, comparison.judges, fidelity.TEXT_COLUMNS),
            "fidelity_pairwise": Table.of(fidelity.PAIRWISE_COLUMNS, comparison.pairwise, fidelity.TEXT_COLUMNS),
            **tables,
        }
    return Result(
        tables={**tables, "raters": raters},
        facts={
            "a": inputs.groups["a"].label,
            "b": inputs.groups["b"].label,
            "raters": raters.dicts(),
            "runs": inputs.runs,
            **facts,
            **interval_facts(rule, comparison.rows[0]["mf1_mean_effective"]),
        },
        notes=[*coverage_remarks(*inputs.raters), *parts_of(Reason.PAIRS_FAULTY.counted(inputs.n_faulty))],
        digest=inputs.digest,
    )


def _remark(benchmark: Benchmark, inputs: JudgesAndGroups, comparison: fidelity.Fidelity) -> Row:
    """Remark in the rows of each judge on what it learned from and what its older runs cover; the facts about that.

    A report of several judges has no headline: a single one of them would stand for all.
    """
    learned_of = {}
    groups = tuple(inputs.groups.values())
    for judge in inputs.judges:
        rows = [row for row in (*comparison.rows, *comparison.judges) if row["judge"] == judge.label]
        learned = learned_candidates(benchmark, [run.public_id for run in judge.runs])
        remark(rows, learned, learners(benchmark, judge))
        remark_on_coverage(rows, judge, *groups)
        if learned:
            learned_of[judge.label] = learned
    if len(inputs.judges) > 1:
        return {
            "judges": [judge.label for judge in inputs.judges],
            "judged_by": judged_by(*inputs.judges),
            "learned_of": learned_of,
        }
    (judge,) = inputs.judges
    return {
        "judge": judge.label,
        "learned": learned_of.get(judge.label, []),
        "learned_by": learners(benchmark, judge, *groups),
        "judged_by": judge.undecided_by,
        "headline": headline(comparison.rows[0], "mf1_mean"),
    }


def _raters_of(given: Parameters) -> dict[str, Any]:
    """The raters of a report, as `read_judges` takes them."""
    return {"judges": judges_of(given), **{name: given[name] for name in GROUPS}}


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    names = [display_name(judge, runs) for judge in judges_of(given)]
    shown = ", ".join(names[:NAMED_IN_TITLE])
    if len(names) > NAMED_IN_TITLE:
        return _("%(judges)s and %(n)s more compared with the human ceiling") % {
            "judges": shown,
            "n": len(names) - NAMED_IN_TITLE,
        }
    return _("%(judge)s compared with the human ceiling") % {"judge": shown}


def pairs(report: Report, side: str) -> Read:
    """The pairs of two raters; ``side`` names the comparison, and of several judges the judge after a colon."""
    inputs = read_judges(report.benchmark, **_raters_of(report.parameters))
    a, b = inputs.groups["a"].label, inputs.groups["b"].label
    if side == CEILING:
        return (a, b), inputs.ceiling, inputs.frame, inputs.digest
    comparison, _colon, name = side.partition(":")
    labels = [judge.label for judge in inputs.judges]
    place = labels.index(name) if name in labels else 0
    group = JUDGED.get(comparison, "a")
    return (
        (inputs.groups[group].label, labels[place]),
        inputs.judged(place, group),
        inputs.frame,
        inputs.digest,
    )


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return read_judges(benchmark, **_raters_of(given)).digest


def _margin_in_words(report: Report) -> str:
    rows = rows_of(report, "non_inferiority")
    if not rows:
        return ""
    verdict = f"the finding is: {rows[0]['finding']}" if rows[0]["finding"] else f"nothing is said ({rows[0]['note']})"
    return (
        "The judge counts as not inferior to the human ceiling where the lower end of that interval, a one-sided 97.5% "
        f"bound, lies above −{rows[0]['margin']:g} (Piaggio et al. 2012); {verdict}."
    )


def _margins_in_words(report: Report) -> str:
    """How several judges were tested, and which of them are not inferior."""
    rows = rows_of(report, "fidelity_judges")
    tested = [row for row in rows if row["p"] is not None]
    passed = listed(row["judge"] for row in tested if row["non_inferior"])
    return (
        "A judge counts as not inferior to the human ceiling where the one-sided p-value of the interval of its "
        f"difference, at a margin of {rows[0]['margin']:g} (Piaggio et al. 2012), is at most 0.025 after Holm’s "
        f"correction over the {counted(len(tested), 'judge')} tested (Holm 1979): {passed or 'none of them'}."
    )


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    overall = table_of(report, "fidelity").dicts()[0]
    judges = [rater_in_words(label) for label in labels_of(facts)]
    several = len(judges) > 1
    a, b = (rater_in_words(facts[name]) for name in ("a", "b"))
    was, the_judge = ("were each", "every judge") if several else ("was", "the judge")
    return [
        f"{capital(listed(judges))} {was} measured against {a} and against {b}, and both groups against each other "
        f"(the human ceiling), all on the same {counted(overall['n_pairs'], 'pair')} of a response and a criterion "
        f"from {counted(overall['n_cases'], 'case')} of the benchmark {report.benchmark.title}: those that both groups "
        f"answered and {the_judge} was to decide.",
        sentences.MF1,
        *(_of_several(report) if several else _of_one(report, overall)),
        "Candidates are ranked by the share of criteria met under each rater; ranks are compared by Spearman’s ρ and "
        "Kendall’s τ-b (Kendall 1945), the overlap of the top 3 and top 5, and the mean absolute difference in points.",
        sentences.learned(facts),
        *(
            f"{label} learned from decisions on {listed(names)}, which flatters it there."
            for label, names in facts.get("learned_of", {}).items()
        ),
    ]


def _of_one(report: Report, overall: Row) -> list[str]:
    return [
        sentences.conservative(overall),
        f"{counted(overall['n_undecided'], 'pair')} that the judge or jury left undecided are in no figure."
        if overall.get("n_undecided")
        else "",
        "The judge’s figure is the mean of its MF1 against both groups.",
        sentences.difference(report, "its difference from the ceiling"),
        _margin_in_words(report),
    ]


def _of_several(report: Report) -> list[str]:
    rows = rows_of(report, "fidelity_judges")
    broken = {name: sum(row[name] for row in rows) for name in ("n_invalid", "n_missing")}
    left_out = [f"{row['n_own'] - row['n_pairs']:,} of {row['judge']}" for row in rows if row["n_own"] > row["n_pairs"]]
    undecided = [f"{row['n_undecided']:,} by {row['judge']}" for row in rows if row["n_undecided"]]
    return [
        sentences.conservative(broken),
        "Pairs that a judge was to decide and another was not, or left undecided, are in no figure "
        f"({listed(left_out)})."
        if left_out
        else "",
        f"Pairs that a judge or jury left undecided are in no figure ({listed(undecided)})." if undecided else "",
        "A judge’s figure is the mean of its MF1 against both groups.",
        sentences.difference(report, "each difference, of a judge from the ceiling and of two judges,"),
        _margins_in_words(report),
        "The p-values of the differences between judges are Holm’s, over all pairs of judges.",
        "A judge’s range of ranks follows from its comparisons with each other judge, by the intervals of their "
        "differences with Holm’s correction (Holm 1979; Mogstad et al. 2024)."
        if report.result["facts"].get("interval") == Report.Interval.JACKKNIFE
        else "A judge’s range of ranks is that of its ranks in resamples of cases.",
    ]


KIND = Kind(
    value=Report.Kind.FIDELITY,
    parameters=frozenset({"judge", "judges", *GROUPS, "margin"}),
    complete=complete,
    compute=compute,
    title=title,
    form=FidelityForm,
    invitation=Invitation(
        gettext_lazy("Judges compared with physicians"),
        gettext_lazy("Compares judges with two groups, and the groups with each other, on the same decisions."),
        gettext_lazy("This report requires two groups with submitted work and a judge with a finished run."),
    ),
    template="agreement/kinds/fidelity.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("MF1, mean of both groups"), 3),
    pairs=pairs,
    sides_of=sides,
    methods=methods,
    digest=digest,
)
