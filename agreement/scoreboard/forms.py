"""The form that creates a named slice."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agreement.forms import choose, grouped
from agreement.models import NamedSlice
from agreement.selectors.rater_choices import rater_choices
from consilium.core.limits import MAX_SLICE_SLUG_LENGTH, MAX_TITLE_LENGTH
from rubrics.models import Benchmark, Candidate

USUAL_SIZE = 100


class SubsetForm(forms.Form):
    """A rule, whose scores, which candidates, how many cases. ``ready``: there is a rater."""

    rule = forms.ChoiceField(label=_("Rule"), choices=NamedSlice.rules_to_choose())
    n = forms.IntegerField(
        label=_("Number"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Required for the hardest cases. For the other rules, leave empty to use all cases."),
    )
    rater = forms.ChoiceField(label=_("Decisions by"))
    candidates = forms.MultipleChoiceField(label=_("Candidates"), widget=forms.CheckboxSelectMultiple)
    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=MAX_SLICE_SLUG_LENGTH,
        required=False,
        help_text=_("Appears in tables as subset:NAME. Leave empty to create it from the title."),
    )

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
