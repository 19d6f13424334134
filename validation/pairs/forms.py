"""Forms of pairs: one by hand, a file, and what a physician says."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_KEY_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PAIR_GROUP_NAME_LENGTH,
    MAX_REASON_LENGTH,
)
from rubrics.models import Benchmark, Case
from validation.models import ErrorKind, PairGroup, PairJudgement
from validation.near_miss import MAX_FIND_LENGTH, MAX_REPLACE_LENGTH
from validation.pairs.reading import MAX_TEXT_LENGTH
from validation.pairs.services import Answers, Change

JUDGEMENTS = [(1, _("One physician")), (2, _("Two physicians who agree"))]


class GroupForm(forms.Form):
    """The group that pairs go to; one that is there keeps its number of physicians."""

    group = forms.CharField(
        label=pgettext_lazy("of pairs", "Group"),
        max_length=MAX_PAIR_GROUP_NAME_LENGTH,
        help_text=_("A new name creates a new group."),
        widget=forms.TextInput(attrs={"list": "pair-groups", "autocomplete": "off"}),
    )
    judgements = forms.TypedChoiceField(
        label=_("A pair is confirmed by"),
        coerce=int,
        choices=JUDGEMENTS,
        initial=1,
        help_text=_("This cannot be changed for an existing group."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.groups = list(PairGroup.objects.filter(benchmark=benchmark))
        if self.groups and not self.is_bound:
            self.initial.setdefault("group", self.groups[0].name)
            self.initial.setdefault("judgements", self.groups[0].judgements_due)


class PairForm(GroupForm):
    """A pair by hand."""

    case = forms.CharField(
        label=_("Case"),
        max_length=MAX_KEY_LENGTH,
        help_text=_("The short name of the case."),
        widget=forms.TextInput(attrs={"list": "case-keys", "autocomplete": "off"}),
    )
    reference = forms.CharField(
        label=_("Reference"),
        max_length=MAX_TEXT_LENGTH,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("A good response. Leave empty to use the reference answer of the case."),
    )
    find = forms.CharField(
        label=_("Words to replace"),
        max_length=MAX_FIND_LENGTH,
        strip=False,
        help_text=_("Copy them exactly. The phrase must be long enough to appear only once in the reference."),
    )
    replace = forms.CharField(
        label=_("Replacement"),
        max_length=MAX_REPLACE_LENGTH,
        required=False,
        strip=False,
        help_text=_("Leave empty to delete these words."),
    )
    kind = forms.ChoiceField(label=_("Kind of error"), choices=ErrorKind.choices)
    axis = forms.CharField(label=_("Axis"), max_length=MAX_AXIS_LENGTH, required=False)
    why = forms.CharField(
        label=_("Why it matters"),
        max_length=MAX_REASON_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    field_order = ["case", "reference", "find", "replace", "kind", "axis", "why", "group", "judgements"]

    def clean_case(self) -> Case:
        """The case with this key."""
        case = Case.objects.filter(benchmark=self.benchmark, key=self.cleaned_data["case"]).first()
        if case is None:
            raise forms.ValidationError(_now("This case does not exist."))
        return case

    def clean(self) -> dict[str, Any]:
        """Take the reference answer where no reference is given."""
        cleaned = super().clean() or {}
        if isinstance(case := cleaned.get("case"), Case) and "reference" in cleaned:
            # Browsers send line ends as two characters.
            given = cleaned["reference"].replace("\r\n", "\n")
            cleaned["reference"] = given if given.strip() else case.reference_answer
            if not cleaned["reference"].strip():
                self.add_error("reference", _now("The case has no reference answer. Enter the reference here."))
        return cleaned

    def change(self) -> Change:
        """The change of a valid form."""
        values = self.cleaned_data
        return Change(values["find"], values["replace"], values["kind"], axis=values["axis"], why=values["why"])


class PairFileForm(GroupForm):
    """A file of pairs."""

    file = forms.FileField(
        label=_("File with pairs"),
        help_text=_("JSONL or CSV with case and kind, plus either reference and candidate, or find and replace."),
    )
    field_order = ["file", "group", "judgements"]


CHOOSE_YES_NO = _("Choose “Yes” or “No”.")
YES_NO = [("yes", pgettext_lazy("answer", "Yes")), ("no", pgettext_lazy("answer", "No"))]


class JudgementForm(forms.Form):
    """What a physician says about a pair."""

    single = forms.ChoiceField(
        label=_("Does the marked change make exactly one error?"),
        choices=YES_NO,
        widget=forms.RadioSelect,
        error_messages={"required": CHOOSE_YES_NO},
    )
    several = forms.BooleanField(label=_("No: it makes more than one error"), required=False)
    harm = forms.ChoiceField(
        label=_("How much harm could the change do?"),
        choices=PairJudgement.Harm.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose how much harm it could do.")},
    )
    flaw = forms.ChoiceField(
        label=_("Is anything in the first text wrong, whether marked or not?"),
        choices=YES_NO,
        widget=forms.RadioSelect,
        error_messages={"required": CHOOSE_YES_NO},
    )
    note = forms.CharField(
        label=_("Note"), max_length=MAX_NOTE_LENGTH, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean(self) -> dict[str, Any]:
        """A change without an error does no harm: whoever says so is asked whether it makes several errors."""
        values = dict(super().clean() or {})
        harms = values.get("harm") in (PairJudgement.Harm.DANGEROUS, PairJudgement.Harm.MINOR)
        if values.get("single") == "no" and harms and not values.get("several"):
            words = _(
                "Your answers say that the change makes no single error, and that it could do harm. If it makes more "
                "than one error, tick that. If it makes none, choose “None” as the harm."
            )
            self.add_error("single", words)
        elif values.get("single") == "yes" and values.get("several"):
            self.add_error("single", _("Choose “No” if the change makes more than one error; else remove the tick."))
        return values

    def answers(self) -> Answers:
        """The answers of a valid form."""
        values = self.cleaned_data
        return Answers(
            is_single=values["single"] == "yes",
            harm=values["harm"],
            has_other_flaw=values["flaw"] == "yes",
            note=values["note"],
        )

    @classmethod
    def of(cls, judgement: PairJudgement | None) -> JudgementForm:
        """The form with what was answered before."""
        if judgement is None:
            return cls()
        return cls(
            initial={
                "single": "yes" if judgement.is_single else "no",
                "several": not judgement.is_single and judgement.harm != PairJudgement.Harm.NONE,
                "harm": judgement.harm,
                "flaw": "yes" if judgement.has_other_flaw else "no",
                "note": judgement.note,
            }
        )
