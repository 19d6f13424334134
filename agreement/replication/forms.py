"""The form that asks for a replication."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agreement.calibration.thresholds import LARGEST_K
from agreement.forms import LARGEST_SEED, choose
from agreement.models import Report
from agreement.replication.choosing import Options
from agreement.replication.summary import GROUPS, INTERVALS, JUDGES, SEED, WRITTEN, K, with_stages
from agreement.selectors.rater_choices import group_choices, judge_choices
from rubrics.models import Benchmark, Candidate


class ReplicationForm(forms.Form):
    """What is chosen in place of the usual: judges, groups, k; and values of the paper in a file."""

    judges = forms.MultipleChoiceField(
        label=JUDGES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("All if none is selected. The one that read the most responses gives the scores."),
    )
    groups = forms.MultipleChoiceField(
        label=GROUPS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The two with the most decisions if none is selected."),
    )
    candidate = forms.ChoiceField(
        label=WRITTEN,
        required=False,
        help_text=_("k is calibrated on them."),
    )
    k = forms.IntegerField(
        label=K,
        required=False,
        min_value=1,
        max_value=LARGEST_K,
        help_text=_("Signed, else from the newest calibration, if left empty."),
    )
    published = forms.FileField(
        label=_("Published values"),
        required=False,
        help_text=_(
            "CSV with the columns artefact, row, column, value, source. The values of the last file are kept if "
            "none is chosen."
        ),
    )
    interval = forms.ChoiceField(label=INTERVALS, choices=Report.Interval.choices, required=False)
    seed = forms.IntegerField(label=SEED, min_value=0, max_value=LARGEST_SEED, initial=0, required=False)
    of_every_kind = ("interval", "seed")

    def __init__(self, benchmark: Benchmark, options: Options, *args: Any, **kwargs: Any) -> None:
        """``options`` fill the form until it is sent."""
        super().__init__(*args, **kwargs)
        choose(self, "judges", [(offer.rater, offer.label) for offer in judge_choices(benchmark)])
        groups = [(offer.rater.removeprefix("group:"), offer.label) for offer in group_choices(benchmark)]
        choose(self, "groups", groups)
        written = Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.PHYSICIAN)
        names = list(written.order_by("name").values_list("name", flat=True))
        choose(self, "candidate", [("", _("The candidate with the most responses")), *zip(names, names, strict=True)])
        self.initial.update(_initial_of(options))
        for name in ("judges", "groups"):
            if not self.fields[name].choices:  # type: ignore[attr-defined]
                del self.fields[name]

    def options(self) -> Options:
        """What was chosen, once the form is valid."""
        given = self.cleaned_data
        return Options(
            judges=tuple(given.get("judges", ())),
            groups=tuple(given.get("groups", ())),
            candidate=given["candidate"],
            k=given["k"] or 0,
            seed=given["seed"] or 0,
            interval=given["interval"] or Report.Interval.JACKKNIFE,
        )


def _initial_of(options: Options) -> dict[str, Any]:
    """What the fields hold for these options; a judge, group or candidate that is gone is not selected."""
    return {
        "judges": list(options.judges),
        "groups": with_stages(options.groups),
        "candidate": options.candidate,
        "k": options.k or None,
        "seed": options.seed,
        "interval": options.interval,
    }
