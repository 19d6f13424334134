"""What physicians wrote, by mode of writing: unaided and beside references, with the scores of these references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.forms import ReportForm, choose, grouped
from agreement.judged.coverage import coverage_remarks
from agreement.judged.training_overlap import learned_candidates, learners
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.modes_page import body, figures
from agreement.kinds.shared import headline, raters_table
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters, checked_k, named_raters
from agreement.reports.sentences import counted, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, physician_candidates, rater_choices
from agreement.written.inputs import WrittenInputs, read_inputs
from agreement.written.tables import (
    AXES_COLUMNS,
    AXES_TEXT,
    BESIDE_COLUMNS,
    BESIDE_TEXT,
    MEAN,
    MODES_COLUMNS,
    MODES_TEXT,
    WRITTEN_COLUMNS,
    WRITTEN_TEXT,
    mode_tables,
)
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark, Response
from scoring.scores.points import DEFAULT_RULES
from scoring.selectors.raters import Rater, resolve_rater


class ModesForm(ReportForm):
    """A judge or a group, and the physicians whose responses are compared."""

    rater = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    candidates = forms.MultipleChoiceField(
        label=gettext_lazy("Responses by"), widget=forms.CheckboxSelectMultiple
    )  # fmt: skip
    k = forms.IntegerField(
        label=gettext_lazy("Threshold k"),
        min_value=1,
        max_value=LARGEST_K,
        required=False,
        help_text=gettext_lazy("Leave empty to omit CACS."),
    )
    field_order = ["rater", "candidates", "k", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        raters = [offer for offer in rater_choices(benchmark) if offer.is_judge or offer.kind == "group"]
        physicians = physician_candidates(benchmark)
        self.ready = bool(raters and physicians)
        choose(self, "rater", grouped(raters))
        choose(self, "candidates", [(name, name) for name in physicians])
        self.fields["candidates"].initial = physicians
        self.fields["k"].initial = suggested_k(benchmark)[0]


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    named = named_raters(benchmark, parameters, "rater")
    rater = resolve_rater(benchmark, named["rater"])
    if not rater.is_judge and not _is_group(rater):
        raise WrongParameters(_("Decisions must be those of a judge or of a group."), field="parameters.rater")
    k = parameters.get("k")
    return {
        **named,
        "candidates": _physicians(benchmark, parameters.get("candidates")),
        "k": None if k is None else checked_k(k),
    }


def _is_group(rater: Rater) -> bool:
    return rater.label.startswith("group:")


def _physicians(benchmark: Benchmark, given: Any) -> list[str]:
    """The physicians' candidates by name; all of them where none were named."""
    known = physician_candidates(benchmark)
    if given is None:
        given = known
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise WrongParameters(_("“candidates” must be a list of names."), field="parameters.candidates")
    if not given or (unknown := sorted(set(given) - set(known))):
        message = (
            _("Choose a candidate of the type physician. Physician candidates: %(known)s.")
            if not given
            else _("No physician candidate is called %(names)s. Physician candidates: %(known)s.")
        )
        names = ", ".join(unknown) if given else ""
        raise WrongParameters(
            message % {"names": names, "known": ", ".join(known) or _("none")}, field="parameters.candidates"
        )
    return sorted(set(given))


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    candidates: Sequence[str],
    k: int | None = None,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The scores of physicians' candidates by mode of writing, and beside the references that their writers saw."""
    inputs = _read(benchmark, rater, candidates, k)
    progress(0.5)
    tables = mode_tables(inputs, rule=rule)
    raters = raters_table(inputs.rater)
    runs = [run.public_id for run in inputs.rater.runs]
    leading = leading_row(tables.beside)
    return Result(
        tables={
            "modes": Table.of(MODES_COLUMNS, tables.modes, MODES_TEXT),
            "axes": Table.of(AXES_COLUMNS, tables.axes, AXES_TEXT),
            "beside": Table.of(BESIDE_COLUMNS, tables.beside, BESIDE_TEXT),
            **{
                f"beside_{measure}": Table.of(
                    BESIDE_COLUMNS, [row for row in tables.beside if row["measure"] == measure], BESIDE_TEXT
                )
                for measure in inputs.measures
            },
            "written": Table.of(WRITTEN_COLUMNS, tables.written, WRITTEN_TEXT),
            "raters": raters,
        },
        facts={
            "rater": inputs.rater.label,
            "candidates": list(candidates),
            "k": k,
            "rules": str(DEFAULT_RULES),
            "raters": raters.dicts(),
            "runs": runs,
            "learned": learned_candidates(benchmark, runs),
            "learned_by": learners(benchmark, inputs.rater),
            "n_responses": len(inputs.written),
            "n_cases": len({response.case for response in inputs.written}),
            "n_by_authors": sum(response.by_author for response in inputs.written),
            **({"headline": headline(leading, "difference")} if leading else {}),
            **interval_facts(rule, leading["difference_effective"] if leading else None),
        },
        notes=coverage_remarks(inputs.rater),
        digest=inputs.digest,
    )


