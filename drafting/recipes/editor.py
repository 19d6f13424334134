"""The form of the recipe editor: its head, and a form for each model, each stage, the limits and the filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_RECIPE_NAME_LENGTH
from drafting.recipes.content import STAGES_OF, RecipeContent, RecipeStage
from drafting.recipes.editor_parts import Data, FiltersForm, LimitsForm, ModelForm, StageForm, initial_of
from drafting.recipes.shipped import ROLES
from rubrics.models import Benchmark
from scoring.endpoint_forms import SettingsForm


class HeadForm(SettingsForm):
    """The name of a recipe that is copied, or the version that a change is based on."""

    name = forms.CharField(label=_("Name"), max_length=MAX_RECIPE_NAME_LENGTH)
    based_on = forms.IntegerField(widget=forms.HiddenInput, min_value=0)


class RecipeEditor:
    """All forms of the editor; ``content`` is what it begins with.

    ``name`` is that of the recipe that is changed, and empty for a copy, which needs one.
    """

    def __init__(
        self, *, benchmark: Benchmark, content: RecipeContent, name: str, based_on: int, data: Data | None = None
    ) -> None:
        self.form, self.is_copy, self._name = content.form, not name, name
        self.head = HeadForm(data, initial={"based_on": based_on}, use_required_attribute=False)
        if not self.is_copy:
            del self.head.fields["name"]
        self.stages = [StageForm(data, stage=stage, content=content) for stage in STAGES_OF[content.form]]
        self.limits = LimitsForm(data, content=content)
        self.filters = FiltersForm(data, benchmark=benchmark, content=content)
        self.models = [
            ModelForm(data, role=role, initial=initial_of(content.models.get(role)), benchmark=benchmark)
            for role in ROLES
            if self.stages
        ]

    @property
    def searches(self) -> bool:
        """Whether the recipe looks passages up."""
        return self.form == "evidence"

    @cached_property
    def parts(self) -> Sequence[SettingsForm]:
        """Each form."""
        return [self.head, *self.models, *self.stages, self.limits, *([self.filters] if self.searches else [])]

    def is_valid(self) -> bool:
        """Whether each form is valid, and each model that a stage asks is given; all that is wrong is shown at once."""
        valid = sum(form.is_valid() for form in self.parts) == len(self.parts)
        by_role = {form.prefix: form for form in self.models}
        for stage in self.stages:
            if stage.is_bound and not stage.errors and stage.is_on:
                model_form = by_role[stage.cleaned_data["model"]]
                if not model_form.is_given and not model_form.errors:
                    model_form.add_error(None, _("The stage %(stage)s uses this model.") % {"stage": stage.words.title})
                    valid = False
        return valid

    @property
    def error_count(self) -> int:
        """How many fields cannot be used."""
        return sum(len(form.errors) for form in self.parts)

    @property
    def name(self) -> str:
        """What the recipe is called, once the form is valid."""
        return str(self.head.cleaned_data["name"]) if self.is_copy else self._name

    @property
    def based_on(self) -> int:
        """The newest version that the author saw."""
        return 0 if self.is_copy else int(self.head.cleaned_data["based_on"])

    def content(self) -> dict[str, Any]:
        """What the recipe holds, once the form is valid."""
        content: dict[str, Any] = {
            "form": self.form,
            "models": {form.prefix: form.config() for form in self.models if form.is_given},
            "stages": dict(self._stages()),
            "limits": self.limits.config(),
        }
        return content | ({"filters": self.filters.config()} if self.searches else {})

    def _stages(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for form in self.stages:
            yield form.stage, RecipeStage.model_validate(form.settings()).model_dump()

    def refuse(self, error: DomainError) -> None:
        """Show a refusal of the service above the form."""
        self.head.refuse(error)
