"""Forms of the account pages."""

from __future__ import annotations

from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from accounts.models import User

CONTINENTS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


def time_zone_choices() -> list[tuple[str, str | list[tuple[str, str]]]]:
    """Zones of the tz database that name a place, by continent, after UTC."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for zone in sorted(available_timezones()):
        continent, _slash, place = zone.partition("/")
        if continent in CONTINENTS and place:
            grouped.setdefault(continent, []).append((zone, place.replace("_", " ").replace("/", ", ")))
    return [("UTC", "UTC"), *grouped.items()]


def language_choices() -> list[tuple[str, str]]:
    """Languages of the interface, each by its own name."""
    return [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]


class ProfileForm(forms.ModelForm[User]):
    """What people say of themselves: the name others see, and how times and words are shown to them."""

    name = forms.CharField(
        label=_("Name"),
        max_length=200,
        required=False,
        help_text=_("As admins of your benchmarks see it. Decisions leave the house under a pseudonym."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.ChoiceField(label=_("Time zone"), choices=time_zone_choices)
    language = forms.ChoiceField(label=_("Language"), choices=language_choices)

    class Meta:
        model = User
        fields = ["name", "time_zone", "language"]
