"""Failures that raters mark in responses: how often, by whom, how they agree, and with what they go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.failures.inputs import (
    FINAL,
    JUDGE,
    UNKNOWN,
    book_called,
    coding_judges,
    is_part,
    rater_labels,
    read_failures,
)
from agreement.failures.tables import ANY, failure_tables
from agreement.forms import ReportForm, choose, grouped
from agreement.kinds.failures_page import body, figures, rater_words
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import headline, raters_table
from agreement.models import Report
from agreement.reports.endpoint_facts import endpoint_facts
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import counted
from agreement.reports.tables import Result
from agreement.selectors.rater_choices import rater_choices
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from rubrics.models import Benchmark, CodeBook

BELOW = 50  # percent


class FailuresForm(ReportForm):
    """A version of the code book, two raters, whose codes are counted, and by whom coverage is low."""

    code_book = forms.ChoiceField(label=gettext_lazy("Code book"))
    rater_a = forms.ChoiceField(label=gettext_lazy("First rater"))
    rater_b = forms.ChoiceField(label=gettext_lazy("Second rater"))
    counted = forms.ChoiceField(
        label=gettext_lazy("Rates are of"),
        help_text=gettext_lazy("Whose codes count by candidate, theme and difficulty, and together with others."),
    )
    graded_by = forms.ChoiceField(
        label=gettext_lazy("Coverage as graded by"),
        required=False,
        help_text=gettext_lazy("Whose decisions on the criteria say which responses have low coverage."),
    )
    below = forms.IntegerField(
        label=gettext_lazy("Low coverage below, %"),
        min_value=1,
        max_value=100,
        initial=BELOW,
        help_text=gettext_lazy("Rubric Accuracy of a response: its share of positive criteria that are met."),
    )
    field_order = ["code_book", "rater_a", "rater_b", "counted", "graded_by", "below", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        books = list(CodeBook.objects.filter(benchmark=benchmark, used_at__isnull=False).order_by("-version"))
        labels = list(dict.fromkeys(label for book in books for label in rater_labels(book)))
        shown = rater_labels(book_called(benchmark, None)) if books else []
        groups = [label for label in shown if label.startswith("group:")]
        people = [label for label in shown if label.startswith("physician:")]
        judges = [label for label in shown if label.startswith(JUDGE)]
        self.ready = len(people) + len(judges) > 1
        choose(self, "code_book", [(str(book.version), str(book)) for book in books])
        choices = [(label, rater_words(label)) for label in labels]
        choose(self, "counted", choices)
        for name in ("rater_a", "rater_b"):  # of final codes all physicians are a part
            choose(self, name, [(label, words) for label, words in choices if judges or label != FINAL])
        likely = groups if len(groups) > 1 else [*people, *judges, *groups]
        for name, label in zip(("rater_a", "rater_b"), likely, strict=False):
            self.fields[name].initial = label
        if books:
            self.fields["code_book"].initial = str(book_called(benchmark, None).version)
        choose(self, "graded_by", [("", _("No one")), *grouped(rater_choices(benchmark))])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    book = book_called(benchmark, parameters.get("code_book"))
    known = rater_labels(book)
    own: dict[str, Any] = {"code_book": str(book.version)}
    final = FINAL if FINAL in known else next(iter(known), None)
    for name, default in (("rater_a", None), ("rater_b", None), ("counted", final)):
        label = parameters.get(name) or default
        if label not in known:
            message = _("“%(name)s” does not name a rater who coded by this version. Known are: %(known)s.")
            raise WrongParameters(message % {"name": name, "known": ", ".join(known)}, field=f"parameters.{name}")
        own[name] = label
    if own["rater_a"] == own["rater_b"]:
        raise WrongParameters(
            _("Choose different raters: a rater always agrees with itself."), field="parameters.rater_b"
        )
    for part, whole in ((own["rater_a"], own["rater_b"]), (own["rater_b"], own["rater_a"])):
        if is_part(book, part, whole):
            message = _("Choose raters neither of whom is a part of the other: “%(whole)s” contains “%(part)s”.")
            names = {"whole": rater_words(whole), "part": rater_words(part)}
            raise WrongParameters(message % names, field="parameters.rater_b")
    graded_by = parameters.get("graded_by") or ""
    own["graded_by"] = named_raters(benchmark, {"graded_by": graded_by}, "graded_by")["graded_by"] if graded_by else ""
    below = parameters.get("below", BELOW)
    number = int(below) if isinstance(below, int | str) and str(below).isascii() and str(below).isdigit() else 0
    if isinstance(below, bool) or not 1 <= number <= 100:
        raise WrongParameters(_("“below” must be a whole number from 1 to 100."), field="parameters.below")
    return own | {"below": number}


def compute(
    benchmark: Benchmark,
    *,
    code_book: str,
    rater_a: str,
    rater_b: str,
    counted: str,
    graded_by: str,
    below: int,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    book = book_called(benchmark, code_book)
    judges = coding_judges({"rater_a": rater_a, "rater_b": rater_b, "counted": counted})
    inputs, rater = read_failures(benchmark, book, graded_by, judges)
    progress(0.3)
    for name in (rater_a, rater_b, counted):
        if name not in inputs.marks:  # such as a judge whose run was continued meanwhile
            raise WrongParameters(_("“%(name)s” has no codes at present.") % {"name": name})
    tables = failure_tables(
        inputs,
        rater_a=rater_a,
        rater_b=rater_b,
        counted=counted,
        below=below / 100,
        graded_by=rater.label if rater else "",
        rule=rule,
    )
    behind = raters_table(*([rater] if rater else []))
    leading = next(row for row in tables["failures"].dicts() if row["rater"] == counted and row["code"] == ANY)
    # What only others have coded says nothing about the figures of this rater.
    coded = (inputs.marks[counted] != UNKNOWN).any(axis=1)
    known = coded & ~np.isnan(inputs.accuracy)
    n_cases = len(np.unique(inputs.case[coded]))
    facts = {
        "code_book": book.version,
        "code_book_digest": book.digest,
        "codes": [{"key": code.key, "en": code.title_en, "zh": code.title_zh} for code in inputs.codes],
        "coders": list(inputs.marks),
        "rater_a": rater_a,
        "rater_b": rater_b,
        "counted": counted,
        "graded_by": rater.label if rater else "",
        "runs": [run.public_id for run in rater.runs] if rater else [],
        "judges": [row["rater"] for row in tables["failures_judges"].dicts()],
        **endpoint_facts(judge.run.endpoint_kind for judge in inputs.judges.values()),
        "below": below,
        "n_low": int((known & (np.nan_to_num(inputs.accuracy) < below / 100)).sum()),
        "n_graded": int(known.sum()),
        "n_responses": int(coded.sum()),
        "n_cases": n_cases,
        "raters": behind.dicts(),
        "headline": headline(leading, "rate"),
        **interval_facts(rule, float(effective_cases(np.ones((n_cases, 1)))[0]) if n_cases else None),
    }
    return Result(tables={**tables, "raters": behind}, facts=facts, digest=inputs.digest)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Failures by version %(version)s of the code book: %(a)s and %(b)s") % {
        "version": given["code_book"],
        "a": rater_words(given["rater_a"]),
        "b": rater_words(given["rater_b"]),
    }


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    book = book_called(benchmark, given["code_book"])
    inputs, _rater = read_failures(benchmark, book, given["graded_by"], coding_judges(given))
    return inputs.digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    return [
        f"Failures were marked in {counted(facts['n_responses'], 'response')} to "
        f"{counted(facts['n_cases'], 'case')} by a code book of {counted(len(facts['codes']), 'code')} "
        f"(version {facts['code_book']}, SHA-256 {facts['code_book_digest'][:12]}); that no code applies is an answer "
        "of its own.",
        "A rate is the share of responses in which a rater marked the code. The codes of a group are those that most "
        "of its physicians marked; final codes are those of the adjudicator where there is a ruling, and else those "
        "that most physicians marked. A tie leaves a code of a response undecided, and out.",
        f"{counted(len(facts['judges']), 'judge')} coded responses by the same definitions and examples, and quoted "
        "the words that show a code. The table of judges says how many responses each has coded, how many answers "
        "stayed faulty after further requests, and how many never came: these code nothing. Final codes are those of "
        "physicians alone."
        if facts.get("judges")
        else "",
        "Agreement on each code treats it as present or absent in each response that both raters coded; alpha is over "
        "all physicians (Krippendorff 2011).",
        f"Coverage is low where fewer than {facts['below']}% of the positive criteria of a response are met, by the "
        f"decisions of {facts['graded_by']}, counted as in scores: faulty criteria do not count, verdicts that are "
        "invalid or missing count against the candidate, and responses that a physician has not answered whole are "
        "left out. Risk "
        "and odds ratios compare the rate of a code there with that among the other responses, with intervals on the "
        "scale of logarithms over cases."
        if facts["graded_by"]
        else "",
    ]


KIND = Kind(
    value=Report.Kind.FAILURES,
    parameters=frozenset({"code_book", "rater_a", "rater_b", "counted", "graded_by", "below"}),
    complete=complete,
    compute=compute,
    title=title,
    form=FailuresForm,
    invitation=Invitation(
        gettext_lazy("Failures"),
        gettext_lazy(
            "How often each failure of the code book is marked, by candidate, theme and difficulty; how raters agree "
            "on each; and which go together, and with low coverage."
        ),
        gettext_lazy(
            "This report requires responses that two raters have coded by the code book: physicians or judges."
        ),
    ),
    template="agreement/kinds/failures.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Responses with a failure"), 2),
    methods=methods,
    digest=digest,
)
