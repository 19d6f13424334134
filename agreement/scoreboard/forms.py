"""The forms that create a named slice: from scores, and by a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from agreement.composition.dimensions import levels_of
from agreement.forms import choose, grouped
from agreement.models import NamedSlice
from agreement.scoreboard.filtered import SLICE_STATES, SliceFilter
from agreement.selectors.rater_choices import rater_choices
from annotation.models import ReferenceItem, ReferenceSet
from consilium.core.commands import CommandForm, command_of, form_field
from consilium.core.languages import language_name
from consilium.core.limits import MAX_SLICE_SLUG_LENGTH, MAX_TITLE_LENGTH
from rubrics.models import Benchmark, Candidate, Case, Difficulty, Register
from rubrics.selectors import lists
from rubrics.selectors.case_selection import NONE, STATES

USUAL_SIZE = 100


class NamingForm(forms.Form):
    """What a slice is called."""

    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=MAX_SLICE_SLUG_LENGTH,
        required=False,
        help_text=_("Appears in tables as subset:NAME. Leave empty to create it from the title."),
    )


class SubsetForm(NamingForm):
    """A rule, whose scores, which candidates, how many cases. ``ready``: there is a rater."""

    rule = forms.ChoiceField(label=_("Rule"), choices=NamedSlice.rules_of_scores())
    n = forms.IntegerField(
        label=_("Number"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Required for the hardest cases. For the other rules, leave empty to use all cases."),
    )
    rater = forms.ChoiceField(label=_("Decisions by"))
    candidates = forms.MultipleChoiceField(label=_("Candidates"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rater_offers = rater_choices(benchmark)
        candidates = Candidate.objects.filter(benchmark=benchmark, responses__isnull=False).distinct().order_by("name")
        rows = list(candidates.values_list("name", "kind"))
        self.ready = bool(rater_offers and rows)
        choose(self, "rater", grouped(rater_offers))
        choose(self, "candidates", [(name, name) for name, _kind in rows])
        self.fields["candidates"].initial = [name for name, kind in rows if kind == Candidate.Kind.MODEL]
        self.fields["n"].initial = USUAL_SIZE

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("rule") == NamedSlice.Rule.HARD and "n" in cleaned and cleaned["n"] is None:
            self.add_error("n", _("Enter how many of the hardest cases to use."))
        return cleaned

    @property
    def drawing(self) -> dict[str, Any]:
        """What `agreement.scoreboard.subsets.draw` takes, once the fields for it are valid."""
        return {name: self.cleaned_data[name] for name in ("rule", "rater", "candidates", "n")}


class FilterForm(NamingForm, CommandForm):
    """A filter of cases, saved under a name. ``ready``: there are cases."""

    commands = (SliceFilter,)
    exclude = ("reference_set",)
    rule = forms.CharField(widget=forms.HiddenInput, initial=NamedSlice.Rule.FILTER, required=False)
    tags = form_field(SliceFilter, "tags", widget=forms.SelectMultiple(attrs={"size": 6}))
    all_tags = form_field(SliceFilter, "all_tags", widget=forms.SelectMultiple(attrs={"size": 6}))
    state = form_field(
        SliceFilter,
        "state",
        forms.ChoiceField,
        choices=[("", _("All")), *((state, STATES[state]) for state in SLICE_STATES)],
    )

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ready = Case.objects.included().filter(benchmark=benchmark).exists()
        variety = lists.variety_of(benchmark)
        tags = [(tag, f"{tag} ({count})") for tag, count in variety.tags]
        without = (NONE, _now("Not given"))
        newest = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale").order_by("-number").first()
        ambiguous = {str(ReferenceItem.Status.AMBIGUOUS): str(ReferenceItem.Status.AMBIGUOUS.label)}
        candidates = Candidate.objects.filter(benchmark=benchmark).order_by("name").values_list("name", flat=True)
        for field, choices in (
            ("tags", tags),
            ("all_tags", tags),
            ("difficulties", [*Difficulty.choices, without]),
            ("registers", [*Register.choices, without]),
            ("languages", [*((tag, language_name(tag)) for tag in variety.languages), without]),
            ("candidates", [(name, name) for name in candidates]),
            ("levels", [(level, ambiguous.get(level, level)) for level in levels_of(newest)[1]]),
        ):
            choose(self, field, choices)
            if not choices:
                del self.fields[field]

    @staticmethod
    def initial_of(address: Mapping[str, Any]) -> dict[str, Any]:
        """The fields as the filters of the list of cases fill them, by their names in its address."""
        selection = lists.selection_of(address)
        names = ("text", "tags", "difficulties", "registers", "languages", "state")
        return {name: value for name in names if (value := getattr(selection, name))}

    @property
    def filter(self) -> SliceFilter:
        """The filter, once the form is valid."""
        return command_of(SliceFilter, self.cleaned_data)

    @property
    def boxes(self) -> list[forms.BoundField]:
        """Rows of boxes that have something to choose from."""
        return [self[name] for name in ("difficulties", "registers", "languages", "levels") if name in self.fields]

    @property
    def bounds(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Lower and upper bounds, in pairs."""
        return [(self[f"min_{name}"], self[f"max_{name}"]) for name in ("user_turns", "characters")]
