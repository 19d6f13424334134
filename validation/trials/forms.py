"""The form of runs of trials; `validation.trials.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.pipelines.run_form import RunForm
from validation.models import PairGroup, RubricSet
from validation.pairs.selectors import groups_of
from validation.sets.selectors import rubric_sets
from validation.trials.building import Built, Which, build
from validation.trials.config import MAX_TRIALS, TRIALS, TrialConfig


class TrialForm(RunForm):
    """Groups of pairs, the sets to try, endpoint and settings."""

    settings_of = TrialConfig
    not_settings = ("budget", "groups", "which", "sets")

    groups = forms.MultipleChoiceField(label=_("Groups of pairs"), widget=forms.CheckboxSelectMultiple)
    which = forms.ChoiceField(
        label=_("Pairs"),
        choices=Which.choices,
        initial=Which.CONFIRMED,
        help_text=_("Only pairs confirmed as dangerous count in the main figures."),
    )
    sets = forms.MultipleChoiceField(label=_("Rubric sets"), widget=forms.CheckboxSelectMultiple, required=False)
    no_rubric = forms.BooleanField(
        label=_("Also test without a rubric"),
        required=False,
        help_text=_("The model scores both texts from 0 to 10, which shows what it detects without criteria."),
    )
    trials = forms.IntegerField(
        label=_("Trials in each order"),
        initial=TRIALS,
        min_value=1,
        max_value=MAX_TRIALS,
        help_text=_("The same number of trials is repeated with the texts swapped."),
    )

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.built: Built | None = None
        groups, sets = list(groups_of(benchmark)), list(rubric_sets(user, benchmark))
        self.known_groups: dict[str, PairGroup] = {group.public_id: group for group in groups}
        self.known_sets: dict[str, RubricSet] = {own.public_id: own for own in sets}
        for name, choices in (
            ("groups", [(group.public_id, _group_words(group)) for group in groups]),
            ("sets", [(own.public_id, f"{own.name} ({own.case_count})") for own in sets]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if not values.get("sets") and not values.get("no_rubric") and "sets" not in self.errors:
            self.add_error("sets", _("Choose at least one set, or no rubric."))
        elif {"groups", "which", "sets", "trials"} <= values.keys():
            try:
                self.built = build(
                    self.benchmark,
                    groups=self.chosen_groups,
                    which=values["which"],
                    sets=self.chosen_sets,
                    settings=self.config(),
                )
            except DomainError as error:
                self.refuse(error)
        return values

    @property
    def chosen_groups(self) -> list[PairGroup]:
        """The groups, in the order of the list."""
        return [self.known_groups[public_id] for public_id in self.cleaned_data["groups"]]

    @property
    def chosen_sets(self) -> list[RubricSet]:
        """The sets to try, in the order of the list."""
        return [self.known_sets[public_id] for public_id in self.cleaned_data["sets"]]


def _group_words(group: Any) -> str:
    return f"{group.name} ({group.n_dangerous} / {group.n_all})"
