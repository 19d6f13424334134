"""Forms of recipes: how one begins, and the terms of drafting. The editor's form is in `drafting.recipes.editor`."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.commands import CommandForm, form_field
from consilium.core.limits import MAX_MODEL_NAME_LENGTH, MAX_RECIPE_NAME_LENGTH
from drafting.recipes import selectors
from drafting.recipes.content import ModelRole, RecipeModel
from drafting.recipes.shipped import ROLES, SHIPPED
from drafting.recipes.terms import TermsOfDrafting
from rubrics.models import Benchmark
from scoring.endpoint_forms import EndpointForm
from scoring.judges.config import InvalidConfig, checked_config

ROLE_TITLES = {
    "strong": _("Strong model"),
    "fast": _("Fast model"),
    "checker": _("Checking model"),
}
ROLE_HELP = {
    "strong": _("Reads the passages and writes facts, needs and criteria."),
    "fast": _("Ranks passages and identifies facts that are not relevant to the case. It can be a cheaper model."),
    "checker": _(
        "Judges whether a quotation supports a fact. Use a different model from the one that wrote the "
        "facts, if possible."
    ),
}


def _name_field() -> forms.CharField:
    return forms.CharField(label=_("Name"), max_length=MAX_RECIPE_NAME_LENGTH)


class BeginForm(EndpointForm):
    """A new recipe: which shipped one it begins from, its name, one endpoint, and the models of the roles."""

    settings_of = RecipeModel
    field_order = ("shipped", "name")

    shipped = forms.ChoiceField(
        label=_("Start from"),
        choices=[(recipe.name, recipe.title) for recipe in SHIPPED.values()],
        widget=forms.RadioSelect,
        initial="full",
    )
    name = _name_field()

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=False, **kwargs)
        self.offer_keys(benchmark)
        # What few begin with; the editor has it for each model.
        for name in ("model", "temperature", "timeout_s", "requests_per_minute", "pauses"):
            del self.fields[name]
        roles = self._asked()
        self.fields["endpoint"].required = bool(roles)
        for role in ROLES:
            self.fields[role] = forms.CharField(
                label=ROLE_TITLES[role],
                max_length=MAX_MODEL_NAME_LENGTH,
                required=role in roles,
                help_text=ROLE_HELP[role],
            )

    def _asked(self) -> tuple[ModelRole, ...]:
        """The models that the chosen recipe asks; all before one is chosen, since the page hides those of others."""
        recipe = SHIPPED.get(str(self.data.get("shipped", "")))
        return ROLES if recipe is None else recipe.roles

    @property
    def roles(self) -> list[forms.BoundField]:
        """The fields of the models."""
        return [self[role] for role in ROLES]

    def clean(self) -> dict[str, Any]:
        """Check endpoint and models where the recipe asks any."""
        for role in self._asked():
            if self.cleaned_data.get(role) and not self.errors.keys() & {"endpoint", "key_env"}:
                try:
                    checked_config(RecipeModel, self._model_values(role))
                except InvalidConfig as error:
                    self.refuse(error)
        return self.cleaned_data

    def _model_values(self, role: ModelRole) -> dict[str, Any]:
        values = self.cleaned_data
        return {"endpoint": values["endpoint"], "key_env": values.get("key_env", ""), "model": values[role]}

    def content(self) -> dict[str, Any]:
        """What the recipe holds, once the form is valid."""
        recipe = SHIPPED[self.cleaned_data["shipped"]]
        models = {role: checked_config(RecipeModel, self._model_values(role)) for role in recipe.roles}
        return recipe.content(models).model_dump(mode="json")


class TermsForm(CommandForm):
    """How a benchmark uses suggestions."""

    commands = (TermsOfDrafting,)
    field_order = ("own_first", "reviewers_see", "recipe")
    recipe = form_field(TermsOfDrafting, "recipe", forms.ChoiceField)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["recipe"]
        assert isinstance(field, forms.ChoiceField)
        newest = list(selectors.newest_recipes(benchmark))
        stored = selectors.terms_of(benchmark).recipe
        if stored is not None and stored not in newest:  # an older version stays chosen until somebody changes it
            newest.insert(0, stored)
        field.choices = [("", _("None: authors cannot request drafts")), *((row.public_id, str(row)) for row in newest)]
