"""The filters of a search: the page, the panel of the editor and the API read the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.languages import language_name
from documents import selectors
from documents.models import Collection, Document
from documents.search.filters import Filters
from documents.search.index import MAX_QUERY_LENGTH
from documents.services.terms import HIGHEST_TIER, LOWEST_TIER
from rubrics.models import Benchmark

ANY = ("", _("All"))
TIERS = [(number, _("%(tier)d or higher") % {"tier": number}) for number in range(LOWEST_TIER - 1, HIGHEST_TIER, -1)]


class SearchForm(forms.Form):
    """Words to look for, and where; anything that is not offered is refused."""

    q = forms.CharField(
        label=_("Words"),
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
        choices=[ANY, *TIERS, (HIGHEST_TIER, _("%(tier)d only") % {"tier": HIGHEST_TIER})],
    )
    published_from = forms.DateField(
        label=_("Published since"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    may_send = forms.BooleanField(label=_("Only what may be sent to models"), required=False)
    retired = forms.BooleanField(label=_("Retired documents too"), required=False)
    superseded = forms.BooleanField(label=_("Superseded editions too"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._benchmark = benchmark
        variety = selectors.variety_of(benchmark)
        self._offer("collection", variety.collections)
        # A language with all of its variants: "zh" finds "zh-Hans".
        languages = sorted({code.split("-")[0] for code in variety.languages} | set(variety.languages))
        self._offer("language", [(code, language_name(code)) for code in languages])
        self._offer("jurisdiction", [(code, code) for code in variety.jurisdictions])

    def _offer(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [ANY, *choices]

    @property
    def query(self) -> str:
        """What to look for; empty where there is nothing to look for yet."""
        return str(self.cleaned_data["q"]).strip()

    def collections(self) -> list[Collection]:
        """The collections to look in."""
        collections = Collection.objects.filter(benchmark=self._benchmark)
        if chosen := self.cleaned_data["collection"]:
            collections = collections.filter(public_id=chosen)
        return list(collections)

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
