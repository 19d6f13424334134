"""The form of a jury; the service alone validates its members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from rubrics.models import Benchmark
from scoring.forms import JudgeForm
from scoring.judges.juries import judge_names, names_that_ran
from scoring.selectors.raters import MAJORITY, UNANIMOUS


def even_number(members: Sequence[str], rule: str) -> str:
    """A warning about a majority of an even number of members; empty where it does not apply."""
    if rule != MAJORITY or not members or len(members) % 2:
        return ""
    if len(members) == 2:
        return gettext(
            "With an even number of members, a tie is undecided. With two members, majority and "
            "unanimous are the same wherever both have a valid verdict."
        )
    return gettext("With an even number of members, a tie is undecided and its response has no score.")


class JuryForm(JudgeForm):
    """Judges that give their verdict together."""

    members = forms.MultipleChoiceField(
        label=_("Members"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Each member is represented by its newest finished run here, or by all its imported runs, "
            "including later ones."
        ),
        error_messages={"required": _("Choose at least two judges.")},
    )
    rule = forms.ChoiceField(
        label=_("Met or not met"),
        choices=[(MAJORITY, _("by majority")), (UNANIMOUS, _("only if all members agree"))],
        initial=MAJORITY,
        widget=forms.RadioSelect,
        help_text=_(
            "All other pairs are undecided: they do not count towards agreement, and their responses "
            "have no score. A majority is counted among members with a valid verdict."
        ),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = self.fields["members"]
        assert isinstance(members, forms.ChoiceField)
        self._names = judge_names(benchmark)
        ran = names_that_ran(benchmark)
        members.choices = [
            (name, name if name in ran else gettext("%(judge)s (no finished run here)") % {"judge": name})
            for name in self._names
        ]

    @property
    def warning(self) -> str:
        """A warning about the number of members in the form."""
        return even_number(self["members"].value() or [], self["rule"].value() or "")

    @property
    def ready(self) -> bool:
        """Whether there are judges enough for a jury."""
        return len(self._names) > 1

    def clean_members(self) -> list[str]:
        """At least two."""
        chosen: list[str] = self.cleaned_data["members"]
        if len(chosen) < 2:
            raise forms.ValidationError(_("Choose at least two judges."))
        return chosen
