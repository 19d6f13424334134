"""Forms that validate what people send before a service is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.dashboard.counts import STAGES
from annotation.dashboard.names import Person
from annotation.dashboard.pieces import PieceFilter
from annotation.models import Assignment, Batch, ExpertGroup, Membership, RulingOutcome
from annotation.selectors.review_rounds import CHECK_CHOICES
from annotation.services import BatchTerms, ResponseFilter
from consilium.core.commands import CommandForm, command_of, form_field
from consilium.core.languages import language_name
from consilium.core.limits import (
    MAX_GROUP_NAME_LENGTH,
    MAX_KEY_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
)
from rubrics.models import Benchmark, Candidate


class SeenForm(forms.Form):
    """Which version the sender saw (0: none), and the id of this save."""

    version = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 2)
    client_id = forms.UUIDField(required=False)


class AmendmentForm(SeenForm):
    """A checker's other outcome, or that the criterion is to be reviewed, with the reason."""

    outcome = forms.ChoiceField(choices=CHECK_CHOICES)
    reason = forms.CharField(required=False, max_length=MAX_REASON_LENGTH)


class RulingForm(SeenForm):
    """An adjudicator's ruling on a conflict; the outcome ``none`` takes it back."""

    outcome = forms.ChoiceField(choices=[("none", ""), *RulingOutcome.choices])
    reason = forms.CharField(required=False, max_length=MAX_REASON_LENGTH)

    def clean_outcome(self) -> str:
        """``none`` takes the ruling back; a request that names no outcome at all is refused and takes nothing back."""
        outcome: str = self.cleaned_data["outcome"]
        return "" if outcome == "none" else outcome


class ReturnForm(forms.Form):
    """Why work is sent back."""

    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=MAX_NOTE_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Needed only if no criterion is marked for review."),
    )


class GroupForm(forms.Form):
    """An expert group's name."""

    name = forms.CharField(
        label=pgettext_lazy("of a thing", "Name"),
        max_length=MAX_GROUP_NAME_LENGTH,
        help_text=_("Members of this group see it; members of the other group do not."),
    )


class MemberForm(forms.Form):
    """A physician for a group, by address."""

    email = forms.EmailField(label=_("Email address"))
    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        required=False,
        help_text=_("For a person without an account yet."),
    )
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)


class CapacityForm(forms.Form):
    """The most responses that an annotator has open at a time."""

    capacity = forms.IntegerField(label=_("Capacity"), min_value=1, max_value=10_000, required=False)