def leading_row(beside: Sequence[Row]) -> Row | None:
    """The first comparison of responses with what their writers saw: rubric score, mean of the references."""
    aided = (row for row in beside if row["mode"] == Response.WritingMode.AIDED and row["against"] == MEAN)
    rows = [row for row in aided if row["measure"] == "rubric_score"]
    return next((row for row in rows if row["difference"] is not None), rows[0] if rows else None)


def _read(benchmark: Benchmark, rater: str, candidates: Sequence[str], k: int | None) -> WrittenInputs:
    return read_inputs(benchmark, rater=resolve_rater(benchmark, rater), candidates=candidates, k=k)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Writing modes of %(candidates)s, by %(rater)s") % {
        "candidates": ", ".join(given["candidates"]),
        "rater": display_name(given["rater"], runs),
    }


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return _read(benchmark, given["rater"], given["candidates"], given.get("k")).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = table_of(report, "beside").dicts()
    left_out = max((row["n_left_out"] for row in rows if row["measure"] == "rubric_score"), default=0)
    by_authors = facts["n_by_authors"]
    return [
        f"{counted(facts['n_responses'], 'response')} that physicians wrote ({listed(facts['candidates'])}) to "
        f"{counted(facts['n_cases'], 'case')} of the benchmark {report.benchmark.title} were scored by the decisions "
        f"of {rater_in_words(facts['rater'])}, by the mode in which they were written: unaided, or beside references, "
        "apart by the name of the mode or by the candidates whose responses were shown.",
        sentences.SCORES,
        sentences.coverage(facts["k"])
        if facts["k"]
        else "Rubric Accuracy is 100 times the share of criteria with positive points that are met, pooled over "
        "criteria.",
        sentences.counting(facts["rules"]),
        "Each response beside references is compared with the references that its writer was shown, by the mean of "
        "their scores and by the best of them; responses are counted as better, equal or worse than these (Arora et "
        "al. 2025). Unaided responses are compared with the same candidates’ responses to the same cases, which their "
        "writers did not see. A response counts only if it and all of its references have a score"
        + (f"; in one comparison up to {counted(left_out, 'response')} had none." if left_out else "."),
        f"{counted(by_authors, 'response')} graded by a physician who wrote one of the candidate’s responses "
        f"{'is' if by_authors == 1 else 'are'} excluded."
        if by_authors
        else "",
    ]


KIND = Kind(
    value=Report.Kind.MODES,
    parameters=frozenset({"rater", "candidates", "k"}),
    complete=complete,
    compute=compute,
    title=title,
    form=ModesForm,
    invitation=Invitation(
        gettext_lazy("Compare modes of writing"),
        gettext_lazy(
            "Whether physicians write better responses with model references than without, and whether they improve "
            "these references."
        ),
        gettext_lazy("This report requires decisions, and responses by a candidate of the type physician."),
    ),
    template="agreement/kinds/modes.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Written minus references, rubric score"), 3),
    methods=methods,
    digest=digest,
)
