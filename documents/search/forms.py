"""The filters of a search: the page, the panel of the editor and the API read the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.languages import language_name
from documents import selectors
from documents.models import Collection, Document
from documents.search.filters import Filters
from documents.search.index import MAX_QUERY_LENGTH
from documents.services.terms import HIGHEST_TIER, LOWEST_TIER
from rubrics.models import Benchmark

ANY = ("", _("All"))


def _tiers() -> list[tuple[int | str, str]]:
    below = range(LOWEST_TIER - 1, HIGHEST_TIER, -1)
    up_to = [(tier, _now("%(tier)s or higher") % {"tier": tier}) for tier in below]
    return [("", _now("All")), *up_to, (HIGHEST_TIER, _now("%(tier)s only") % {"tier": HIGHEST_TIER})]


class SearchForm(forms.Form):
    """Words to look for, and where; anything that is not offered is refused."""

    q = forms.CharField(
        label=_("Search terms"),
        max_length=MAX_QUERY_LENGTH,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    collection = forms.ChoiceField(label=_("Collection"), required=False)
    kind = forms.ChoiceField(label=_("Kind"), required=False, choices=[ANY, *Document.Kind.choices])
    language = forms.ChoiceField(label=_("Language"), required=False)
    jurisdiction = forms.ChoiceField(label=_("Jurisdiction"), required=False)
    tier = forms.TypedChoiceField(
        label=_("Tier of authority"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=_tiers,
    )
    published_from = forms.DateField(
        label=_("Published since"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    may_send = forms.BooleanField(label=_("Only documents that may be sent to models"), required=False)
    retired = forms.BooleanField(label=_("Include retired documents"), required=False)
    superseded = forms.BooleanField(label=_("Include superseded editions"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._benchmark = benchmark
        # Read only where a filter is shown or was chosen: a search while somebody types needs none of them.
        self._offer("collection", lambda: self._variety.collections)
        self._offer("language", self._languages)
        self._offer("jurisdiction", lambda: [(code, code) for code in self._variety.jurisdictions])

    @cached_property
    def _variety(self) -> selectors.Variety:
        return selectors.variety_of(self._benchmark)

    def _languages(self) -> list[tuple[str, str]]:
        """Each language with all of its variants, and each variant: "zh" finds "zh-Hans"."""
        codes = set(self._variety.languages)
        return [(code, language_name(code)) for code in sorted(codes | {code.split("-")[0] for code in codes})]

    def _offer(self, name: str, choices: Callable[[], Sequence[tuple[str, str]]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = lambda: [ANY, *choices()]

    @property
    def query(self) -> str:
        """What to look for; empty where there is nothing to look for yet."""
        return str(self.cleaned_data["q"]).strip()

    def collections(self) -> QuerySet[Collection]:
        """The collections to look in."""
        collections = Collection.objects.filter(benchmark=self._benchmark)
        if chosen := self.cleaned_data["collection"]:
            collections = collections.filter(public_id=chosen)
        return collections

    def filters(self) -> Filters:
        """Which of their documents to look at."""
        chosen = self.cleaned_data
        return Filters(
            language=chosen["language"],
            jurisdiction=chosen["jurisdiction"],
            kinds=(chosen["kind"],) if chosen["kind"] else (),
            max_tier=chosen["tier"],
            published_from=chosen["published_from"],
            may_send=chosen["may_send"],
            include_retired=chosen["retired"],
            include_superseded=chosen["superseded"],
        )
