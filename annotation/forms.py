"""What people send, validated before a service sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.dashboard.people import Person
from annotation.dashboard.pieces import PieceFilter
from annotation.models import Batch, ExpertGroup, Membership, Outcome, RulingOutcome
from annotation.services import BatchTerms, ResponseFilter
from rubrics.models import Benchmark, Candidate, Difficulty, Register


class AmendmentForm(forms.Form):
    """A checker's other outcome, with the reason."""

    outcome = forms.ChoiceField(choices=Outcome.choices)
    reason = forms.CharField(required=False, max_length=2_000)


class RulingForm(forms.Form):
    """An adjudicator's word on a conflict."""

    outcome = forms.ChoiceField(choices=RulingOutcome.choices)
    reason = forms.CharField(required=False, max_length=2_000)


class ReturnForm(forms.Form):
    """Why work is sent back."""

    note = forms.CharField(label=_("What to look at again"), max_length=5_000, widget=forms.Textarea(attrs={"rows": 4}))


class GroupForm(forms.Form):
    """An expert group's name."""

    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("Its members see it; the other group’s members do not.")
    )


class MemberForm(forms.Form):
    """A physician for a group, by address."""

    email = forms.EmailField(label=_("E-mail address"))
    name = forms.CharField(
        label=_("Name"), max_length=200, required=False, help_text=_("For a person without an account yet.")
    )
    role = forms.ChoiceField(label=_("Part"), choices=Membership.Role.choices)


class ExtendForm(forms.Form):
    """Another due date."""

    due_date = forms.DateField(
        label=_("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


class PieceForm(forms.Form):
    """Which pieces of a batch the list shows; what it does not know it leaves out."""

    status = forms.ChoiceField(label=_("State"), required=False)
    physician = forms.ChoiceField(label=_("Physician"), required=False)
    case = forms.CharField(label=_("Case"), max_length=200, required=False)

    STATES = (
        ("", _("All")), ("open", _("Open")), ("not_started", _("Not started")), ("draft", _("Draft")),
        ("returned", _("Returned")), ("submitted", _("Handed in")), ("in_check", _("In check")),
        ("accepted", _("Accepted")), ("unassigned", _("In the pool")), ("released", _("Released")),
    )  # fmt: skip

    def __init__(self, *args: Any, physicians: Iterable[Person], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        status, physician = self.fields["status"], self.fields["physician"]
        assert isinstance(status, forms.ChoiceField)
        assert isinstance(physician, forms.ChoiceField)
        status.choices = self.STATES
        named = [(one.pseudonym, f"{one.name} ({one.pseudonym})" if one.name else one.pseudonym) for one in physicians]
        physician.choices = [("", _("All")), *sorted(named, key=lambda choice: choice[1].casefold())]

    def chosen(self) -> PieceFilter:
        """The cleaned filter; a field with something unknown in it filters nothing."""
        self.is_valid()
        data = self.cleaned_data
        return PieceFilter(data.get("status", ""), data.get("physician", ""), data.get("case", "").strip())


class BetweenForm(forms.Form):
    """Two groups whose differences are to be settled."""

    group = forms.ModelChoiceField(label=_("Group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id")
    other = forms.ModelChoiceField(label=_("and"), queryset=ExpertGroup.objects.none(), to_field_name="public_id")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("group", "other"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = benchmark.groups.all()


class BatchForm(forms.Form):
    """What goes into a batch, and how it is worked on; the same fields draw the preview and make the batch."""

    title = forms.CharField(label=_("Title"), max_length=200, help_text=_("Physicians see it: name no model in it."))
    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id"
    )
    candidates = forms.ModelMultipleChoiceField(
        label=_("Candidates"), queryset=Candidate.objects.none(), to_field_name="public_id", required=False,
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    kinds = forms.MultipleChoiceField(
        label=_("Kind of candidate"),
        choices=Candidate.Kind.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    difficulties = forms.MultipleChoiceField(
        label=_("Difficulty"), choices=Difficulty.choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    registers = forms.MultipleChoiceField(
        label=_("Register"), choices=Register.choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    languages = forms.MultipleChoiceField(label=_("Language"), required=False, widget=forms.CheckboxSelectMultiple)
    tags = forms.CharField(
        label=_("Tags"), required=False, help_text=_("Cases with any of these, separated by commas: theme:hedging, …"),
        widget=forms.TextInput(attrs={"list": "known-tags", "autocomplete": "off"}),
    )  # fmt: skip
    cases = forms.CharField(
        label=_("Cases"), required=False, help_text=_("Keys, separated by commas or line breaks."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )  # fmt: skip
    draw = forms.IntegerField(
        label=_("How many"), min_value=1, required=False, help_text=_("Drawn at random from what matches; empty: all.")
    )
    skip_given = forms.BooleanField(label=_("Leave out what this group was given before"), required=False, initial=True)
    annotators_per_item = forms.IntegerField(label=_("Annotators per response"), min_value=1, max_value=20, initial=1)
    check_policy = forms.ChoiceField(
        label=_("Secondary check"), choices=Batch.CheckPolicy.choices, initial=Batch.CheckPolicy.ALL
    )
    check_percent = forms.FloatField(
        label=_("Share to check, %"), min_value=0, max_value=100, initial=25, required=False,
        help_text=_("Only for a random share."),
    )  # fmt: skip
    order = forms.ChoiceField(label=_("Order of the queue"), choices=Batch.Order.choices, initial=Batch.Order.BY_CASE)
    due_date = forms.DateField(
        label=_("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**63 - 1,
        help_text=_("The same seed over the same responses draws the same batch."),
    )  # fmt: skip
    digest = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    FILTERS = ("candidates", "kinds", "difficulties", "registers", "languages")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group, candidates, languages = self.fields["group"], self.fields["candidates"], self.fields["languages"]
        assert isinstance(group, forms.ModelChoiceField)
        assert isinstance(candidates, forms.ModelMultipleChoiceField)
        assert isinstance(languages, forms.MultipleChoiceField)
        group.queryset = benchmark.groups.all()
        group.empty_label = None
        candidates.queryset = benchmark.candidates.all()
        known = benchmark.cases.exclude(language="").order_by("language").values_list("language", flat=True).distinct()
        languages.choices = [(language, language) for language in known]

    @property
    def filters(self) -> list[forms.BoundField]:
        """The filter rows that have something to choose from."""
        rows = [self[name] for name in self.FILTERS]
        return [row for row in rows if len(list(row.field.choices)) > 1]  # type: ignore[attr-defined]

    def response_filter(self) -> ResponseFilter:
        """The cleaned filter."""
        data = self.cleaned_data
        return ResponseFilter(
            candidates=[candidate.public_id for candidate in data["candidates"]],
            kinds=data["kinds"],
            difficulties=data["difficulties"],
            registers=data["registers"],
            languages=data["languages"],
            tags=_words(data["tags"]),
            cases=_words(data["cases"]),
            skip_given=data["skip_given"],
            draw=data["draw"],
        )

    def terms(self) -> BatchTerms:
        """The cleaned terms; a title that is not written yet does not keep the preview from being drawn."""
        data = self.cleaned_data
        return BatchTerms(
            title=data.get("title", ""),
            annotators_per_item=data["annotators_per_item"],
            check_policy=data["check_policy"],
            check_fraction=(data["check_percent"] or 0) / 100,
            order=data["order"],
            due_date=data["due_date"],
            seed=data["seed"],
        )


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.replace("\n", ",").split(",")) if word]
