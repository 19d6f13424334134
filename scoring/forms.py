"""Forms of judges and runs; `scoring.judges.config` alone validates a judge's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import User
from consilium.core.commands import CommandForm, command_of, form_field
from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.limits import MAX_JUDGE_NAME_LENGTH
from consilium.llm.endpoint import ResponseFormat
from consilium.llm.prompts import PASTED, TEMPLATES, Template, UnusableTemplate, pasted_template
from rubrics.models import Benchmark, Candidate
from scoring.endpoint_forms import EndpointForm, SettingsForm
from scoring.judges.config import AskingConfig, ChatConfig, InvalidConfig, chat_config, check_judge_name
from scoring.models import Judge, Verdict
from scoring.runs.services import MAX_DRAW_SEED, RunFrame, RunTerms
from scoring.selectors.judges_and_runs import judges_to_run
from scoring.trained.training_data import MIN_CANDIDATES, MIN_DECISIONS, TrainingNumbers, training_numbers

CRITERIA_PER_REQUEST = {
    "one": _("One criterion per request"),
    "all": _("All criteria of a response in one request"),
}
AGGREGATES = {"majority": _("Majority vote"), "mean": _("Mean (in scores)")}
RESPONSE_FORMATS = {
    "json_schema": _("JSON by schema (OpenAI, vLLM)"),
    "json_object": _("JSON object"),
    "text": _("Plain text"),
}


def _default(name: str) -> Any:
    return AskingConfig.model_fields[name].default


class JudgeForm(SettingsForm):
    """The name of a judge, and its settings as the form of its kind adds them."""

    name = forms.CharField(
        label=pgettext_lazy("of a thing", "Name"),
        max_length=MAX_JUDGE_NAME_LENGTH,
        help_text=_("Name in reports and files. If you use an existing name, a new version is created."),
    )

    def clean_name(self) -> str:
        """A name that can be part of a rater's text, such as ``jury:A+B``."""
        try:
            return check_judge_name(self.cleaned_data["name"])
        except DomainError as error:
            raise forms.ValidationError(str(error)) from None

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them."""
        return {name: value for name, value in self.cleaned_data.items() if name != "name"}


class AskingJudgeForm(JudgeForm, EndpointForm):
    """How a judge asks a language model, and within which limits."""

    field_order = ("name",)

    response_format = forms.ChoiceField(
        label=_("Answer format"),
        choices=[(name, RESPONSE_FORMATS[name]) for name in get_args(ResponseFormat)],
        initial=_default("response_format"),
        help_text=_("The strictest format that the endpoint supports."),
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, help_text=_("Leave empty to send no value."))
    max_tokens = forms.IntegerField(
        label=_("Maximum tokens per answer"), initial=_default("max_tokens"), help_text=_("Per criterion.")
    )
    concurrency = forms.IntegerField(
        label=_("Concurrent requests"), initial=_default("concurrency"), help_text=_("All workers combined.")
    )
    tokens_per_minute = forms.FloatField(
        label=_("Tokens per minute"),
        required=False,
        help_text=_("Upper limit, input and output combined. Leave empty for no limit."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    price_in = forms.FloatField(
        label=_("Input price"),
        required=False,
        help_text=_("Per million tokens."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    price_out = forms.FloatField(
        label=_("Output price"),
        required=False,
        help_text=_("Per million tokens."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    currency = forms.CharField(
        label=_("Currency"), max_length=3, initial=_default("currency"), help_text=_("Three letters, such as USD.")
    )
    slices = forms.IntegerField(
        label=_("Workers"), initial=_default("slices"), help_text=_("Workers that share a run.")
    )
    attempts = forms.IntegerField(
        label=_("Attempts per request"),
        initial=_default("attempts"),
        help_text=_("If the endpoint fails. After the last attempt the verdict remains missing."),
    )
    re_asks = forms.IntegerField(
        label=_("Repeats after an invalid answer"),
        initial=_default("re_asks"),
        help_text=_("If an answer contains no verdict. After the last repeat it counts as invalid."),
    )

    unchecked = forms.BooleanField(
        label=_("Save without checking"),
        required=False,
        help_text=_("No request is sent. Runs fail if the endpoint, the key or the model is wrong."),
    )

    @property
    def offers_unchecked(self) -> bool:
        """Whether the form shows the tick: the endpoint check failed, or somebody has ticked it."""
        return self.is_bound and (bool(self.non_field_errors()) or bool(self["unchecked"].value()))

    @property
    def rarely_changed(self) -> list[forms.BoundField]:
        """Fields that few people touch."""
        return [self[name] for name in ("slices", "attempts", "re_asks", "pauses")]

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them."""
        values = {name: value for name, value in super().config().items() if name != "unchecked"}
        # An empty price counts as 0.
        return values | {name: values.get(name) or 0.0 for name in ("price_in", "price_out")}


