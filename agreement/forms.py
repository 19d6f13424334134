"""Forms for new reports: each offers the raters of the benchmark and fills in likely defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agreement.models import Report
from agreement.selectors.rater_choices import RaterChoice, rater_choices
from consilium.core.commands import Label
from rubrics.models import Benchmark

LARGEST_SEED = 2**63 - 1
# The kinds of raters under a heading, and whether their verdicts were imported.
_KINDS = (
    (("group", "consensus"), False, _("Expert groups")),
    (("physician",), False, _("Physicians")),
    (("judge", "jury"), False, _("Judges")),
    (("run",), False, _("Single runs of judges")),
    (("judge", "run"), True, _("Imported verdicts")),
)


def grouped(rater_offers: Sequence[RaterChoice]) -> list[tuple[Any, Any]]:
    """Choices for a select, under headings."""
    choices: list[tuple[Any, Any]] = []
    for kinds, from_files, heading in _KINDS:
        own = [
            (offer.rater, offer.choice)
            for offer in rater_offers
            if offer.kind in kinds and offer.from_files == from_files
        ]
        if own:
            choices.append((heading, own))
    return choices


# The choice of slices by the first label, in the forms of the kinds that have it.
FIRST_LABELS = Label(
    _("Also slices by first labels"),
    _("By its first specialty and its first task each case counts once, however many it has."),
)


class ReportForm(forms.Form):
    """What the forms of all kinds share. ``ready``: there is enough to choose from."""

    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=LARGEST_SEED,
        initial=0,
        required=False,
        help_text=_("Used for everything that is drawn at random. The same seed gives the same results."),
    )
    interval = forms.ChoiceField(
        label=_("Intervals"),
        choices=Report.Interval.choices,
        initial=Report.Interval.JACKKNIFE,
        required=False,
        help_text=_(
            "With few cases, those of the percentile bootstrap are too narrow. Use them only to reproduce published "
            "figures."
        ),
    )
    ready: bool = True
    of_every_kind = ("interval", "seed")

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer(benchmark)

    def offer(self, benchmark: Benchmark) -> None:
        """Fill the choices with what ``benchmark`` has."""
        raise TypeError(f"{type(self).__name__} does not say what it offers")

    def parameters(self) -> dict[str, Any]:
        """The report's parameters, once the form is valid."""
        return {name: value for name, value in self.cleaned_data.items() if name not in self.of_every_kind}

    @property
    def chosen_interval(self) -> str:
        """The interval rule, once the form is valid."""
        return self.cleaned_data.get("interval") or Report.Interval.JACKKNIFE

    @property
    def chosen_seed(self) -> int:
        """The seed, once the form is valid."""
        return self.cleaned_data["seed"] or 0


def choose(form: forms.Form, name: str, choices: list[tuple[Any, Any]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


class TwoRatersForm(ReportForm):
    """Two raters; the first is the reference. It begins with the groups as they were checked."""

    rater_a = forms.ChoiceField(label=pgettext_lazy("rater", "Reference"))
    rater_b = forms.ChoiceField(label=_("Compared with"))
    field_order = ["rater_a", "rater_b", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = len(rater_offers) > 1
        groups = [offer for offer in rater_offers if offer.kind == "group" and offer.rater.endswith("@checked")]
        first = [*groups, *(offer for offer in rater_offers if offer not in groups)]
        for name, offer in zip(("rater_a", "rater_b"), first, strict=False):
            self.fields[name].initial = offer.rater
        for name in ("rater_a", "rater_b"):
            choose(self, name, grouped(rater_offers))
