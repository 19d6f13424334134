"""Forms of runs that split criteria; `validation.splitting.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_DESCRIPTION_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH
from rubrics.models import Benchmark
from scoring.pipelines.run_form import RunForm
from validation.models import RubricSet
from validation.sets.selectors import rubric_sets
from validation.splitting.building import Built, build
from validation.splitting.config import SplittingConfig


class SplittingForm(RunForm):
    """The set, endpoint and settings."""

    settings_of = SplittingConfig
    not_settings = ("budget", "gold")

    seed = None  # type: ignore[assignment]
    gold = forms.ChoiceField(
        label=_("Rubric set"), help_text=_("Each of its criteria is split into single statements, the gold points.")
    )

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.built: Built | None = None
        own = [row for row in rubric_sets(user, benchmark) if row.origin != RubricSet.Origin.SPLIT]
        own.sort(key=lambda row: row.origin != RubricSet.Origin.GOLD)
        self.known = {row.public_id: row for row in own}
        field = self.fields["gold"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(row.public_id, f"{row.name} ({row.case_count})") for row in own]

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if "gold" in values:
            try:
                self.built = build(self.benchmark, self.gold_set, self.config())
            except DomainError as error:
                self.refuse(error)
        return values

    @property
    def gold_set(self) -> RubricSet:
        """The set whose criteria are split."""
        return self.known[self.cleaned_data["gold"]]


class FreezeForm(forms.Form):
    """The name of the set that the points of a run become."""

    name = forms.CharField(label=_("Name"), max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = forms.CharField(
        label=_("Description"),
        max_length=MAX_DESCRIPTION_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
