"""The form of a new release."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from consilium.core.commands import CommandForm, command_of, form_field
from consilium.core.limits import MAX_LICENCE_LENGTH, MAX_RELEASE_VERSION_LENGTH
from releases.content.options import ReleaseOptions
from releases.selectors.preview import Preview
from releases.services import MAX_NOTES_LENGTH
from rubrics.models import Benchmark


class ReleaseForm(CommandForm):
    """The content of a release beside cases and rubrics; content that does not exist cannot be chosen."""

    commands = (ReleaseOptions,)
    exclude = ("raters",)
    field_order = (
        *("version", "licence", "no_licence", "notes", "url", "reference_answers", "responses", "decisions"),
        *("verdicts", "codes", "acuity", "reading_texts", "votes", "certainty", "physicians_notes", "names"),
        *("candidates", "judges"),
    )
    version = forms.CharField(
        label=_("Version"),
        max_length=MAX_RELEASE_VERSION_LENGTH,
        help_text=_("Used in citations. A version never changes once it is released."),
    )
    licence = forms.CharField(
        label=_("Released under"), max_length=MAX_LICENCE_LENGTH, required=False,
        help_text=_(
            "An SPDX identifier such as CC-BY-4.0, or the terms in a few words. It is stored with the "
            "benchmark."
        ),
    )  # fmt: skip
    notes = forms.CharField(
        label=_("What is new in this version"), required=False, max_length=MAX_NOTES_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}), help_text=_(
            "Shown at the top of the data card, visible to everyone."
        ),
    )  # fmt: skip
    physicians_notes = form_field(ReleaseOptions, "notes")
    url = form_field(ReleaseOptions, "url", forms.URLField, assume_scheme="https")

    PARTS = (
        *("reference_answers", "responses", "decisions", "verdicts", "codes", "acuity", "reading_texts", "votes"),
        *("certainty", "physicians_notes", "names"),
    )

    def __init__(self, benchmark: Benchmark, preview: Preview, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.fields["licence"].initial = benchmark.licence
        if benchmark.licence:
            del self.fields["no_licence"]
        counts: dict[str, Any] = {
            "reference_answers": ngettext("%(n)s case has one.", "%(n)s cases have one.", preview.with_reference_answer)
            % {"n": f"{preview.with_reference_answer:,}"},
            "responses": ngettext("%(n)s response.", "%(n)s responses.", preview.responses)
            % {"n": f"{preview.responses:,}"},
            "decisions": ngettext("From %(n)d physician.", "From %(n)d physicians.", len(preview.raters))
            % {"n": len(preview.raters)},
            "physicians_notes": _("Read them first: a note may reveal more than its author meant to publish."),
            "verdicts": ngettext(
                "Of %(n)d judge: its newest finished run, or all its imported ones.",
                "Of %(n)d judges: the newest finished run of each, or all its imported ones.",
                len(preview.judges),
            )
            % {"n": len(preview.judges)},
            "codes": ngettext("%(n)s answer of physicians.", "%(n)s answers of physicians.", preview.code_answers)
            % {"n": f"{preview.code_answers:,}"},
            "acuity": ngettext(
                "%(n)s reading, %(sets)s signed reference sets. Cases need no rubric for it.",
                "%(n)s readings, %(sets)s signed reference sets. Cases need no rubric for it.",
                preview.readings,
            )
            % {"n": f"{preview.readings:,}", "sets": f"{preview.reference_sets:,}"},
            "reading_texts": _("Without the words, the list of readings that give no single level cannot be restored."),
            "votes": ngettext("%(n)s vote.", "%(n)s votes.", preview.votes) % {"n": f"{preview.votes:,}"},
            "certainty": _("The reference sets always include the median of each case."),
            "names": ngettext("%(n)d person has agreed.", "%(n)d people have agreed.", preview.names)
            % {"n": preview.names},
        }
        if preview.later_decisions:
            counts["decisions"] += " " + _(
                "Each annotator’s first decisions. Later changes of annotators and checkers, and rulings of "
                "adjudicators, are in files of their own."
            )
        if n := len(preview.coding_judges):
            counts["codes"] += " " + ngettext(
                "Also the codes of %(n)d judge.", "Also the codes of %(n)d judges.", n
            ) % {"n": n}
        if preview.responses_read:
            counts["responses"] += " " + _(
                "With acuity, this also includes %(n)s responses read by judges of levels, with their "
                "readings, where the text of the case may be redistributed."
            ) % {"n": f"{preview.responses_read:,}"}
        if preview.advice:
            counts["votes"] += " " + _("With responses, physicians’ readings are also included: %(n)s answers.") % {
                "n": f"{preview.advice:,}"
            }
        available = {
            "reference_answers": preview.with_reference_answer,
            "responses": preview.responses or preview.responses_read,
            "decisions": len(preview.raters),
            "physicians_notes": len(preview.raters) or preview.votes or preview.advice or preview.code_answers,
            "verdicts": len(preview.judges),
            "codes": preview.codes and preview.responses,
            "acuity": preview.acuity,
            "reading_texts": preview.readings,
            "votes": preview.votes or preview.advice,
            "certainty": preview.votes,
            "names": preview.names or preview.reference_sets,
        }
        for name in self.PARTS:
            self.fields[name].help_text = counts[name]
            self.fields[name].disabled = not available[name]
        self._choose("candidates", [(name, f"{name} ({count:,})") for name, count in preview.candidates])
        self._choose("judges", [(name, _judge_label(name, preview)) for name in preview.all_judges])

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = choices
        if len(choices) < 2:
            del self.fields[name]

    @property
    def parts(self) -> list[forms.BoundField]:
        """The fields for the content beside cases and rubrics."""
        return [self[name] for name in self.PARTS]

    def clean(self) -> dict[str, Any]:
        """Each part needs what it stands beside; there is either a licence, or an explicit choice of none."""
        given = super().clean() or {}
        if given.get("physicians_notes") and not any(given.get(name) for name in ("decisions", "codes", "acuity")):
            self.add_error(
                "physicians_notes",
                _("Notes are released only together with decisions, codes or acuity: select those as well."),
            )
        for name, needed, message in (
            (
                "codes",
                "responses",
                _("Codes of failures are released only together with the responses: select those as well."),
            ),
            (
                "reading_texts",
                "acuity",
                _("The words of readings are released only together with acuity: select that as well."),
            ),
            (
                "votes",
                "acuity",
                _("Votes are released only together with the other acuity data: select acuity as well."),
            ),
            ("certainty", "votes", _("Certainty is released only together with votes: select votes as well.")),
        ):
            if given.get(name) and not given.get(needed):
                self.add_error(name, message)
        if not given.get("licence") and not given.get("no_licence"):
            or_none = _("Enter a licence, or confirm below that there is none.")
            self.add_error("licence", or_none if "no_licence" in self.fields else _("Enter a licence."))
        return given

    def options(self) -> ReleaseOptions:
        """The chosen options."""
        given = self.cleaned_data
        return command_of(ReleaseOptions, given, notes=given["physicians_notes"], no_licence=not given["licence"])


def _judge_label(name: str, preview: Preview) -> str:
    """The judge, and which of verdicts and codes a release cannot have of it."""
    if name not in preview.judges:
        return gettext("%(judge)s (codes, no verdicts)") % {"judge": name}
    if preview.codes and name not in preview.coding_judges:
        return gettext("%(judge)s (verdicts, no codes)") % {"judge": name}
    return name
