"""Sentences for the methods section of a paper, in English: who decided, on what, by which rules, with what left out.

Each kind of report composes its text from these sentences; `agreement.reports.methods` adds those that hold for every
report. A source is cited as in “(Cohen 1960)”; the methods then list it in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agreement.calibration.thresholds import threshold_in_force
from agreement.models import Report
from consilium.statistics.case_figures import MANY_PAIRS, SEVERAL_PAIRS
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, in_words
from consilium.statistics.unit_agreement import MINIMUM_APART
from scoring.selectors.raters import JURY_RULES, UNANIMOUS

_STAGES = {
    "first": "the annotators’ own first decisions",
    "checked": "after any secondary check",  # a group may have none
    "final": "after any secondary check and adjudication within the group",
}


def rater_in_words(label: str) -> str:
    """A rater as a sentence names it: ``group:A@checked`` is “group A (after any secondary check)”."""
    kind, _colon, name = label.partition(":")
    base, _at, stage = name.rpartition("@")
    if kind == "group":
        if stage not in _STAGES:
            base, stage = name, "checked"
        return f"{_with('group', base)} ({_STAGES[stage]})"
    if kind == "physician":
        if stage not in ("first", "last") or not base:
            base, stage = name, "first"
        return f"physician {base} ({stage} round)"
    if kind == "jury":
        rule = stage if stage in JURY_RULES else ""
        members = (base if rule else name).replace("+", ", ")
        return f"the {'unanimous' if rule == UNANIMOUS else 'majority'} jury of {members}"
    if kind == "run":
        return f"the judge run {name}"
    if label == "consensus":
        return "the consensus of both expert groups"
    if kind == "consensus":
        return f"the consensus of the expert groups {name.replace('+', ' and ', 1) if name.count('+') == 1 else name}"
    named = judge_in_words(label)
    return label if label.startswith("the ") or named == label else f"the {named}"


def coder_in_words(label: str) -> str:
    """A rater of codes as a sentence names it: codes are neither checked nor given in rounds."""
    kind, _colon, name = label.partition(":")
    if kind == "group":
        return _with("group", name)
    if kind in ("physician", "judge"):
        return f"the judge {name}" if kind == "judge" else f"physician {name}"
    return "the final codes of physicians"


def judge_in_words(name: str) -> str:
    """“judge X”; a name that contains the word judge is used as it is."""
    return _with("judge", name)


def _with(noun: str, name: str) -> str:
    return name if noun in name.casefold().split() else f"{noun} {name}"


def counted(n: int, singular: str, plural: str = "") -> str:
    """A number with its noun: “1 pair”, “1,204 pairs”."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def listed(parts: Iterable[str]) -> str:
    """“a”, “a and b”, “a, b and c”."""
    phrases = [part for part in parts if part]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def capital(sentence: str) -> str:
    """The sentence with a capital at its start."""
    return sentence[:1].upper() + sentence[1:]


def left_out(row: Mapping[str, Any], judged_by: str = "judge") -> str:
    """Which pairs a comparison leaves out, and why, from the counts of a row of it."""
    reasons = {
        "n_cannot": "that a rater could not assess",
        "n_undecided": "on which the annotators of a group were divided",
        "n_undecided_by_judge": f"on which the {judged_by} did not agree",
        "n_faulty": "whose criterion an adjudicator found at fault",
    }
    phrases = [f"{counted(row[name], 'pair')} {why}" for name, why in reasons.items() if row.get(name)]
    if not phrases:
        known = "assessed, undecided or at fault" if "n_faulty" in row else "assessed or undecided"
        return f"No pair was excluded as not {known}."
    return f"Excluded from all figures: {listed(phrases)}."


def conservative(row: Mapping[str, Any]) -> str:
    """How broken verdicts count, and how many there were; empty where the row has no count."""
    n = row.get("n_invalid")
    if n is None:
        return ""
    missing = row.get("n_missing") or 0
    rule = "An invalid or missing verdict counts as the opposite of the reference in MF1 and in the F1 of its classes"
    if not n:
        return f"{rule}; there was none."
    of_them = f", {missing:,} of them missing" if missing else ""
    return f"{rule} ({counted(n, 'pair')}{of_them})."


def learned(facts: Mapping[str, Any]) -> str:
    """The sentence that a judge had seen decisions on some of the candidates; empty where none had."""
    names = facts.get("learned") or []
    if not names:
        return ""
    who = facts.get("learned_by") or []
    judge = f"{listed(who)}, of the jury," if who else "The judge"
    return f"{judge} was fitted to physicians’ decisions on {listed(names)}: figures on those are not held out."