class ChatJudgeForm(AskingJudgeForm):
    """Settings of a judge that asks a chat endpoint about criteria."""

    settings_of = ChatConfig

    prompt = forms.ChoiceField(
        label=_("Prompt"),
        choices=lambda: [
            *((name, translate(template.title)) for name, template in TEMPLATES.items()),
            (PASTED, _("Your own prompt, pasted below")),
        ],
    )
    system = forms.CharField(
        label=_("Your instructions"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_(
            "The benchmark’s rules, the rule about fences and the answer format are appended to these instructions."
        ),
    )
    user = forms.CharField(
        label=_("Your question"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=_(
            "Put {{conversation}}, {{response}} and {{criterion}} where they belong; {{transcript}} "
            "combines conversation and response, and {{points}} is the points. HealthBench’s own grader "
            "prompt can be pasted unchanged."
        ),
    )
    criteria_per_request = forms.ChoiceField(
        label=_("Criteria per request"),
        choices=list(CRITERIA_PER_REQUEST.items()),
        help_text=_(
            "All criteria in one request is cheaper, but may agree less with physicians. Compare both on the "
            "same sample."
        ),
    )
    aggregate = forms.ChoiceField(
        label=_("Combine repeated answers"),
        choices=list(AGGREGATES.items()),
        help_text=_("For runs that repeat each request."),
    )

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the judge's settings refuse it."""
        refuse_unchosen_prompt(self)
        try:
            chat_config(self.config())
        except InvalidConfig as error:
            self.refuse(error)
        return self.cleaned_data

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them."""
        values = super().config()
        if values.get("prompt") != PASTED:
            values |= {"system": "", "user": ""}
        return values


def refuse_unchosen_prompt(form: forms.Form) -> None:
    """A pasted prompt is not discarded because another one is selected in the menu."""
    data = form.cleaned_data
    if data.get("prompt") != PASTED and (data.get("system", "").strip() or data.get("user", "").strip()):
        form.add_error("prompt", _("You have written your own prompt. Choose it here, or clear the text below."))


class PromptForm(forms.Form):
    """The fields of a chat judge that define its prompt, read while other fields may still be empty."""

    prompt = ChatJudgeForm.base_fields["prompt"]
    system = ChatJudgeForm.base_fields["system"]
    user = ChatJudgeForm.base_fields["user"]
    criteria_per_request = ChatJudgeForm.base_fields["criteria_per_request"]

    def clean(self) -> dict[str, Any]:
        """Check the prompt as `ChatJudgeForm` does."""
        refuse_unchosen_prompt(self)
        return self.cleaned_data

    def template(self) -> Template | None:
        """The template, once the form is valid; None and an error where the pasted one cannot be used."""
        data = self.cleaned_data
        if data["prompt"] != PASTED:
            return TEMPLATES[data["prompt"]]
        try:
            return pasted_template(data["system"], data["user"])
        except UnusableTemplate as error:
            self.add_error("user", translate(error.args[0]))
            return None


class TrainedJudgeForm(JudgeForm):
    """A judge to be fitted on physicians' decisions."""

    group = forms.ChoiceField(label=_("Learns from"), required=False, help_text=_("Decisions after secondary check."))
    held_out = forms.MultipleChoiceField(
        label=_("Held-out candidates"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "The judge does not learn from these candidates; its performance is reported on them alone. "
            "If you select none, a quarter is drawn by the seed."
        ),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=_("The same decisions and seed produce an identical judge, byte for byte."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group, held_out = self.fields["group"], self.fields["held_out"]
        assert isinstance(group, forms.ChoiceField)
        assert isinstance(held_out, forms.MultipleChoiceField)
        self.benchmark = benchmark
        names = list(benchmark.groups.order_by("name").values_list("name", flat=True))
        group.choices = [("", _("All groups")), *((name, name) for name in names)]
        answered = benchmark.candidates.filter(responses__isnull=False).distinct().order_by("name")
        held_out.choices = [(name, name) for name in answered.values_list("name", flat=True)]

    min_candidates = MIN_CANDIDATES
    min_decisions = MIN_DECISIONS

    @cached_property
    def numbers(self) -> TrainingNumbers:
        """How much there is to learn from now."""
        return training_numbers(self.benchmark)

    @property
    def has_too_little(self) -> bool:
        """Whether training would fail for certain."""
        return self._too_little(self.numbers)

    @property
    def shortages(self) -> list[str]:
        """What there is too little of, and what helps; empty where there is enough."""
        return list(self._shortages(self.numbers))

    def _too_little(self, numbers: TrainingNumbers) -> bool:
        return any(True for _shortage in self._shortages(numbers))

    def _shortages(self, numbers: TrainingNumbers) -> Iterator[str]:
        if numbers.candidates < self.min_candidates:
            facts = {"n": f"{numbers.candidates:,}", "needed": f"{self.min_candidates:,}"}
            yield (
                _(
                    "Training needs decisions on at least %(needed)s candidates; now: %(n)s. Have physicians grade "
                    "responses of another candidate."
                )
                % facts
            )
        if numbers.decisions < self.min_decisions:
            facts = {"n": f"{numbers.decisions:,}", "needed": f"{self.min_decisions:,}"}
            yield (
                _(
                    "Training needs at least %(needed)s decisions to learn from; now: %(n)s. Train the judge when "
                    "physicians have decided more."
                )
                % facts
            )

    def clean(self) -> dict[str, Any]:
        """Refuse a training that would fail for certain."""
        data = super().clean() or {}
        group = data.get("group", "")
        numbers = training_numbers(self.benchmark, group) if group else self.numbers
        if self._too_little(numbers):
            raise forms.ValidationError(list(self._shortages(numbers)))
        return data


class RunForm(CommandForm):
    """Which judge judges which responses; the same fields serve to count the responses and to make the run."""

    commands = (RunTerms, RunFrame)
    field_order = ("judge", "replicates", "batch", "candidates", "kinds", "with_bases", "sample", "seed", "budget")
    judge = forms.ChoiceField(label=_("Judge"))
    batch = form_field(RunFrame, "batch", forms.ChoiceField)
    sample = form_field(RunFrame, "sample", min_value=1, max_value=1_000_000, required=False, initial=None)
    seed = form_field(RunFrame, "seed", max_value=MAX_DRAW_SEED, required=False, initial=None)
    budget = form_field(RunTerms, "budget", widget=forms.NumberInput(attrs={"step": "any"}))

    def __init__(self, *args: Any, benchmark: Benchmark, user: User, also: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        judges = judges_to_run(user, also=also)
        # A judge that reads levels is on a scale of its own benchmark.
        elsewhere = judges.exclude(benchmark=benchmark).filter(task=Judge.Task.ACUITY)
        self._judges = {judge.public_id: judge for judge in judges.exclude(pk__in=elsewhere)}
        choices: dict[str, list[tuple[str, str]]] = {"": []}
        for judge in self._judges.values():
            place = "" if judge.benchmark_id == benchmark.pk else judge.benchmark.title
            label = _("%(name)s, version %(version)s") % {"name": judge.name, "version": judge.version}
            choices.setdefault(place, []).append((judge.public_id, label))
        self._offer("judge", [*choices.pop(""), *choices.items()])
        batches = benchmark_batches(benchmark)
        self._offer("batch", [("", _("All responses of the benchmark")), *batches])
        self._offer("candidates", [(name, name) for name in _answered(benchmark)])

    def _offer(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    @property
    def has_derived(self) -> bool:
        """Whether there are responses that were made from others."""
        return Candidate.objects.filter(benchmark=self.benchmark, kind=Candidate.Kind.DERIVED).exists()

    @property
    def ready(self) -> bool:
        """Whether there is a judge that could run."""
        return bool(self._judges)

    @property
    def chosen(self) -> Judge:
        """The judge, once the form is valid."""
        return self._judges[self.cleaned_data["judge"]]

    def frame(self) -> RunFrame:
        """The frame, once the form is valid."""
        return command_of(RunFrame, self.cleaned_data)

    def terms(self) -> RunTerms:
        """The terms, once the form is valid."""
        return command_of(RunTerms, self.cleaned_data)


class ResumeForm(forms.Form):
    """How a run is resumed: with its budget, or with another one."""

    budget = RunForm.base_fields["budget"]


def benchmark_batches(benchmark: Benchmark) -> list[tuple[str, str]]:
    """The batches of responses of a benchmark as choices, the newest first.

    Attempts to qualify and questions about cases are stored as batches, too; there is no response in them to judge.
    """
    from annotation.models import Batch

    rows = Batch.objects.filter(group__benchmark=benchmark, kind=Batch.Kind.GRADE).select_related("group")
    return [(row.public_id, f"{row.title} ({row.group.name})") for row in rows.order_by("-created_at", "-pk")]


def _answered(benchmark: Benchmark) -> list[str]:
    candidates = benchmark.candidates.filter(responses__isnull=False).distinct().order_by("name")
    return list(candidates.values_list("name", flat=True))


class VerdictFilters(forms.Form):
    """Which verdicts of a run are shown."""

    outcome = forms.ChoiceField(
        label=_("Outcome"), required=False, choices=[("", _("All outcomes")), *Verdict.Outcome.choices]
    )
    candidate = forms.ChoiceField(label=_("Candidate"), required=False)

    def __init__(self, *args: Any, candidates: list[Candidate], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["candidate"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", _("All candidates")),
            *((candidate.public_id, candidate.name) for candidate in candidates),
        ]
