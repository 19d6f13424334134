"""Forms of the bank: search filters, and an import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_LICENCE_LENGTH, MAX_SLUG_LENGTH, MAX_TITLE_LENGTH
from rubrics.bank.catalogue import CLUSTER, NEGATIVE, POSITIVE, SECTIONS, BankQuery, section_label
from rubrics.bank.consensus import NAME
from rubrics.models import Bank, slug_characters
from rubrics.parsing.bank import BankEntry


class BankFilters(forms.Form):
    """The filters of the bank; anything that is not offered is refused."""

    q = forms.CharField(
        label=_("Search"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Words in English or Chinese")}),
    )
    section = forms.ChoiceField(label=_("Section"), required=False)
    points = forms.ChoiceField(
        label=_("Points"),
        required=False,
        choices=[("", _("All")), (POSITIVE, _("Positive")), (NEGATIVE, _("Negative"))],
    )
    only = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("All")), (CLUSTER, _("Cluster criteria"))]
    )
    bank = forms.ChoiceField(label=_("Bank"), required=False)

    def __init__(self, *args: Any, entries: Sequence[BankEntry], banks: Sequence[Bank], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        everything = ("", _now("All"))
        others = sorted({entry.section for entry in entries} - {*SECTIONS})
        self._offer("section", [everything, *((name, section_label(name)) for name in (*SECTIONS, *others))])
        if banks:
            own = [(bank.slug, bank.title) for bank in banks]
            self._offer("bank", [everything, (NAME, _now("Consensus bank")), *own])
        else:
            del self.fields["bank"]

    def _offer(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def query(self) -> BankQuery | None:
        """The query that the filters describe; None where a value is not on offer."""
        return BankQuery(**self.cleaned_data) if self.is_valid() else None


class BankForm(forms.Form):
    """A bank to import."""

    file = forms.FileField(label=_("File"), help_text=_("CSV or JSONL in UTF-8."))
    bank = forms.CharField(
        label=_("Short name"),
        max_length=MAX_SLUG_LENGTH,
        validators=[slug_characters],
        help_text=_("Created if it does not exist yet; otherwise, new criteria are added to it."),
    )
    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH, required=False)
    licence = forms.CharField(
        label=_("Licence"),
        max_length=MAX_LICENCE_LENGTH,
        required=False,
        help_text=_("Licence under which others may use its criteria."),
    )