MF1 = (
    "Macro-F1 (MF1) is the mean of the F1 of met and the F1 of not met (Arora et al. 2025); a class that neither rater "
    "used has no F1, and MF1 is then that of the other class."
)
SCORES = (
    "The rubric score of a response is the sum of the points of the criteria met over the sum of the positive points; "
    "the score of a candidate is its mean over responses, clipped to the range from 0 to 1 (Arora et al. 2025)."
)


def coverage(k: int | str) -> str:
    """The three figures that look at positive criteria only, under the threshold ``k``."""
    return (
        f"Rubric Accuracy, Pass@{k} and CACS@{k} use the criteria with positive points only: with s of N of them met, "
        "Rubric Accuracy is 100 times the share met, pooled over criteria; "
        f"Pass@{k} the share of responses with s of at least {k}; "
        f"CACS@{k} 100 times the mean of max(0, s − {k} + 1) / (N − {k} + 1), leaving out and counting responses with "
        f"N below {k} (Zheng et al. 2026)."
    )


def threshold(report: Report, k: int) -> str:
    """Where the threshold of a report comes from: signed or not, when the report was requested."""
    signed = threshold_in_force(report.benchmark, report.created_at)
    if signed is None:
        return f"The threshold k = {k} was set for this report; no threshold was signed for the benchmark by then."
    day = f"{signed.signed_at:%Y-%m-%d}"
    if signed.k != k:
        return (
            f"The threshold k = {k} was set for this report and is not the one signed for the benchmark "
            f"(k = {signed.k}, version {signed.version}, signed on {day})."
        )
    facts = signed.facts
    if not facts:
        return f"The threshold k = {k} was signed for the benchmark on {day} (version {signed.version}), uncalibrated."
    interval = "" if facts.get("k_low") is None else f", 95% interval of k {facts['k_low']} to {facts['k_high']}"
    return (
        f"The threshold k = {k} was signed for the benchmark on {day} (version {signed.version}), on a calibration "
        f"over {counted(facts['n'], 'response')} of {facts['candidate']} graded by {rater_in_words(facts['rater'])} "
        f"(mean {facts['mean']:.2f} of {facts['n_criteria']} positive criteria met{interval}; calibrated "
        f"k {facts['k']})."
    )


def counting(rules: str) -> str:
    """The rules by which a score counts what is broken or open, from their written form."""
    words = {
        "invalid and missing: against": (
            "Invalid and missing verdicts count against the candidate: not met where a criterion’s points are "
            "positive, met where they are negative."
        ),
        "invalid and missing: in_favour": "Invalid and missing verdicts count in favour of the candidate.",
        "invalid and missing: left_out": "Criteria with an invalid or missing verdict are excluded.",
        "cannot assess: no_score": (
            "A response with a criterion that could not be assessed or is undecided has no score, "
            "and no hits where that criterion’s points are positive."
        ),
        "cannot assess: against": "What could not be assessed or is undecided counts against the candidate.",
        "cannot assess: in_favour": "What could not be assessed or is undecided counts in favour of the candidate.",
        "cannot assess: left_out": "Criteria that could not be assessed or are undecided are excluded.",
    }
    sentences = [words.get(rule, capital(rule) + ".") for rule in rules.split("; ") if rule]
    return " ".join([*sentences, "Criteria that an adjudicator found at fault for a response do not count for it."])


