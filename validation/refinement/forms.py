"""The form of runs of refinement; `validation.refinement.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Candidate
from rubrics.selectors.lists import languages, tag_counts
from scoring.generation.due_responses import frame_of
from validation.models import RubricSet
from validation.refinement.building import Built, Order, build
from validation.refinement.config import RefinementConfig
from validation.run_forms import RunForm
from validation.sets.selectors import rubric_sets

FRAME = ("tag", "language", "cases")
ORDER = ("candidate", "sets", "upper_bounds", "self_critique", "gold", "split")


class RefinementOrderForm(RunForm):
    """Base responses, what guides the arms, endpoint and settings; the same fields serve to count and to begin."""

    settings_of = RefinementConfig
    not_settings = ("budget", *ORDER, *FRAME)

    candidate = forms.ChoiceField(
        label=_("Base responses"), help_text=_("The first response to each case. They stay as they are.")
    )
    sets = forms.MultipleChoiceField(
        label=_("Rubric sets"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Each guides an arm of its own."),
    )
    self_critique = forms.BooleanField(
        label=_("Self-critique"), required=False, help_text=_("The model refines without criteria, for comparison.")
    )
    gold = forms.BooleanField(
        label=_("All gold criteria"),
        required=False,
        help_text=_("An upper bound, labelled so: they guide and grade."),
    )
    split = forms.BooleanField(
        label=_("Split the gold criteria"),
        required=False,
        help_text=_("A draw gives half of them to an arm of its own. The other half alone grades all arms."),
    )
    upper_bounds = forms.MultipleChoiceField(
        label=_("Label as upper bounds"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Sets that share criteria with the gold rubric are refused unless they are labelled so, or split."),
    )
    edit_model = forms.CharField(
        label=_("Another model for the edit"),
        required=False,
        max_length=200,
        help_text=_("At the same endpoint. Empty: the model that plans also edits."),
    )
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)
    cases = forms.IntegerField(
        label=_("Only so many cases"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Drawn at random; empty: all."),
    )
    draw_seed = forms.IntegerField(
        label=_("Seed of the draw"),
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=_("Of cases, and of the halves of the gold criteria."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.built: Built | None = None
        self.known: dict[str, RubricSet] = {own.public_id: own for own in rubric_sets(benchmark)}
        candidates = Candidate.objects.filter(benchmark=benchmark, responses__isnull=False).originals().distinct()
        self.names = list(candidates.order_by("name").values_list("name", flat=True))
        named = [(public_id, own.name) for public_id, own in self.known.items()]
        for name, choices in (
            ("candidate", [(own, own) for own in self.names]),
            ("sets", named),
            ("upper_bounds", named),
            ("tag", [("", _("Any")), *((tag, f"{tag} ({number})") for tag, number in tag_counts(benchmark))]),
            ("language", [("", _("Any")), *((code, code) for code in languages(benchmark))]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if "candidate" in values:
            try:
                self.built = build(self.benchmark, self.order(), self.config())
            except DomainError as error:
                self.refuse(error)
        return values

    def order(self) -> Order:
        """What is to be refined, and by what."""
        values = self.cleaned_data
        return Order(
            candidate=values["candidate"],
            sets=[self.known[public_id] for public_id in values.get("sets", [])],
            self_critique=values.get("self_critique", False),
            gold=values.get("gold", False),
            split=values.get("split", False),
            upper_bounds=values.get("upper_bounds", []),
            frame=frame_of({**values, "seed": values.get("draw_seed")}),
        )

    def config(self) -> dict[str, Any]:
        """The settings; an empty seed is 0."""
        values = super().config()
        return {**values, "draw_seed": values.get("draw_seed") or 0}
