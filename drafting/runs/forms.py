"""The form of runs of drafting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from drafting.models import DraftingRecipe
from drafting.runs.building import Built, build
from rubrics.models import Benchmark, Case
from rubrics.selectors.lists import named_languages, tag_counts
from scoring.generation.due_responses import CaseFrame, frame_of
from scoring.pipelines.forms import BudgetForm

MAX_KEYS_LENGTH = 1_000_000  # of all keys that are named; another run with the same settings names as many


class RecipeField(forms.ModelChoiceField):
    """A version of a recipe, by its public id."""

    def label_from_instance(self, obj: Any) -> str:
        """Name and version."""
        return _("%(name)s, version %(version)s") % {"name": obj.name, "version": obj.version}


class DraftingForm(forms.Form):
    """A version of a recipe, the cases, and a budget; the same fields serve to count and to begin."""

    recipe = RecipeField(
        label=_("Recipe"),
        queryset=DraftingRecipe.objects.none(),
        to_field_name="public_id",
        empty_label=None,
        help_text=_("The latest version of the recipe, with its models and texts, is copied into the run."),
    )
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)
    cases = forms.IntegerField(
        label=_("Cases"), required=False, min_value=1, help_text=_("Number to draw. Leave empty to include all.")
    )
    draw_seed = forms.IntegerField(label=_("Seed for the draw"), required=False, min_value=0, max_value=2**31 - 1)
    keys = forms.CharField(
        label=_("Only these cases"),
        required=False,
        max_length=MAX_KEYS_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Short names of cases, one per line; used instead of the choice above."),
    )
    budget = BudgetForm.base_fields["budget"]

    def __init__(self, *args: Any, benchmark: Benchmark, recipes: list[DraftingRecipe], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.built: Built | None = None
        self.chosen: Sequence[int] = ()  # cases that are named by their keys
        field = self.fields["recipe"]
        assert isinstance(field, RecipeField)
        field.queryset = DraftingRecipe.objects.filter(pk__in=[recipe.pk for recipe in recipes])
        for name, choices in (
            ("tag", [("", _("All")), *((tag, tag) for tag, _number in tag_counts(benchmark))]),
            ("language", [("", _("All")), *named_languages(benchmark)]),
        ):
            choice = self.fields[name]
            assert isinstance(choice, forms.ChoiceField)
            choice.choices = choices

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the recipe refuses it."""
        values = self.cleaned_data
        recipe = values.get("recipe")
        if recipe is not None and "keys" in values:
            try:
                self.built = build(self.benchmark, recipe, frame=self.frame(), cases=self.chosen)
            except DomainError as error:
                self.add_error(None, translate(error.args[0]))
        if self.built and values.get("budget") is not None:
            models = self.built.config.content.models.values()
            if not models or not all(model.priced for model in models):
                self.add_error("budget", _("To set a budget, enter the prices of the models."))
        return values

    def clean_keys(self) -> str:
        """The cases with these keys; an unknown one is named."""
        text: str = self.cleaned_data["keys"]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        pieces = [[key.strip() for key in re.split(r"[,，、;；]", line) if key.strip()] for line in lines]
        named = {*lines, *(key for own in pieces for key in own)}
        rows = Case.objects.filter(benchmark=self.benchmark, key__in=named)
        excluded = set(rows.filter(excluded_at__isnull=False).values_list("key", flat=True))
        known = dict(rows.included().values_list("key", "pk"))
        # A key may have commas in it; a line that is no key may hold several.
        keys = [
            key
            for line, own in zip(lines, pieces, strict=True)
            for key in ([line] if line in known or line in excluded else own)
        ]
        if not keys:
            return text
        if any(self.cleaned_data.get(name) for name in ("tag", "language", "cases")):
            raise forms.ValidationError(_("Choose cases either by short name, or by tag, language and number."))
        if left_out := [key for key in keys if key in excluded]:
            raise forms.ValidationError(_("The case “%(key)s” is excluded.") % {"key": left_out[0][:80]})
        if missing := [key for key in keys if key not in known]:
            raise forms.ValidationError(_("There is no case “%(key)s” in this benchmark.") % {"key": missing[0][:80]})
        self.chosen = [known[key] for key in keys]
        return text

    def frame(self) -> CaseFrame:
        """Which cases."""
        return frame_of({**self.cleaned_data, "seed": self.cleaned_data.get("draw_seed")})

    @property
    def chosen_budget(self) -> Decimal | None:
        """The budget, where there is one."""
        budget: Decimal | None = self.cleaned_data.get("budget")
        return budget
