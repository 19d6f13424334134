"""Every candidate by one rater: the scoreboard, and the tables of the command ``scores``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.counting.frame import read_frame
from agreement.counting.pairs import Pairs, pair
from agreement.forms import FIRST_LABELS, ReportForm, choose, grouped
from agreement.kinds.kind import Invitation, Kind, Parameters, Read
from agreement.kinds.scores_cases import MAX_CASES
from agreement.kinds.scores_figures import figures
from agreement.kinds.scores_page import body, body_of_slice
from agreement.kinds.scores_tables import compute, digest_now
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.parameters import WrongParameters, checked_k, chosen_flag, chosen_subsets, named_raters
from agreement.reports.sentences import counted, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import RaterChoice, display_name, group_choices, judge_choices, rater_choices
from consilium.core.errors import DomainError
from consilium.figures.interval_lines import MAX_LINES
from consilium.statistics.bootstrap import RESAMPLES
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES
from consilium.statistics.length_adjustment import DEFAULT_ADJUSTMENT
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricItem
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import require_verdicts, resolve_rater

# How many other raters the ranks are compared with: by default, and at most.
USUAL_OTHERS = 4
MAX_OTHER_RATERS = 8
LARGEST_CENTRE, LARGEST_PENALTY = 1_000_000, 1


class ScoresForm(ReportForm):
    """A rater and the threshold, and other raters whose ranks are compared."""

    rater = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=LARGEST_K)
    also = forms.MultipleChoiceField(
        label=gettext_lazy("Compare ranks with those by"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Do other graders rank the candidates in the same order?"),
    )
    first_labels = forms.BooleanField(
        label=FIRST_LABELS.label,
        help_text=FIRST_LABELS.help_text,
        required=False,
    )
    subset_axes = forms.BooleanField(
        label=gettext_lazy("Also axes within named slices"),
        help_text=gettext_lazy("For example, how well the hardest cases are answered on each axis."),
        required=False,
    )
    show = forms.MultipleChoiceField(
        label=gettext_lazy("Candidates in line figures"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Up to six. If you choose none, the candidates with the highest rubric scores are drawn; tables have all."
        ),
    )
    cases = forms.CharField(
        label=gettext_lazy("Cases in figures of single cases"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "Short names of up to 12 cases, each on its own line. The hardest and the most varied cases are drawn in "
            "any case."
        ),
    )
    length_centre = forms.FloatField(
        label=gettext_lazy("Centre of the length adjustment, in characters"),
        min_value=0,
        max_value=LARGEST_CENTRE,
        initial=DEFAULT_ADJUSTMENT.centre,
        required=False,
    )
    length_penalty = forms.FloatField(
        label=gettext_lazy("Penalty for 500 characters more"),
        min_value=0,
        max_value=LARGEST_PENALTY,
        initial=DEFAULT_ADJUSTMENT.penalty,
        required=False,
        help_text=gettext_lazy("HealthBench Professional deducts 0.0147 for each 500 characters beyond 2,000."),
    )
    field_order = [
        *("rater", "k", "also", "first_labels", "subset_axes", "show", "cases", "length_centre", "length_penalty"),
        *("interval", "seed"),
    ]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = bool(rater_offers)
        choose(self, "rater", grouped(rater_offers))
        k, source = suggested_k(benchmark)
        self.fields["k"].initial = k
        self.fields["k"].help_text = " ".join([source, *short_of(benchmark, k)])
        choose(self, "also", [(offer.rater, offer.choice) for offer in others_on_offer(benchmark)])
        originals = Candidate.objects.filter(benchmark=benchmark).exclude(kind=Candidate.Kind.DERIVED)
        choose(self, "show", [(name, name) for name in originals.order_by("name").values_list("name", flat=True)])
        first = rater_offers[0].rater if rater_offers else ""
        self.fields["also"].initial = [
            offer.rater for offer in others_on_offer(benchmark)[: USUAL_OTHERS + 1] if offer.rater != first
        ][:USUAL_OTHERS]

    def parameters(self) -> dict[str, Any]:
        given = super().parameters()
        return {**given, "cases": [key for line in given["cases"].splitlines() if (key := line.strip())]}


def short_of(benchmark: Benchmark, k: int) -> list[str]:
    """Sentences about how many responses have fewer than ``k`` positive criteria, and what follows; empty for none."""
    positive = Count("pk", filter=Q(points__gt=0))
    items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__benchmark=benchmark))
    criteria = dict(items.order_by().values_list("rubric__case").annotate(n=positive))
    responses = Response.objects.filter(case__benchmark=benchmark, case__excluded_at=None)
    counts = responses.order_by().values_list("case").annotate(n=Count("pk"))
    answered = {case: number for case, number in counts if case in criteria}
    short = sum(number for case, number in answered.items() if criteria[case] < k)
    if not short:
        return []
    text = ngettext(
        "%(n)d of %(all)d responses has fewer than %(k)d positive criteria "
        "(rubrics have %(low)d to %(high)d). It is excluded from CACS and the gap, and counts as not passed. "
        "Choose a smaller k to include it.",
        "%(n)d of %(all)d responses have fewer than %(k)d positive criteria "
        "(rubrics have %(low)d to %(high)d). They are excluded from CACS and the gap, and count as not passed. "
        "Choose a smaller k to include them.",
        short,
    )
    sizes = [criteria[case] for case in answered]
    facts = {"n": short, "all": sum(answered.values()), "k": k, "low": min(sizes), "high": max(sizes)}
    return [text % facts]


def others_on_offer(benchmark: Benchmark) -> list[RaterChoice]:
    """Raters whose ranks are worth comparing: groups after the check, then judges and juries by name."""
    groups = [offer for offer in group_choices(benchmark) if offer.rater.endswith("@checked")]
    return [*groups, *judge_choices(benchmark)]


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    k = checked_k(parameters.get("k"))
    own = named_raters(benchmark, parameters, "rater")
    return {
        **own,
        "k": k,
        "also": _others(benchmark, parameters.get("also"), own["rater"]),
        "subsets": chosen_subsets(benchmark, parameters.get("subsets")),
        **chosen_flag(parameters, "first_labels"),
        **chosen_flag(parameters, "subset_axes"),
        "show": _named(
            parameters.get("show"),
            "show",
            MAX_LINES,
            Candidate.objects.filter(benchmark=benchmark).exclude(kind=Candidate.Kind.DERIVED),
            "name",
        ),
        "cases": _named(parameters.get("cases"), "cases", MAX_CASES, Case.objects.filter(benchmark=benchmark), "key"),
        "length_centre": _number(parameters, "length_centre", DEFAULT_ADJUSTMENT.centre, LARGEST_CENTRE),
        "length_penalty": _number(parameters, "length_penalty", DEFAULT_ADJUSTMENT.penalty, LARGEST_PENALTY),
    }


def _named(given: Any, parameter: str, most: int, rows: QuerySet[Any], column: str) -> list[str]:
    """What figures are to show, by the names that ``column`` of ``rows`` has; empty where nothing was named."""
    where = f"parameters.{parameter}"
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise WrongParameters(_("“%(name)s” must be a list of names.") % {"name": parameter}, field=where)
    names = list(dict.fromkeys(given))
    if len(names) > most:
        raise WrongParameters(_("“%(name)s”: choose at most %(n)s.") % {"name": parameter, "n": most}, field=where)
    known = set(rows.filter(**{f"{column}__in": names}).values_list(column, flat=True))
    unknown = [name for name in names if name not in known]
    if unknown:
        facts = {"name": parameter, "unknown": ", ".join(unknown)}
        raise WrongParameters(_("“%(name)s”: not in this benchmark: %(unknown)s.") % facts, field=where)
    return names


def _number(parameters: Mapping[str, Any], name: str, default: float, largest: float) -> float:
    """A number from 0 to ``largest``; the default where it is not given."""
    given = parameters.get(name)
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= largest:
        message = _("“%(name)s” must be a number from 0 to %(largest)s.") % {"name": name, "largest": f"{largest:,}"}
        raise WrongParameters(message, field=f"parameters.{name}")
    return float(given)


def _others(benchmark: Benchmark, given: Any, rater: str) -> list[str]:
    """The other raters by their full labels, without ``rater`` itself; the usual ones where none were named."""
    if given is None:
        usual_labels = []
        for offer in others_on_offer(benchmark):
            # A judge whose run has no verdict would make the report fail, though the user did not choose it.
            with suppress(DomainError):
                other = resolve_rater(benchmark, offer.rater)
                require_verdicts(other)
                usual_labels.append(other.label)
        return [label for label in dict.fromkeys(usual_labels) if label != rater][:USUAL_OTHERS]
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise WrongParameters(_("“also” must be a list of raters."), field="parameters.also")
    if len(set(given)) > MAX_OTHER_RATERS + 1:  # one of them may be the rater itself
        raise WrongParameters(
            _("Choose at most %(n)s other raters.") % {"n": MAX_OTHER_RATERS}, field="parameters.also"
        )
    others = [resolve_rater(benchmark, name) for name in dict.fromkeys(given)]
    require_verdicts(*others)
    labels = [label for label in dict.fromkeys(other.label for other in others) if label != rater]
    if len(labels) > MAX_OTHER_RATERS:
        raise WrongParameters(
            _("Choose at most %(n)s other raters.") % {"n": MAX_OTHER_RATERS}, field="parameters.also"
        )
    return labels


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Scores by %(rater)s, k = %(k)s") % {"rater": display_name(given["rater"], runs), "k": given["k"]}


def pairs(report: Report, side: str) -> Read:
    rater = resolve_rater(report.benchmark, report.parameters["rater"])
    ratings = rater.ratings()
    # The pairs of a judge are those that it was to decide.
    pairs = pair(due_pairs(rater) or ratings, ratings, due_of_b=due_pairs(rater))
    pairs = Pairs(pairs.response, pairs.criterion, pairs.b, pairs.b, pairs.status)
    return (rater.label, ""), pairs, read_frame(report.benchmark), report.input_digest


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return digest_now(benchmark, **given)


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = table_of(report, "scoreboard").dicts()
    counts = {name: sum(row.get(name) or 0 for row in rows) for name in ("n", "n_invalid", "n_missing", "n_cannot")}
    n_pairs = sum(row["n_criteria"] for row in rows)
    length = next((row for row in table_of(report, "length").dicts() if row["slice"] == "all"), None)
    of_all = f" of {length['n_responses']:,}" if length else ""
    return [
        f"{counted(len(rows), 'candidate')} of the benchmark {report.benchmark.title} were scored by the decisions of "
        f"{rater_in_words(facts['rater'])} on {counted(n_pairs, 'pair')} of a response and a criterion; "
        f"{counts['n']:,}{of_all} responses have a rubric score.",
        sentences.SCORES,
        sentences.coverage(facts["k"]),
        sentences.threshold(report, facts["k"]),
        sentences.counting(facts["rules"]),
        f"There were {counts['n_invalid']:,} invalid and {counts['n_missing']:,} missing verdicts or decisions, "
        f"{counts['n_cannot']:,} that could not be assessed{_undecided(rows, facts)}.",
        *_faulty(rows),
        "Worst-at-k is the expected minimum score over k of a case’s samples, drawn without replacement, averaged over "
        "cases with at least k samples (Arora et al. 2025).",
        *_further(report),
    ]


def _undecided(rows: list[Row], facts: Mapping[str, Any]) -> str:
    """How many pairs had no outcome; nothing of a report from before they were counted."""
    if any(row.get("n_undecided") is None for row in rows):
        return ""
    who = {"group": "the annotators of a group were divided", "jury": "the jury did not agree"}
    why = who.get(facts.get("undecided_by", "group"), "the judge’s own verdicts were tied")
    return f", and {sum(row['n_undecided'] for row in rows):,} on which {why}"


def _faulty(rows: list[Row]) -> list[str]:
    """How many pairs were ruled faulty; nothing where none was, or where the report is older than the count."""
    n = sum(row.get("n_faulty") or 0 for row in rows)
    if not n:
        return []
    return [
        f"{counted(n, 'pair')} whose criterion an adjudicator found faulty on the response {'is' if n == 1 else 'are'} "
        "part of no score."
    ]


_RANKS_BY_RESAMPLES = (
    "Ranks are among the candidates with at least 10 cases; tied candidates share the best rank. The 95% range of a "
    "rank comes from joint resamples of cases, in which a tied candidate may take any place of its tie. Candidates "
    "with fewer than 10 shared cases are not compared with each other."
)
_RANKS_BY_COMPARISONS = (
    "Where each case has one response, Pass@k has the mid-p interval of a share. "
    f"Ranks are among the candidates with at least {MINIMUM_EFFECTIVE_CASES} effective cases; tied candidates share "
    "the best rank. The 95% range of a rank reaches from one more than the number of candidates found to be above to "
    "the number of all less those found to be below, each by the interval of the difference on the same cases (Zou "
    "and Donner 2008) with Holm’s correction over the other candidates (Holm 1979; Mogstad et al. 2024). Candidates "
    f"with fewer than {MINIMUM_EFFECTIVE_CASES} effective shared cases are not compared with each other."
)


def _further(report: Report) -> list[str]:
    """Remarks on the tables below the scoreboard; none for a report that is older than these tables."""
    facts = report.result["facts"]
    if "slices" not in facts:
        return []
    drawn = facts.get("interval") != Report.Interval.JACKKNIFE
    paragraphs = [
        _RANKS_BY_RESAMPLES if drawn else _RANKS_BY_COMPARISONS,
        "Differences (of two figures, of two registers, of a capability family and the whole) have intervals of their "
        "own, "
        + (
            "from joint resamples of all cases."
            if drawn
            else "made from the intervals of both and the correlation of their values without each case (Zou and "
            "Donner 2008); for Pass@k from the jackknife interval also where the mid-p interval stands beside it."
        ),
        f"rubric_score_se in the files is no part of these intervals: it is the standard deviation of the score over "
        f"{RESAMPLES:,} resamples of cases with seed {report.seed}, as HealthBench’s bootstrap_std.",
        "Length control correlates the length of a response in code points with its hits and its CACS: Pearson, "
        "Spearman, and Pearson of the residuals of both after least squares on candidate and case dummies "
        "(Zheng et al. 2026).",
    ]
    if "length_centre" in facts:
        paragraphs.append(
            f"The length-adjusted score of a response is its rubric score less {facts['length_penalty']:g} · "
            f"(characters − {facts['length_centre']:,g}) / 500, characters in code points; shorter responses gain. "
            "That of a candidate is the mean over its responses, clipped to the range from 0 to 1 (Soskin Hicks et "
            "al. 2026)."
        )
    if facts["also"]:
        others = sentences.listed(rater_in_words(label) for label in facts["also"])
        paragraphs.append(
            f"Ranks were set beside those by {others}, on the responses that both score: Spearman, Kendall’s tau-b, "
            "mean absolute difference in points of 100, and overlap of the top 3 and top 5."
        )
    if facts["groups"]:
        groups = sentences.listed(rater_in_words(label) for label in facts["groups"])
        paragraphs.append(f"Inter-expert MF1 compares {groups}.")
    return paragraphs


KIND = Kind(
    value=Report.Kind.SCORES,
    parameters=frozenset(
        {
            *("rater", "k", "also", "subsets", "first_labels", "subset_axes", "show", "cases"),
            *("length_centre", "length_penalty"),
        }
    ),
    complete=complete,
    compute=compute,
    title=title,
    form=ScoresForm,
    invitation=Invitation(
        gettext_lazy("Score the candidates"),
        gettext_lazy(
            "Invalid and missing verdicts count against the candidate; their number is shown next to each score."
        ),
        gettext_lazy("No rater has made decisions yet."),
    ),
    template="agreement/kinds/scores.html",
    body=body,
    body_of_slice=body_of_slice,
    figures=figures,
    pairs=pairs,
    methods=methods,
    digest=digest,
)
