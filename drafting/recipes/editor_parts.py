"""The forms that the recipe editor consists of: of a model, of a stage, of the limits and of the filters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.utils import ErrorDict
from django.utils.translation import gettext_lazy as _

from documents.models import Collection, Document
from documents.search.forms import SearchForm
from documents.selectors import variety_of
from drafting.recipes.content import (
    MAX_PROMPT_LENGTH,
    OPTIONAL,
    STAGES_OF,
    Prompt,
    RecipeContent,
    RecipeFilters,
    RecipeLimits,
    RecipeModel,
)
from drafting.recipes.forms import ROLE_HELP, ROLE_TITLES
from drafting.recipes.shipped import ROLES
from drafting.recipes.texts import (
    LANGUAGE_NAMES,
    LANGUAGES,
    TAGS,
    faults_of,
    places_of,
    product_prompt,
    prompt_of,
    values_of,
)
from drafting.stage_words import STAGE_WORDS
from drafting.stages.names import AUDIT
from rubrics.models import Benchmark
from scoring.classification.forms import ClassificationForm
from scoring.endpoint_forms import SettingsForm
from scoring.generation.forms import DecodingForm
from scoring.judges.config import InvalidConfig, StrictConfig, checked_config

Data = Mapping[str, Any]
PARTS = ("system", "user")


class ModelForm(DecodingForm):
    """A model of the recipe. Without endpoint and name there is none."""

    settings_of = RecipeModel

    price_in = ClassificationForm.base_fields["price_in"]
    price_out = ClassificationForm.base_fields["price_out"]
    currency = ClassificationForm.base_fields["currency"]

    def __init__(self, data: Data | None = None, *, role: str, initial: dict[str, Any], benchmark: Benchmark) -> None:
        super().__init__(data, prefix=role, initial=initial, use_required_attribute=False)
        self.offer_keys(benchmark)
        self.title, self.help_text = ROLE_TITLES[role], ROLE_HELP[role]
        del self.fields["pauses"]  # a run pauses as a whole
        self.fields["max_tokens"].initial = RecipeModel.model_fields["max_tokens"].default
        self.fields["max_tokens"].help_text = _("A truncated answer is invalid.")
        self.fields["attempts"].help_text = _("If the endpoint fails; after that, the step counts as failed.")
        self.fields["seed"].help_text = _("Leave empty to send no value.")

    @property
    def is_given(self) -> bool:
        """Whether there is a model: its form names an endpoint or a model."""
        if not self.is_bound:
            return bool(self.initial)
        return any(str(self.data.get(self.add_prefix(name), "")).strip() for name in ("endpoint", "model"))

    def full_clean(self) -> None:
        """Check the model, where there is one."""
        if self.is_bound and not self.is_given:
            self._errors, self.cleaned_data = ErrorDict(), {}
            return
        super().full_clean()

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        try:
            checked_config(RecipeModel, self.config())
        except InvalidConfig as error:
            self.refuse(error)
        return self.cleaned_data

    def config(self) -> dict[str, Any]:
        """The settings of the model; an empty price counts as 0."""
        values = dict(self.cleaned_data)
        return values | {name: values.get(name) or 0.0 for name in ("price_in", "price_out")}

    @property
    def rarely_changed(self) -> list[forms.BoundField]:
        """Fields that few people touch."""
        names = ("top_p", "seed", "stop", "extra", "requests_per_minute", "timeout_s", "attempts")
        return [self[name] for name in names]


class StageForm(SettingsForm):
    """A stage: whether it is on, which model it asks, and its texts by language.

    The fields show the product's texts until somebody writes others; a text that is theirs, or empty, is not stored.
    """

    on = forms.BooleanField(label=_("On"), required=False)
    model = forms.ChoiceField(label=_("Model used"), choices=[(role, ROLE_TITLES[role]) for role in ROLES])

    def __init__(self, data: Data | None = None, *, stage: str, content: RecipeContent) -> None:
        settings = content.stage(stage)
        initial = {"on": settings.on, "model": settings.model}
        for language in LANGUAGES:
            prompt = prompt_of(content, stage, language)
            initial |= {f"{part}_{language}": getattr(prompt, part) for part in PARTS}
        super().__init__(data, prefix=stage, initial=initial, use_required_attribute=False)
        self.stage, self.words = stage, STAGE_WORDS[stage]
        self.is_optional = stage in OPTIONAL[content.form]
        if not self.is_optional:
            del self.fields["on"]
        for language in LANGUAGES:
            for part, label, rows in (("system", _("Instructions"), 12), ("user", _("Request"), 8)):
                self.fields[f"{part}_{language}"] = forms.CharField(
                    label=label,
                    required=False,
                    max_length=MAX_PROMPT_LENGTH,
                    widget=forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "lang": TAGS[language]}),
                )

    @property
    def places(self) -> list[str]:
        """The places that its request has, each once."""
        return places_of(self.stage)

    @property
    def values(self) -> list[str]:
        """The places for numbers that its texts may have."""
        return values_of(self.stage)

    @property
    def is_on(self) -> bool:
        """Whether the stage is part of the recipe as the form has it."""
        return not self.is_optional or bool(self["on"].value())

    @property
    def texts(self) -> list[tuple[str, str, list[forms.BoundField], bool]]:
        """For each language its code, its name, its two fields, and whether their texts are not the product's."""
        return [
            (
                TAGS[language],
                str(LANGUAGE_NAMES[language]),
                [self[f"{part}_{language}"] for part in PARTS],
                self.prompt(language) is not None,
            )
            for language in LANGUAGES
        ]

    @property
    def has_own_texts(self) -> bool:
        """Whether a text is not the product's."""
        return any(self.prompt(language) is not None for language in LANGUAGES)

    @property
    def has_text_errors(self) -> bool:
        """Whether a text cannot be used."""
        return any(name.startswith(PARTS) for name in self.errors)

    def sent(self, language: str) -> Prompt:
        """The texts that would be sent, as the form has them; an empty one is the product's."""
        product = product_prompt(self.stage, language)
        system, user = (_lines(self[f"{part}_{language}"].value()) or str(getattr(product, part)) for part in PARTS)
        return Prompt.model_construct(system=system, user=user)  # however long

    def prompt(self, language: str) -> Prompt | None:
        """The texts that the recipe keeps; None where both are the product's."""
        prompt = self.sent(language)
        return None if prompt == product_prompt(self.stage, language) else prompt

    def clean(self) -> dict[str, Any]:
        """Check the places of each text."""
        for language in LANGUAGES:
            for fault in faults_of(self.stage, language, self.sent(language)):
                self.add_error(f"{fault.part}_{language}", str(fault))
        return self.cleaned_data

    def settings(self) -> dict[str, Any]:
        """The stage as a recipe holds it."""
        prompts = {language: prompt for language in LANGUAGES if (prompt := self.prompt(language)) is not None}
        values = self.cleaned_data
        return {
            "on": values["on"] if self.is_optional else True,
            "model": values["model"],
            "prompts": {language: prompt.model_dump() for language, prompt in prompts.items()},
        }


