"""The form of a supervision export."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.i18n import translate
from consilium.llm.prompts import TEMPLATES
from rubrics.models import Benchmark
from scoring.supervision.export import PROMPT, SupervisionTerms
from scoring.trained.training_data import DEV_SHARE


class SupervisionForm(forms.Form):
    """Whose decisions, for which prompt, and how the candidates are split."""

    group = forms.ChoiceField(label=_("Expert group"))
    prompt = forms.ChoiceField(
        label=_("Prompt"),
        initial=PROMPT,
        help_text=_("Serve the fine-tuned model as a chat judge with the same prompt."),
    )
    candidates = forms.MultipleChoiceField(
        label=_("Candidates"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Select none to include all candidates that answered on their own."),
    )
    held_out = forms.MultipleChoiceField(
        label=_("Held-out candidates"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "They are excluded from all files, so that the fine-tuned judge can be tested on them. If you "
            "select none, the seed decides."
        ),
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0)
    dev_share = forms.FloatField(
        label=_("Share for dev"),
        min_value=0.01,
        max_value=0.99,
        initial=DEV_SHARE,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
        help_text=_("Share of the candidates that are not held out; at least one."),
    )

    requests = forms.ChoiceField(
        label=_("Requests"),
        required=False,
        choices=[("", _("None")), ("held-out", _("Held-out candidates")), ("all", _("All candidates"))],
        help_text=_(
            "requests.jsonl contains what the fine-tuned judge is to be asked. Its answers can be imported as verdicts."
        ),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = benchmark.groups.order_by("name").values_list("name", flat=True)
        answered = benchmark.candidates.filter(responses__isnull=False).distinct().order_by("name")
        self._offer("group", [(name, name) for name in groups])
        self._offer("prompt", [(name, translate(template.title)) for name, template in TEMPLATES.items()])
        names = [(name, name) for name in answered.values_list("name", flat=True)]
        self._offer("candidates", names)
        self._offer("held_out", names)

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    @property
    def ready(self) -> bool:
        """Whether there is a group whose decisions could be written."""
        field = self.fields["group"]
        assert isinstance(field, forms.ChoiceField)
        return bool(field.choices)

    def terms(self) -> SupervisionTerms:
        """The choice, once the form is valid."""
        data = self.cleaned_data
        return SupervisionTerms(
            group=data["group"],
            held_out=tuple(data["held_out"]),
            prompt=data["prompt"],
            seed=data["seed"],
            dev_share=data["dev_share"],
            candidates=tuple(data["candidates"]),
            requests=data["requests"],
        )
