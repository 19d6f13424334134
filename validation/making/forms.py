"""The form of runs that make pairs; `validation.making.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_PAIR_GROUP_NAME_LENGTH
from rubrics.models import Benchmark, Candidate
from rubrics.selectors.lists import named_languages, tag_counts
from scoring.generation.due_responses import CaseFrame, frame_of
from scoring.pipelines.run_form import RunForm
from validation.making.building import Built, build
from validation.making.config import MAX_EACH, MakingConfig
from validation.models import ErrorKind, PairGroup
from validation.pairs.forms import JUDGEMENTS

FRAME = ("tag", "language", "cases", "draw_seed")


class MakingForm(RunForm):
    """The group, the references, the errors, endpoint and settings."""

    settings_of = MakingConfig
    not_settings = ("budget", "group", "judgements", "candidate", *FRAME)

    group = forms.CharField(
        label=pgettext_lazy("of pairs", "Group"),
        max_length=MAX_PAIR_GROUP_NAME_LENGTH,
        help_text=_("The group for these pairs. A new name creates a new group."),
        widget=forms.TextInput(attrs={"list": "pair-groups", "autocomplete": "off"}),
    )
    judgements = forms.TypedChoiceField(label=_("A pair is confirmed by"), coerce=int, choices=JUDGEMENTS, initial=1)
    candidate = forms.ChoiceField(
        label=_("References"),
        required=False,
        help_text=_("Good responses. Each pair is one of them and a copy with one error."),
    )
    kinds = forms.MultipleChoiceField(
        label=_("Kinds of errors"),
        choices=ErrorKind.choices,
        initial=ErrorKind.values,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Kinds are used in turn. If a reference has no suitable place for one, the model may choose another."
        ),
    )
    each = forms.IntegerField(label=_("Pairs per reference"), initial=1, min_value=1, max_value=MAX_EACH)
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)
    cases = forms.IntegerField(
        label=_("Number of cases"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Drawn at random. Leave empty to use all."),
    )
    draw_seed = forms.IntegerField(label=_("Seed for the draw"), min_value=0, max_value=2**31 - 1, required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.built: Built | None = None
        self.groups = list(PairGroup.objects.filter(benchmark=benchmark))
        names = Candidate.objects.filter(benchmark=benchmark).order_by("name").values_list("name", flat=True)
        for name, choices in (
            ("candidate", [("", _("Reference answers of the cases")), *((own, own) for own in names)]),
            ("tag", [("", _("Any")), *((tag, f"{tag} ({number})") for tag, number in tag_counts(benchmark))]),
            ("language", [("", _("Any")), *named_languages(benchmark)]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if "kinds" in values and "each" in values:
            try:
                self.built = build(
                    self.benchmark,
                    frame=self.frame(),
                    candidate=values.get("candidate", ""),
                    settings=self.config(),
                )
            except DomainError as error:
                self.refuse(error)
        return values

    def frame(self) -> CaseFrame:
        """Which cases."""
        return frame_of({**self.cleaned_data, "seed": self.cleaned_data.get("draw_seed")})
