"""Forms for label questions, for the cases given out with them, and for the labelling page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from annotation.case_forms import CaseBatchForm
from annotation.labels.batches import CaseFilter, LabelTerms
from annotation.labels.services import (
    MAX_HELP_LENGTH,
    MAX_LABEL_LENGTH,
    MAX_OPTIONS,
    AnswerInput,
    Option,
    OptionRefused,
    QuestionInput,
)
from annotation.models import LabelQuestion, level_choices
from annotation.payload import LARGEST_ID, LARGEST_VERSION, Malformed, note_of
from consilium.core.commands import command_of, form_field
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_NOTE_LENGTH, MAX_QUESTION_NAME_LENGTH
from rubrics.acuity.scales import FOUR
from rubrics.acuity.scales import STARTERS as STARTER_SCALES
from rubrics.models import Benchmark, slug_characters

Row = tuple[str, Promise | str, Promise | str]


class Starter:
    """A ready-made question to begin from; ``scale`` names the starter scale of its levels."""

    def __init__(
        self, name: str, title: Promise, text: Promise | str, kind: str, options: list[Row], scale: str = ""
    ) -> None:
        self.name, self.title, self.text, self.kind, self._options = name, title, text, kind, options
        self.scale = scale

    @property
    def options(self) -> list[Row]:
        """Value, label and help of each answer."""
        if not self.scale:
            return self._options
        levels = level_choices(asdict(level) for level in STARTER_SCALES[self.scale].levels)
        return [(level["value"], level["label"], level["help"]) for level in levels]

    def initial(self) -> dict[str, Any]:
        """Initial values of the form, in the reader's language; the question then keeps these words."""
        return {"name": self.name, "text": str(self.text), "kind": self.kind, "scale": self.scale}

    def rows(self) -> list[dict[str, str]]:
        """Initial values of the rows of options; those of a scale are its own."""
        if self.scale:
            return []
        return [{"value": value, "label": str(label), "help": str(help)} for value, label, help in self.options]


STARTERS = {
    starter.name: starter
    for starter in (
        Starter(
            "urgency",
            _("Urgency"),
            _("How urgently does the person in this conversation need care?"),
            LabelQuestion.Kind.CHOICE,
            [
                ("emergent", _("Emergent"), _("Needs emergency care now, whatever further questions might reveal.")),
                (
                    "conditionally-emergent",
                    _("Conditionally emergent"),
                    _("May need emergency care: it depends on information that is not in the conversation."),
                ),
                ("non-emergent", _("Non-emergent"), _("Nothing in the conversation calls for emergency care.")),
            ],
        ),
        Starter(
            "asker",
            _("Asked by"),
            _("Who is most likely asking?"),
            LabelQuestion.Kind.CHOICE,
            [
                (
                    "health-professional",
                    _("Professional"),
                    _(
                        "Writes as someone who works in health care, with terms, tasks or access that a "
                        "patient does not have."
                    ),
                ),
                (
                    "non-health-professional",
                    _("Patient or public"),
                    _("Writes as a patient, a relative or another person without health care training."),
                ),
            ],
        ),
        Starter(
            "acuity",
            _("Acuity"),
            _("How acute is this case?"),
            LabelQuestion.Kind.ACUITY,
            [
                ("acuity-routine", _("Routine"), _("Can wait for an ordinary appointment.")),
                ("acuity-soon", _("Soon"), _("Should be seen within days.")),
                ("acuity-urgent", _("Urgent"), _("Should be seen today.")),
                ("acuity-immediate", _("Immediate"), _("Needs help at once.")),
            ],
        ),
        Starter(
            "level-of-care",
            _("Level of care"),
            _("What care does this case need, as it is described, and how soon?"),
            LabelQuestion.Kind.LEVELS,
            [],
            FOUR.name,
        ),
    )
}


