"""The form of runs of refinement; `validation.refinement.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Candidate
from rubrics.selectors.lists import named_languages, tag_counts
from scoring.generation.due_responses import frame_of
from scoring.pipelines.run_form import RunForm
from validation.models import RubricSet
from validation.refinement.building import Built, Order, build
from validation.refinement.config import RefinementConfig
from validation.sets.selectors import rubric_sets

FRAME = ("tag", "language", "cases")
ORDER = ("candidate", "sets", "upper_bounds", "self_critique", "gold", "split")


class RefinementOrderForm(RunForm):
    """Base responses, what guides the arms, endpoint and settings; the same fields serve to count and to begin."""

    settings_of = RefinementConfig
    not_settings = ("budget", *ORDER, *FRAME)

    candidate = forms.ChoiceField(
        label=_("Base responses"), help_text=_("The first response to each case is used. It stays unchanged.")
    )
    sets = forms.MultipleChoiceField(
        label=_("Rubric sets"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Each set guides a separate arm."),
    )
    self_critique = forms.BooleanField(
        label=_("Self-critique"), required=False, help_text=_("The model refines without criteria, for comparison.")
    )
    gold = forms.BooleanField(
        label=_("All gold criteria"),
        required=False,
        help_text=_("They both guide and grade, so this arm is labelled an upper bound."),
    )
    split = forms.BooleanField(
        label=_("Split the gold criteria"),
        required=False,
        help_text=_("A random half guides a separate arm; only the other half grades all arms."),
    )
    upper_bounds = forms.MultipleChoiceField(
        label=_("Label as upper bounds"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Sets that share criteria with the gold rubric are accepted only if their arms are labelled as "
            "upper bounds or the gold criteria are split."
        ),
    )
    edit_model = forms.CharField(
        label=_("Different model for edits"),
        required=False,
        max_length=200,
        help_text=_("At the same endpoint. Leave empty to use the planning model for edits, too."),
    )
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)
    cases = forms.IntegerField(
        label=_("Number of cases"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Drawn at random. Leave empty to use all."),
    )
    draw_seed = forms.IntegerField(
        label=_("Seed for the draw"),
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=_("For drawing cases and splitting the gold criteria."),
    )

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.built: Built | None = None
        self.known: dict[str, RubricSet] = {own.public_id: own for own in rubric_sets(user, benchmark)}
        candidates = Candidate.objects.filter(benchmark=benchmark, responses__isnull=False).originals().distinct()
        self.names = list(candidates.order_by("name").values_list("name", flat=True))
        named = [(public_id, own.name) for public_id, own in self.known.items()]
        for name, choices in (
            ("candidate", [(own, own) for own in self.names]),
            ("sets", named),
            ("upper_bounds", named),
            ("tag", [("", _("Any")), *((tag, f"{tag} ({number})") for tag, number in tag_counts(benchmark))]),
            ("language", [("", _("Any")), *named_languages(benchmark)]),
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
