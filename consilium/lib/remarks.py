"""Remarks beside figures, in the reader's language.

Why a figure is undefined, and what was left out of it, is stored and exported in English: a report's files are the
same bytes whoever asks for them. A page says it in the reader's words, by the templates that the remarks are made from.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils.translation import get_language, gettext, gettext_noop

TEMPLATES = (
    gettext_noop("no interval: %(cases)s of the %(needed)s cases needed"),
    gettext_noop("no interval: undefined in %(some)s of %(all)s resamples"),
    gettext_noop("no responses"),
    gettext_noop("no response has %(k)s positive criteria"),
    gettext_noop("the number of positive criteria is not constant (%(low)s to %(high)s)"),
    gettext_noop("no positive criteria"),
    gettext_noop("no candidates"),
    gettext_noop("no samples"),
    gettext_noop("no case has %(k)s samples"),
    gettext_noop("no pairs"),
    gettext_noop("no valid verdict"),
    gettext_noop("nothing to count yet"),
    gettext_noop("no verdict on any response as it stands"),
    gettext_noop("the judge sees none of the faults by itself"),
    gettext_noop("no verdict on any response with an injection"),
    gettext_noop("no interval: no flip on %(n)s cases"),
    gettext_noop("a share of up to %(share)s of cases may still hold one"),
    gettext_noop("no interval: every verdict turned on %(n)s cases"),
    gettext_noop("a share of up to %(share)s of cases may still hold one that does not turn"),
    gettext_noop("no interval: all resamples agree"),
    gettext_noop("no interval: nearly all resamples agree"),
    gettext_noop("no interval: it would not contain the value"),
    gettext_noop("no interval: nearly all draws agree"),
    gettext_noop("all resamples agree: no resample changes the ranks"),
    gettext_noop("no interval: injections and harmless edits turned no verdict on %(n)s cases"),
    gettext_noop("no interval: injections and harmless edits turned every verdict on %(n)s cases"),
    gettext_noop("no verdict on any response with a harmless edit"),
    gettext_noop("noise not measured: there were no harmless edits"),
    gettext_noop("constant ratings: both raters gave one answer throughout"),
    gettext_noop("constant ratings: rater %(rater)s gave one answer throughout"),
    gettext_noop("constant ratings: alpha has no expected disagreement"),
    gettext_noop("no unit with two ratings"),
    gettext_noop("constant values"),
    gettext_noop("constant length or score"),
    gettext_noop("nothing varies once candidate and case are taken out"),
    gettext_noop("%(n)s degrees of freedom left after candidate and case"),
    gettext_noop("a correlation needs at least %(n)s units"),
    gettext_noop("only %(n)s candidates: all are in the top %(k)s"),
    gettext_noop("ties at the border: %(one)s and %(two)s candidates in the top %(k)s"),
    gettext_noop("no items"),
    gettext_noop("no item with two ratings"),
    gettext_noop("unequal numbers of ratings: %(low)s to %(high)s an item"),
    gettext_noop("unequal numbers of ratings: %(low)s to %(high)s a case"),
    gettext_noop("constant ratings: kappa has no expected disagreement"),
    gettext_noop("an intraclass correlation needs at least %(n)s cases"),
    gettext_noop("no case with two ratings"),
    gettext_noop("constant ratings"),
    gettext_noop("not the same raters on each case"),
    gettext_noop("cases do not differ: the denominator is not positive"),
    gettext_noop("the attribute has one value only"),
    gettext_noop("the raters never differ"),
    gettext_noop("the raters always differ"),
    gettext_noop("no other physician of the group decided the same"),
    gettext_noop("decides nothing that the other rater decided"),
    gettext_noop("the case alone tells it"),
    gettext_noop("not dealt"),
    gettext_noop("neither rater said met"),
    gettext_noop("neither rater said not met"),
    gettext_noop("neither rater said met: MF1 is the F1 of not met alone"),
    gettext_noop("neither rater said not met: MF1 is the F1 of met alone"),
    gettext_noop("neither rater said met: its F1 is taken as %(value)s"),
    gettext_noop("neither rater said not met: its F1 is taken as %(value)s"),
    gettext_noop("the rater never said met"),
    gettext_noop("the rater never said not met"),
    gettext_noop("the reference never said met"),
    gettext_noop("the reference never said not met"),
    gettext_noop("AC1 rests on one class only"),
    gettext_noop("%(n)s resamples left out as undefined"),
    gettext_noop("%(n)s responses with fewer than %(k)s positive criteria left out"),
    gettext_noop("%(n)s responses have fewer than %(k)s positive criteria and cannot pass"),
    gettext_noop("clipped from %(value)s"),
    gettext_noop("setting %(setting)s"),
    gettext_noop("mf1 on the %(n)s pairs with a valid verdict: %(value)s"),
    gettext_noop("%(n)s pairs left out: invalid verdict of the reference"),
    gettext_noop("%(n)s pairs left out: undecided"),
    gettext_noop("%(n)s pairs left out: criterion faulty"),
    gettext_noop("%(n)s pairs left out: the jury was not of one mind"),
    gettext_noop("%(n)s pairs left out: the judge was not of one mind"),
    gettext_noop("%(n)s pairs left out: the judge or jury was not of one mind"),
    gettext_noop("%(n)s excluded cases left out"),
    gettext_noop("%(n)s invalid, %(missing)s missing"),
    gettext_noop("%(n)s of %(all)s pairs are undecided by the jury"),
    gettext_noop("%(n)s of %(all)s pairs are undecided by the judge"),
    gettext_noop("%(n)s of %(all)s pairs are undecided by the group"),
    gettext_noop("no response has a score"),
    gettext_noop("the raters share no pair that both answered met or not met"),
    gettext_noop("no figure to rank by"),
    gettext_noop("no rank: %(cases)s of the %(needed)s cases needed"),
    gettext_noop("no rank: no other candidate to be ranked with"),
    gettext_noop("no pair of expert groups: this takes two with submitted work"),
    gettext_noop("no interval"),
    gettext_noop("no test: %(cases)s of the %(needed)s cases needed"),
    gettext_noop("no test: nothing varies between cases"),
    gettext_noop("no pair on which one judge alone is right"),
    gettext_noop("in every case each judge alone is right equally often"),
    gettext_noop("no instance that another annotator labelled"),
    gettext_noop("not tested: %(n)s of the %(needed)s instances needed"),
    gettext_noop("not tested: every difference equals ε"),
    gettext_noop("every difference is the same: sign test"),
    gettext_noop("no annotator was tested: %(n)s instances are needed"),
    gettext_noop("%(n)s of the %(needed)s tested annotators needed"),
    gettext_noop("%(n)s pairs left out: undecided, not assessed or faulty"),
    gettext_noop("%(n)s pairs left out: one of the two judges was not to decide them"),
    # The first that fits says it: those of a judge in a jury stand before those that name the judge.
    gettext_noop("the judge learned from decisions on this candidate"),
    gettext_noop("the judge learned from decisions on %(names)s: only the other candidates measure it"),
    gettext_noop("%(members)s in the jury learned from decisions on this candidate"),
    gettext_noop("%(members)s in the jury learned from decisions on %(names)s: only the other candidates measure it"),
    gettext_noop("%(judge)s learned from decisions on this candidate"),
    gettext_noop("%(judge)s learned from decisions on %(names)s: only the other candidates measure it"),
    gettext_noop(
        "older runs of %(judge)s cover %(n)s more pairs than the runs that count (newest older run: %(date)s)"
    ),
    gettext_noop("no response with positive criteria"),
    gettext_noop("%(n)s responses without a score"),
    gettext_noop("%(n)s of the %(needed)s candidates needed have a score"),
    gettext_noop("%(n)s responses with fewer than k positive criteria"),
    gettext_noop("%(n)s responses written with model references shown left out"),
    gettext_noop("%(n)s responses without a record of how they were written taken as unaided"),
    gettext_noop("%(n)s responses graded by one of their authors left out"),
    gettext_noop("%(n)s responses not graded by the group left out"),
    gettext_noop("%(n)s responses with a faulty positive criterion left out"),
    gettext_noop("%(n)s responses with an undecided positive criterion left out"),
    # Prediction-powered scores and plans
    gettext_noop("no response that the judge scored is graded by physicians"),
    gettext_noop("the judge scored no response"),
    gettext_noop("no interval: all labelled cases are alike"),
    gettext_noop("no interval: all judged cases are alike"),
    gettext_noop("no interval: the judge’s errors are all alike in the sample, those elsewhere unknown"),
    gettext_noop("no interval: all of it is outside the bounds of the measure"),
    gettext_noop("physicians graded all of them: the judge adds nothing"),
    gettext_noop("the judge says the same of all: it adds nothing"),
    gettext_noop("not recorded how the graded responses were drawn: taken as a random sample"),
    gettext_noop("the graded responses came by several draws: taken as one random sample"),
    gettext_noop("the graded responses were drawn from a part of the cases: taken as a random sample of all"),
    gettext_noop("weighted by the inverse of the recorded inclusion probabilities"),
    gettext_noop("%(n)s of %(all)s drawn responses are graded so far"),
    gettext_noop("%(n)s graded responses without a score to put beside the judge’s"),
    gettext_noop("%(n)s graded responses that the judge was not to judge left out"),
    gettext_noop("the judge learned from decisions on other candidates: on cases it has not seen it may err more"),
    gettext_noop("no plan: the pilot has %(n)s of the %(needed)s labelled cases needed"),
    gettext_noop("no plan: all labelled cases are alike"),
    gettext_noop("no plan: %(n)s of the %(needed)s cases needed"),
    gettext_noop("no plan: both have %(n)s of the %(needed)s cases needed"),
    gettext_noop("no plan: the differences are all alike"),
    gettext_noop("no plan: the judge learned from this candidate"),
    gettext_noop("out of reach: physicians on all %(n)s cases give ±%(width)s, it takes %(more)s cases"),
    gettext_noop("no plan with the judge for %(names)s: the judge learned from these candidates"),
    gettext_noop("no number for %(n)s candidates"),
    gettext_noop("%(n)s draws left out as undefined"),
    gettext_noop("the same true value: there is no order to turn"),
    gettext_noop("%(n)s pairs of candidates that the judge learned from left out"),
    gettext_noop("only the worst and the best judge’s errors are carried on"),
    gettext_noop("no judge has a finished run"),
    gettext_noop("no judge shares pairs of both outcomes with the group"),
    gettext_noop("no other candidate is graded in full by the group"),
    # Answers to questions about cases
    gettext_noop("no answers"),
    gettext_noop("one answer has no spread"),
    gettext_noop("a single option"),
)


def pairs_left_out(n: int, why: str) -> list[str]:
    """The remark on ``n`` pairs that a figure leaves out, in English; none where there is no such pair."""
    return [f"{n} {'pair' if n == 1 else 'pairs'} left out: {why}"] if n else []


def faulty_note(n: int) -> list[str]:
    """The remark on pairs whose criterion an adjudicator found faulty."""
    return pairs_left_out(n, "criterion faulty")


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    patterns = []
    for template in TEMPLATES:
        parts = re.split(r"%\((\w+)\)s", template)
        pattern = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
        patterns.append((re.compile(re.sub("(responses|pairs)\\b", r"\1?", pattern)), template))
    return patterns


def in_words(remarks: str) -> str:
    """Remarks as stored, ``kappa, alpha: constant ratings: …; 2 pairs left out: undecided``, translated one by one."""
    if not remarks or (get_language() or "en").startswith("en"):
        return remarks
    return "；".join(_one(remark) for remark in remarks.split("; "))


def _one(remark: str) -> str:
    for pattern, template in _patterns():
        match = pattern.fullmatch(remark)
        if match:
            return gettext(template) % match.groupdict()
    names, colon, why = remark.partition(": ")
    return f"{names}：{_one(why)}" if colon else remark