class QuestionForm(forms.Form):
    """A question without its options."""

    name = forms.CharField(
        label=_("Short name"),
        max_length=MAX_QUESTION_NAME_LENGTH,
        validators=[slug_characters],
        help_text=_("For tables and files, such as urgency."),
    )
    text = forms.CharField(label=_("Question"), max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}))
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind, kind.label) for kind in LabelQuestion.ABOUT_CASES])
    scale = forms.ChoiceField(label=_("Scale"), required=False)
    threshold = forms.DecimalField(
        label=_("Agreement threshold, %"),
        min_value=50,
        max_value=100,
        decimal_places=2,
        initial=75,
        help_text=_("Share of the answers that the most frequent answer must reach. For two of three, enter 66.66."),
    )
    minimum_answers = forms.IntegerField(
        label=_("Minimum number of answers"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("A case with fewer answers counts as not answered yet. If empty: 3 on a scale, otherwise 2."),
    )

    def __init__(self, *args: Any, scales: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scale = self.fields["scale"]
        assert isinstance(scale, forms.ChoiceField)
        scale.choices = [(name, name) for name in scales]
        scale.required = self.is_levels

    @property
    def is_levels(self) -> bool:
        """Whether the form asks for votes on a scale, as far as it was sent."""
        return bool(self["kind"].value() == LabelQuestion.Kind.LEVELS)

    def frozen(self) -> None:
        """Make text, kind and scale read-only once the question is answered; their values come from the question."""
        for name in ("text", "kind", "scale"):
            self.fields[name].disabled = True

    def question_input(self, options: list[Option]) -> QuestionInput:
        """The cleaned question for the service."""
        data = self.cleaned_data
        return QuestionInput(
            name=data["name"],
            text=data["text"].replace("\r\n", "\n"),
            kind=data["kind"],
            options=options,
            threshold=float(data["threshold"] / Decimal(100)),
            minimum_answers=data["minimum_answers"],
            scale=data["scale"],
        )


class OptionForm(forms.Form):
    """One row of the options."""

    value = forms.CharField(
        label=_("Value"),
        max_length=MAX_LABEL_VALUE_LENGTH,
        validators=[slug_characters],
        widget=forms.TextInput(attrs={"autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}),
    )
    label = forms.CharField(label=_("Label"), max_length=MAX_LABEL_LENGTH)
    help = forms.CharField(label=_("What it means"), max_length=MAX_HELP_LENGTH, required=False)


class OptionRows:
    """The rows of options in a form; each has its own errors. Rows are added and removed without saving anything."""

    def __init__(self, rows: list[dict[str, str]], *, bound: bool, frozen: bool = False) -> None:
        self.forms: list[OptionForm] = []
        for number, row in enumerate(rows):
            prefix = f"option-{number}"
            data = {f"{prefix}-{name}": value for name, value in row.items()}
            form = OptionForm(data if bound else None, prefix=prefix, initial=row)
            for field in form.fields.values():
                field.disabled = frozen
            self.forms.append(form)

    @staticmethod
    def sent(data: Any) -> list[dict[str, str]]:
        """The rows of a request, at most one more than a question may have."""
        rows = []
        for number in range(MAX_OPTIONS + 1):
            if f"option-{number}-value" not in data:
                break
            rows.append({name: str(data.get(f"option-{number}-{name}", "")) for name in ("value", "label", "help")})
        return rows

    @property
    def full(self) -> bool:
        """Whether the question has as many options as it may have."""
        return len(self.forms) >= MAX_OPTIONS

    def is_valid(self) -> bool:
        """Whether every row is valid."""
        return not [form for form in self.forms if not form.is_valid()]  # all: each shows its errors

    def options(self) -> list[Option]:
        """The cleaned rows."""
        return [Option(**form.cleaned_data) for form in self.forms]

    def refuse(self, refused: OptionRefused) -> None:
        """Add the service's refusal to the row and field that it is about."""
        self.forms[refused.row].add_error(refused.field, str(refused))


class LabelBatchForm(CaseBatchForm):
    """Which cases a group answers which questions about; the preview and the batch are made from the same fields."""

    commands = (LabelTerms, CaseFilter)
    questions = forms.ModelMultipleChoiceField(
        label=_("Questions"),
        queryset=LabelQuestion.objects.none(),
        to_field_name="public_id",
        widget=forms.CheckboxSelectMultiple,
    )
    annotators_per_case = form_field(LabelTerms, "annotators_per_case", initial=3)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        questions = self.fields["questions"]
        assert isinstance(questions, forms.ModelMultipleChoiceField)
        questions.queryset = LabelQuestion.objects.about_cases().filter(benchmark=benchmark, active=True)

    def case_filter(self) -> CaseFilter:
        """The cleaned filter."""
        return command_of(CaseFilter, self.cleaned_data)

    def terms(self) -> LabelTerms:
        """The cleaned terms; the preview may lack a title."""
        return command_of(LabelTerms, self.cleaned_data)


def _passages_of(spans: Any) -> list[dict[str, Any]]:
    if type(spans) is not list or any(type(span) is not dict for span in spans):
        raise ValueError
    return spans


def _code_of(code: Any) -> dict[str, Any]:
    """A code of an answer, of the types that it has to have."""
    if type(code) is not dict or set(code) != {"code", "criterion", "evidence"} or type(code["code"]) is not str:
        raise ValueError
    criterion = code["criterion"]
    if criterion is not None and (type(criterion) is not int or not 0 < criterion <= LARGEST_ID):
        raise ValueError
    return {**code, "evidence": _passages_of(code["evidence"])}


def answer_of(row: Any) -> AnswerInput:
    """One answer as the labelling page sends it; `Malformed` on anything that the page never sends."""
    types = {"question": str, "value": str, "version": int, "client_id": str, "note": str}
    try:
        values = dict(row)
        certainty = values.pop("certainty", None)
        # A browser may have kept an answer since before there were votes on scales.
        vote = {name: values.pop(name, "") for name in ("upper", "reason", "escalation")}
        evidence, codes = _passages_of(values.pop("evidence", [])), values.pop("codes", [])
        if type(codes) is not list:
            raise ValueError
        if any(type(text) is not str for text in vote.values()):
            raise ValueError
        if set(values) != set(types) or any(type(values[name]) is not types[name] for name in types):
            raise ValueError
        if certainty is not None and type(certainty) is not int:
            raise ValueError
        if not 0 <= values["version"] <= LARGEST_VERSION or len(values["note"]) > 2 * MAX_NOTE_LENGTH:
            raise ValueError
        return AnswerInput(
            question=values["question"],
            value=values["value"],
            certainty=certainty,
            note=note_of(values["note"]),
            version=values["version"],
            client_id=UUID(values["client_id"]),
            evidence=evidence,
            codes=[_code_of(code) for code in codes],
            **vote,
        )
    except (KeyError, TypeError, ValueError):
        raise Malformed(_now("The request does not match the page. Reload the page.")) from None
