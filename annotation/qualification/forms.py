"""Forms of admins for qualification, keys and held-back members."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.models import KeyedResponse, Outcome, QualificationRule
from annotation.qualification.keys import LARGEST_FILE, MAX_EXPLANATION_LENGTH


class RuleForm(forms.ModelForm[QualificationRule]):
    """What is required of annotators before they get work, and while they do it."""

    class Meta:
        model = QualificationRule
        fields = ("required", "pass_mark", "attempts", "wait_hours", "attempt_size", "gold_mark", "gold_minimum")
        labels = {
            "required": _("Annotators must qualify before they receive work"),
            "pass_mark": _("Pass mark (MF1)"),
            "wait_hours": _("Hours to wait between attempts"),
            "attempt_size": _("Responses per attempt"),
            "gold_mark": _("Gold-item pass mark (MF1)"),
            "gold_minimum": _("Minimum number of gold decisions"),
        }
        help_texts = {
            "pass_mark": _("From 0 to 1, over all criteria of an attempt."),
            "attempt_size": _(
                "Each attempt draws this many responses that the annotator has not had, and shows its agreed decisions "
                "when it ends. Leave empty to use the whole set each time; the agreed decisions are then hidden until "
                "the last attempt."
            ),
            "gold_mark": _(
                "Below this mark, assignments to an annotator are paused and you are notified. Leave empty "
                "to pause no one."
            ),
        }
        widgets = {
            "pass_mark": forms.NumberInput(attrs={"step": "0.01", "min": 0, "max": 1}),
            "gold_mark": forms.NumberInput(attrs={"step": "0.01", "min": 0, "max": 1}),
        }

    @classmethod
    def as_filled_in(cls, data: QueryDict, rule: QualificationRule) -> RuleForm:
        """The form as it was filled in when something else on its page was sent; of ``rule`` if it was not sent."""
        form = cls(data)
        if not any(name in data for name in form.fields):
            return cls(instance=rule)
        values = {bound.name: bound.data for bound in form}
        return cls(instance=rule, initial=values)


class KeyImportForm(forms.Form):
    """A file of agreed decisions; on the page, its fields belong to the element <form> of the rule, `form_id`."""

    form_id = "rule-and-keys"
    use_required_attribute = False  # else the rule could not be saved without a file

    use = forms.ChoiceField(
        label=_("For"), choices=KeyedResponse.Use.choices, widget=forms.Select(attrs={"form": form_id})
    )
    file = forms.FileField(
        label=_("CSV or JSONL: case, candidate, sample, criterion, outcome, explanation"),
        widget=forms.ClearableFileInput(attrs={"form": form_id}),
    )

    def clean_file(self) -> Any:
        """Refuse a file that is too large to be read at once."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(_("The file is larger than 5 MiB."))
        return file


class KeyForm(forms.Form):
    """Outcome and explanation of every criterion of a key."""

    def __init__(self, *args: Any, criteria: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.criteria = criteria
        for criterion in criteria:
            self.fields[f"outcome-{criterion}"] = forms.ChoiceField(label=_("Agreed decision"), choices=Outcome.choices)
            self.fields[f"explanation-{criterion}"] = forms.CharField(
                label=_("Explanation"),
                required=False,
                max_length=MAX_EXPLANATION_LENGTH,
                widget=forms.Textarea(attrs={"rows": 1, "placeholder": _("Explanation")}),
            )

    def decisions(self) -> dict[int, tuple[str, str]]:
        """Criterion → (outcome, explanation)."""
        data = self.cleaned_data
        return {
            criterion: (data[f"outcome-{criterion}"], data[f"explanation-{criterion}"]) for criterion in self.criteria
        }


class ReasonForm(forms.Form):
    """Why a member is held back, or why the hold is lifted."""

    reason = forms.CharField(label=_("Reason"), max_length=1_000, widget=forms.Textarea(attrs={"rows": 3}))
