"""The form of runs of coverage; `validation.coverage.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.pipelines.run_form import RunForm
from validation.coverage.building import Built, build
from validation.coverage.config import SHARE, CoverageConfig
from validation.models import RubricSet
from validation.sets.selectors import rubric_sets


class CoverageForm(RunForm):
    """A gold set, the sets to measure, endpoint and settings; the same fields serve to count and to begin."""

    settings_of = CoverageConfig
    not_settings = ("budget", "gold", "sets")

    seed = None  # type: ignore[assignment]
    gold = forms.ChoiceField(label=_("Gold set"), help_text=_("Each of its criteria is a gold point."))
    sets = forms.MultipleChoiceField(
        label=_("Sets to measure"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "As controls, the model is also asked about the gold set against itself and about each set "
            "against the next case."
        ),
    )
    share = forms.FloatField(
        label=_("Share for physicians"),
        initial=SHARE,
        min_value=0,
        max_value=1,
        help_text=_("Share of the answers “full” and “not at all”. Physicians decide on all other answers anyway."),
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
    draw_seed = forms.IntegerField(
        label=_("Seed for the draw"),
        min_value=0,
        max_value=2**31 - 1,
        initial=CoverageConfig.model_fields["draw_seed"].default,
    )

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.built: Built | None = None
        own = list(rubric_sets(user, benchmark))
        self.known = {row.public_id: row for row in own}
        gold_first = sorted(own, key=lambda row: row.origin != RubricSet.Origin.GOLD)
        for name, rows in (("gold", gold_first), ("sets", own)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(row.public_id, f"{row.name} ({row.case_count})") for row in rows]

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if "gold" in values and "sets" in values:
            try:
                self.built = build(self.benchmark, self.gold_set, self.measured, self.config())
            except DomainError as error:
                self.refuse(error)
        return values

    @property
    def gold_set(self) -> RubricSet:
        """The gold set."""
        return self.known[self.cleaned_data["gold"]]

    @property
    def measured(self) -> list[RubricSet]:
        """The sets to measure, in the order of the list."""
        return [self.known[public_id] for public_id in self.cleaned_data["sets"]]