class ExtendForm(forms.Form):
    """Another due date."""

    due_date = forms.DateField(
        label=_("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


class RenameForm(forms.Form):
    """Another title of a batch."""

    title = form_field(BatchTerms, "title")


class PieceForm(forms.Form):
    """Which pieces of a batch the list shows; unknown values are ignored."""

    status = forms.ChoiceField(label=_("State"), required=False)
    physician = forms.ChoiceField(label=_("Physician"), required=False)
    case = forms.CharField(label=_("Case"), max_length=MAX_KEY_LENGTH, required=False)

    STATES = (
        ("", _("All")),
        ("open", _("Open")),
        *((name, STAGES[name]) for name in ("not_started", "draft", "returned", "submitted", "in_check", "accepted")),
        ("unassigned", STAGES["unassigned"]),
        ("released", Assignment.Status.RELEASED.label),
    )

    def __init__(self, *args: Any, physicians: Iterable[Person], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        status, physician = self.fields["status"], self.fields["physician"]
        assert isinstance(status, forms.ChoiceField)
        assert isinstance(physician, forms.ChoiceField)
        status.choices = self.STATES
        named = [
            (person.pseudonym, f"{person.name} ({person.pseudonym})" if person.name else person.pseudonym)
            for person in physicians
        ]
        physician.choices = [("", _("All")), *sorted(named, key=lambda choice: choice[1].casefold())]

    def chosen(self) -> PieceFilter:
        """The cleaned filter; a field with an unknown value filters nothing."""
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


class BatchChoice(forms.ModelChoiceField):
    """Batches under the name of their group."""

    def label_from_instance(self, obj: Batch) -> str:
        """The name of the group and the title of the batch."""
        return f"{obj.group}: {obj}"


class BatchForm(CommandForm):
    """What goes into a batch, and how it is worked on; the preview and the batch are made from the same fields."""

    commands = (BatchTerms, ResponseFilter)
    exclude = ("check_fraction", "overlap_share")  # entered in percent here
    field_order = (
        *("title", "group", "candidates", "kinds", "difficulties", "registers", "languages", "tags", "cases", "draw"),
        *("skip_given", "annotators_per_item", "check_policy", "check_percent", "order", "due_date", "strategy"),
        *(
            "lease_hours",
            "specialty_match",
            "match_languages",
            "gold_per_annotator",
            "explain_cannot_assess",
            "include_invited",
        ),
        *("overlap_with", "overlap_percent", "seed", "digest"),
    )
    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id"
    )
    candidates = form_field(
        ResponseFilter, "candidates", forms.ModelMultipleChoiceField, queryset=Candidate.objects.none(),
        to_field_name="public_id", widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    tags = form_field(
        ResponseFilter, "tags", forms.CharField,
        widget=forms.TextInput(attrs={"list": "known-tags", "autocomplete": "off"}),
    )  # fmt: skip
    cases = form_field(ResponseFilter, "cases", forms.CharField, widget=forms.Textarea(attrs={"rows": 2}))
    check_percent = forms.FloatField(
        label=_("Share to check, %"), min_value=0, max_value=100, initial=25, required=False,
        help_text=_("Only for a random share."),
    )  # fmt: skip
    gold_per_annotator = form_field(BatchTerms, "gold_per_annotator", required=False)
    overlap_with = form_field(
        ResponseFilter, "overlap_with", BatchChoice, queryset=Batch.objects.none(), to_field_name="public_id",
        empty_label=_("No overlap"),
    )  # fmt: skip
    overlap_percent = forms.FloatField(
        label=_("Share that overlaps, %"), min_value=0.1, max_value=100, initial=100, required=False,
        help_text=_(
            "The rest is newly drawn from responses that are not in that batch. If “Number” is empty, "
                "the new batch is as large as that one."
        ),
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
        others = self.fields["overlap_with"]
        assert isinstance(others, forms.ModelChoiceField)
        given = Batch.objects.filter(group__benchmark=benchmark, kind=Batch.Kind.GRADE).select_related("group")
        others.queryset = given.order_by("group__name", "-created_at")
        if not given:
            del self.fields["overlap_with"], self.fields["overlap_percent"]
        if not benchmark.keyed_responses.filter(use="gold", active=True).exists():
            del self.fields["gold_per_annotator"]
        known = benchmark.cases.exclude(language="").order_by("language").values_list("language", flat=True).distinct()
        languages.choices = [(tag, language_name(tag)) for tag in known]

    @property
    def filters(self) -> list[forms.BoundField]:
        """The filter rows that have something to choose from."""
        rows = [self[name] for name in self.FILTERS]
        return [row for row in rows if len(list(row.field.choices)) > 1]  # type: ignore[attr-defined]

    def response_filter(self) -> ResponseFilter:
        """The cleaned filter."""
        data = self.cleaned_data
        return command_of(
            ResponseFilter,
            data,
            candidates=[candidate.public_id for candidate in data["candidates"]],
            tags=_words(data["tags"]),
            cases=_words(data["cases"]),
            overlap_with=other.public_id if (other := data.get("overlap_with")) else "",
            overlap_share=(data.get("overlap_percent") or 100) / 100,
        )

    def terms(self) -> BatchTerms:
        """The cleaned terms; the preview may lack a title."""
        data = self.cleaned_data
        return command_of(BatchTerms, data, check_fraction=(data["check_percent"] or 0) / 100)


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.replace("\n", ",").split(",")) if word]