def _lines(text: Any) -> str:
    """A text as it is stored: line breaks as one character, no blanks around it."""
    return str(text or "").replace("\r\n", "\n").strip()


class LimitsForm(SettingsForm):
    """How much goes from stage to stage; a recipe without passages has fewer fields, and keeps the other values."""

    passages_per_query = forms.IntegerField(label=_("Passages per query"))
    passages_per_document = forms.IntegerField(label=_("Passages per document"), help_text=_("Maximum in total."))
    pool = forms.IntegerField(label=_("Passages in total"), help_text=_("Number of passages to rank."))
    passages = forms.IntegerField(label=_("Passages kept"), help_text=_("Facts are extracted from these passages."))
    criteria = forms.IntegerField(label=_("Criteria per case"), help_text=_("Maximum."))
    audit_rounds = forms.IntegerField(
        label=_("Audit rounds"), help_text=_("Repeated only while automatic checks find problems.")
    )

    def __init__(self, data: Data | None = None, *, content: RecipeContent) -> None:
        self.stored = content.limits
        super().__init__(data, prefix="limits", initial=self.stored.model_dump(), use_required_attribute=False)
        shown = set(self.fields) if content.form == "evidence" else {"criteria"} if content.form == "direct" else set()
        if AUDIT in STAGES_OF[content.form]:
            shown.add("audit_rounds")
        for name in set(self.fields) - shown:
            del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """Check the limits as the recipe does."""
        return _checked(self, RecipeLimits)

    def limits(self) -> RecipeLimits:
        """The limits as the form has them; those of the recipe where the form has an error."""
        return RecipeLimits(**self.config()) if self.is_bound and self.is_valid() else self.stored

    def config(self) -> dict[str, Any]:
        """The limits; those that are not shown keep their values."""
        return {**self.stored.model_dump(mode="json"), **self.cleaned_data}


class FiltersForm(SettingsForm):
    """Which documents are searched, beside those in use that may be sent."""

    collections = forms.MultipleChoiceField(
        label=_("Collections"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Select none to include all."),
    )
    same_language = forms.BooleanField(label=_("Only documents in the language of the case"), required=False)
    jurisdiction = forms.ChoiceField(label=_("Jurisdiction"), required=False)
    kinds = forms.MultipleChoiceField(
        label=_("Kinds of documents"),
        required=False,
        choices=Document.Kind.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Select none to include all."),
    )
    max_tier = SearchForm.base_fields["tier"]
    published_from = SearchForm.base_fields["published_from"]

    def __init__(self, data: Data | None = None, *, benchmark: Benchmark, content: RecipeContent) -> None:
        stored = content.filters
        super().__init__(data, prefix="filters", initial=stored.model_dump(), use_required_attribute=False)
        collections = Collection.objects.filter(benchmark=benchmark).order_by("name").values_list("public_id", "name")
        codes = sorted({*variety_of(benchmark).jurisdictions, *filter(None, [stored.jurisdiction])})
        for name, choices in (
            ("collections", list(collections)),
            ("jurisdiction", [("", _("All")), *((code, code) for code in codes)]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Check the filters as the recipe does."""
        return _checked(self, RecipeFilters)

    def config(self) -> dict[str, Any]:
        """The filters as a recipe holds them."""
        values = self.cleaned_data
        published = values["published_from"]
        return {**values, "published_from": published.isoformat() if published else None}


def _checked(form: LimitsForm | FiltersForm, kind: type[StrictConfig]) -> dict[str, Any]:
    if not form.errors:
        try:
            checked_config(kind, form.config())
        except InvalidConfig as error:
            form.refuse(error)
    return form.cleaned_data


def initial_of(model: RecipeModel | None) -> dict[str, Any]:
    """A model as its form shows it; nothing where there is none."""
    if model is None:
        return {}
    values = model.model_dump()
    return {
        **values,
        "stop": "\n".join(model.stop),
        "extra": json.dumps(model.extra, ensure_ascii=False) if model.extra else "",
    }
