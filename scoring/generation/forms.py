"""Forms of generation runs; `scoring.generation.config` alone validates settings."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Generic, TypeVar

from django import forms
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_KEY_LENGTH, MAX_SETTING_LENGTH
from consilium.core.strict_json import read_json
from rubrics.models import Benchmark, Candidate, Framing
from rubrics.models.cases import Difficulty, Register
from rubrics.selectors.lists import named_languages, tag_counts
from scoring.endpoint_forms import EndpointForm
from scoring.generation.config import DecodingConfig, GenerationConfig, generation_config
from scoring.generation.due_responses import CaseFrame, frame_of
from scoring.generation.runs import MAX_SAMPLES, SETTING, check_candidate, framing_settings
from scoring.judges.config import InvalidConfig

# Fields that say what is requested; all other fields are settings.
NOT_SETTINGS = (
    *("candidate", "setting", "framing", "samples", "tag", "difficulty", "register", "language", "cases", "draw_seed"),
)


def _default(name: str) -> Any:
    return DecodingConfig.model_fields[name].default


ConfigT = TypeVar("ConfigT", bound=DecodingConfig)


class DecodingForm(EndpointForm):
    """An endpoint, how its model decodes, and how fast it is asked."""

    top_p = forms.FloatField(
        label=_("Top p"),
        required=False,
        help_text=_("Leave empty to send no value."),
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
    max_tokens = forms.IntegerField(
        label=_("Maximum tokens per answer"),
        initial=_default("max_tokens"),
        help_text=_("An answer that is cut off there is kept and marked."),
    )
    seed = forms.IntegerField(
        label=_("Model seed"),
        required=False,
        help_text=_("Sample n uses seed + n. Leave empty to send no seed."),
    )
    stop = forms.CharField(
        label=_("Stop sequences"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=_("One per line, at most four."),
    )
    extra = forms.CharField(
        label=_("Further parameters"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
        help_text=_('A JSON object, such as {"top_k": 20, "reasoning_effort": "low"}.'),
    )
    concurrency = forms.IntegerField(label=_("Concurrent requests"), initial=_default("concurrency"))
    attempts = forms.IntegerField(
        label=_("Attempts per request"),
        initial=_default("attempts"),
        help_text=_("If the endpoint fails. After the last attempt the response counts as failed."),
    )

    def clean_stop(self) -> list[str]:
        """Stop sequences, one a line."""
        return [line for line in self.cleaned_data["stop"].replace("\r\n", "\n").split("\n") if line]

    def clean_extra(self) -> dict[str, Any]:
        """A JSON object."""
        text = self.cleaned_data["extra"]
        if not text:
            return {}
        try:
            value = read_json(text)
        except ValueError:
            raise forms.ValidationError(_("This is not valid JSON.")) from None
        if not isinstance(value, dict):
            raise forms.ValidationError(_("Enter a JSON object: {…}."))
        return value


class CandidateForm(DecodingForm, Generic[ConfigT]):
    """A candidate, the cases that it is asked about, its endpoint and how it decodes.

    ``checked`` are the settings once `checked_settings` has accepted them.
    """

    settings_of: ClassVar[type[DecodingConfig]]
    not_settings: ClassVar[tuple[str, ...]] = NOT_SETTINGS
    field_order = ("candidate",)

    candidate = forms.CharField(
        label=_("Candidate"),
        max_length=MAX_KEY_LENGTH,
        strip=True,
        help_text=_("The name that its responses are stored under. An existing name receives additional responses."),
        widget=forms.TextInput(attrs={"list": "candidates", "autocomplete": "off"}),
    )
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    difficulty = forms.ChoiceField(label=_("Difficulty"), required=False, choices=[("", _("Any")), *Difficulty.choices])
    register = forms.ChoiceField(label=_("Register"), required=False, choices=[("", _("Any")), *Register.choices])
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
        required=False,
        help_text=_("The same seed draws the same cases."),
    )
    samples = forms.IntegerField(
        label=_("Samples per case"),
        min_value=1,
        max_value=MAX_SAMPLES,
        initial=1,
        help_text=_("Numbered from 0. Existing samples are not requested again."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.checked: ConfigT | None = None
        self.known: Candidate | None = None
        for name, values in (
            ("tag", [(tag, f"{tag} ({number})") for tag, number in tag_counts(benchmark)]),
            ("language", named_languages(benchmark)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", _("Any")), *values]

    def clean_candidate(self) -> str:
        """A new name, or the name of a candidate that is a model."""
        name = str(self.cleaned_data["candidate"])
        try:
            self.known = check_candidate(self.benchmark, name)
        except DomainError as error:
            raise forms.ValidationError(str(error)) from None
        return name

    def checked_settings(self) -> ConfigT:
        """The settings; `InvalidConfig` names each field that is wrong."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        try:
            self.checked = self.checked_settings()
        except InvalidConfig as error:
            self.refuse(error)
        return self.cleaned_data

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them."""
        return {name: value for name, value in self.cleaned_data.items() if name not in self.not_settings}

    def frame(self) -> CaseFrame:
        """Which cases."""
        return frame_of({**self.cleaned_data, "seed": self.cleaned_data.get("draw_seed")})

    @property
    def speed(self) -> list[forms.BoundField]:
        """How fast, and how patiently."""
        return [self[name] for name in ("concurrency", "requests_per_minute", "timeout_s", "attempts", "pauses")]


class GenerationForm(CandidateForm[GenerationConfig]):
    """What responses are asked for with; the same fields serve to count, to try one request and to begin."""

    settings_of = GenerationConfig

    setting = forms.CharField(
        label=_("Setting"),
        max_length=MAX_SETTING_LENGTH,
        required=False,
        help_text=_(
            "A word that distinguishes the ways in which a candidate answers, such as chat or search. Leave "
            "empty for chat."
        ),
    )
    system_prompt = forms.CharField(
        label=_("System prompt"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_(
            "Precedes the conversation. It is kept with the candidate, and each response refers to it by its hash."
        ),
    )
    framing = forms.TypedChoiceField(
        label=_("Framing"),
        required=False,
        coerce=int,
        empty_value=None,
        help_text=_(
            "Applied to each case that consists of one user message, such as a description. Longer "
            "conversations are sent unchanged."
        ),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        field = self.fields["framing"]
        assert isinstance(field, forms.ChoiceField)
        self.has_framings = benchmark.framings.exists()
        field.choices = [("", _("Original case text")), *map(_framing_choice, benchmark.framings.all())]

    def checked_settings(self) -> GenerationConfig:
        """The settings; `InvalidConfig` names each field that is wrong."""
        framing = framing_settings(self.benchmark, self.cleaned_data.get("framing"))
        return generation_config({**self.config(), "framing": framing})

    @property
    def setting_name(self) -> str:
        """The setting, with its default."""
        return self.cleaned_data.get("setting") or SETTING

    @property
    def rarely_changed(self) -> list[forms.BoundField]:
        """Fields that few people touch."""
        return [self[name] for name in ("top_p", "seed", "stop", "extra", "setting")]


def _framing_choice(framing: Framing) -> tuple[int, str]:
    date = date_format(timezone.localtime(framing.created_at), "DATE_FORMAT")
    return framing.version, _now("Version %(n)s, %(date)s") % {"n": framing.version, "date": date}


def initial_of(values: dict[str, Any]) -> dict[str, Any]:
    """A run's settings as the form shows them."""
    initial = dict(values)
    initial["framing"] = (values.get("framing") or {}).get("version", "")
    initial["stop"] = "\n".join(values.get("stop", []))
    initial["extra"] = json.dumps(values["extra"], ensure_ascii=False) if values.get("extra") else ""
    return initial
