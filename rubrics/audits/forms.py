"""The form that draws an audit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.languages import language_name
from consilium.core.limits import MAX_TITLE_LENGTH
from rubrics.audits.drawing import ALL, NEVER_AUDITED, CaseFilter, tags_and_languages
from rubrics.audits.services import LARGEST_SEED, MAX_AUDITORS, AuditTerms
from rubrics.models import Benchmark, Difficulty, Register
from rubrics.slice_words import slice_words


class AuditForm(forms.Form):
    """Share, seed and filter."""

    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    share = forms.FloatField(
        label=_("Share in %"),
        min_value=0.1,
        max_value=100,
        initial=20,
        widget=forms.NumberInput(attrs={"step": "any"}),
        error_messages={
            "min_value": _("Enter a share from 0.1%% to 100%%."),
            "max_value": _("Enter a share from 0.1%% to 100%%."),
        },
    )
    auditors_per_case = forms.IntegerField(
        label=_("Auditors per case"),
        min_value=1,
        max_value=MAX_AUDITORS,
        initial=1,
        help_text=_("With two or more, the report shows how far they agree."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        help_text=_("The same seed always draws the same cases from the same benchmark."),
    )
    state = forms.ChoiceField(
        label=_("Drawn from"),
        choices=[(ALL, _("All published cases")), (NEVER_AUDITED, _("Cases that have not been audited yet"))],
    )
    difficulty = forms.ChoiceField(label=_("Difficulty"), required=False)
    register = forms.ChoiceField(label=_("Register"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)
    tag = forms.ChoiceField(label=_("Tag"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        today = date_format(timezone.localdate(), "DATE_FORMAT")
        self.fields["title"].initial = _now("Audit of %(date)s") % {"date": today}
        tags, languages = tags_and_languages(benchmark)
        for name, choices in (
            ("difficulty", list(Difficulty.choices)),
            ("register", list(Register.choices)),
            ("language", [(code, language_name(code)) for code in languages]),
            ("tag", [(tag, f"{slice_words(tag)} ({count})") for tag, count in tags]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", _("All")), *choices]

    def terms(self) -> AuditTerms:
        """The terms that were chosen in the form."""
        cleaned = self.cleaned_data

        def chosen(name: str) -> tuple[str, ...]:
            return (cleaned[name],) if cleaned[name] else ()

        return AuditTerms(
            title=cleaned["title"],
            share=cleaned["share"] / 100,
            seed=cleaned["seed"],
            auditors_per_case=cleaned["auditors_per_case"],
            filter=CaseFilter(
                state=cleaned["state"],
                tags=chosen("tag"),
                difficulties=chosen("difficulty"),
                registers=chosen("register"),
                languages=chosen("language"),
            ),
        )