JACKKNIFE = (
    "Intervals are 95% intervals over cases, for the same raters: each figure was computed without each case in turn, "
    "and the jackknife standard error of these values, on the logit scale between the figure’s bounds, was multiplied "
    "by Student’s t (Tukey 1958; Miller 1974).",
    "The degrees of freedom are the effective number of cases less one. This number is the squared sum of the cases’ "
    "sizes over the sum of their squares (as Carter et al. 2017, here by size alone), so that one large case counts "
    "for less than several small ones.",
    "Where the figure is at a bound, where it would be at one or undefined without one case, and where all cases are "
    "alike, the interval is the mid-p interval of a share of as many trials as there are effective cases (Lancaster "
    "1961).",
    f"Figures with fewer than {MINIMUM_EFFECTIVE_CASES} effective cases have no interval.",
)
SIZES_OF_AGREEMENT = (
    "A case is as large as its number of pairs. MF1 and raw agreement lie between 0 and 1, kappa, AC1 and alpha "
    "between −1 and 1."
)
SIZES_OF_MF1 = "A case is as large as its number of pairs, and MF1 lies between 0 and 1."
SIZES_OF_RATES = "A case is as large as its number of pairs; shares and MF1 lie between 0 and 1."
SIZES_OF_ADVANTAGES = (
    "A case is as large as its number of pairs. Shares and MF1 lie between 0 and 1, differences between −1 and 1; a "
    "share has the mid-p interval where each case has one pair."
)
SIZES_OF_SCORES = (
    "A case is as large as its number of responses, for Rubric Accuracy as its number of positive criteria. Rubric "
    "Accuracy and CACS lie between 0 and 100, Pass@k between 0 and 1, and the rubric score between the mean of the "
    "least scores that the rubrics allow and 1; score and interval are clipped to 0 to 1 last. Worst-at-k counts each "
    "case once, and lies between the mean of the least scores of its cases and 1. The MF1 of groups counts pairs, and "
    "the rank correlation of length lies between −1 and 1."
)
SIZES_OF_CONSENSUS = (
    "For an error rate a case is as large as its number of pairs, for the rubric score as its number of responses. "
    "Error rates lie between 0 and 1, and the rubric score between the mean of the least scores that the consensus "
    "criteria allow and 1; score and interval are clipped to 0 to 1 last."
)
SIZES_OF_MODES = (
    "A case is as large as its number of responses, for Rubric Accuracy as its number of positive criteria. Rubric "
    "Accuracy and CACS lie between 0 and 100, and the rubric score between the mean of the least scores that the "
    "rubrics allow and 1; score and interval are clipped to 0 to 1 last. Shares of responses that are better, equal or "
    "worse have mid-p intervals where each case has one response."
)
SIZES_OF_POWERED = (
    "A case is as large as its number of responses, for Rubric Accuracy as its number of positive criteria. Rubric "
    "Accuracy and CACS lie between 0 and 100, and the rubric score between the mean of the least scores that the "
    "rubrics allow and 1; score and interval are clipped to 0 to 1 last."
)
SIZES_OF_HITS = (
    "For the mean of the criteria met, which lies between 0 and their number, a case is as large as its number of "
    "responses; the ends of the interval of k are "
    "those of this mean, rounded as k is. The sensitivity, specificity and MF1 of a judge have such intervals too, "
    "over the pairs of each case."
)

SIZES_OF_ACUITY = (
    "A case is as large as its readings that count in the measure. Shares lie between 0 and 1, QWK and alpha between "
    "−1 and 1, bias between the most levels down and up, and costs between 0 and the dearest error."
)
SIZES_OF_REFINEMENT = "The size of a case is 1: each has one response before and one after."
SIZES_OF_PAIRS = (
    "A case is as large as its number of pairs with a decision. Shares lie between 0 and 1, and mean deltas between "
    "minus and plus the mean of all points together."
)
SIZES_OF_FAILURES = (
    "A case is as large as its number of responses that were coded, or of answers of physicians behind alpha, and "
    "shares lie between 0 and 1."
)
SIZES_OF_DRAFTING = (
    "A case is as large as its number of suggestions or criteria in the denominator; shares lie between 0 and 1, and "
    "mean changes of points between −20 and 20."
)
SIZES_OF_COVERAGE = "A case is as large as its number of gold points, and shares of them lie between 0 and 1."


def few_pairs(figures: str) -> str:
    """What ``figures``, coefficients that take account of chance, need where cases have few pairs."""
    return (
        f"In slices with fewer than {MANY_PAIRS} pairs a case, {figures} an interval only where at least "
        f"{MINIMUM_APART} cases hold the rarer class (said by both raters, where cases have fewer than {SEVERAL_PAIRS} "
        "pairs). At a bound each end is then 1 minus a ratio: that of a mid-p end of the disagreement to the "
        "disagreement expected by chance."
    )


def rule_in_caption(report: Report) -> str:
    """The rule of the intervals at the end of a table’s caption; empty where the report has none."""
    facts = report.result["facts"]
    if facts.get("interval") == Report.Interval.JACKKNIFE:
        return " (95% intervals, jackknife over cases)"
    return " (95% percentile intervals over cases)" if facts.get("resamples") else ""


def effective_cases(report: Report) -> str:
    """How many cases the figures are over, and how many effective ones the leading figures rest on."""
    facts = report.result["facts"]
    cases, effective = facts.get("n_cases"), facts.get("effective")
    least = "at least " if report.kind in (Report.Kind.SCORES, Report.Kind.POWERED) else ""
    what = "the prediction-powered figures" if report.kind == Report.Kind.POWERED else "the leading figures"
    known = [
        f"the figures are over {counted(cases, 'case')}" if cases else "",
        f"{what} rest on {least}{in_words(effective)} effective {'case' if in_words(effective) == '1' else 'cases'}"
        if effective
        else "",
    ]
    return capital("; ".join(filter(None, known))) + "." if any(known) else ""


def difference(report: Report, what: str) -> str:
    """How the interval of a difference was made; ``what`` begins the sentence."""
    if report.result["facts"].get("interval") == Report.Interval.JACKKNIFE:
        return (
            f"The interval of {what} is made from the intervals of both and the correlation of their values without "
            "each case (Zou and Donner 2008)."
        )
    return f"{what[:1].upper()}{what[1:]} is taken within each resample of cases (paired bootstrap)."
