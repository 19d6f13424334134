"""A form field for a time zone, in which people search by the name of a place instead of scrolling through 400."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH, available_timezones

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

CONTINENTS = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"),
)

# Large cities, capitals first, whose zone the tz database names after another city.
OTHER_CITIES = {
    **dict.fromkeys(
        ("Beijing", "Peking", "Chengdu", "Guangzhou", "Shenzhen", "Wuhan", "北京", "上海"), "Asia/Shanghai"
    ),
    **dict.fromkeys(("New Delhi", "Delhi", "Mumbai", "Bengaluru", "Bangalore", "Chennai"), "Asia/Kolkata"),
    **dict.fromkeys(("Washington", "Boston", "Philadelphia", "Atlanta", "Miami"), "America/New_York"),
    **dict.fromkeys(("San Francisco", "Seattle", "San Diego"), "America/Los_Angeles"),
    **dict.fromkeys(("Houston", "Dallas"), "America/Chicago"),
    **dict.fromkeys(("Ottawa", "Quebec"), "America/Toronto"),
    **dict.fromkeys(("Brasilia", "Rio de Janeiro"), "America/Sao_Paulo"),
    **dict.fromkeys(("Bern", "Geneva", "Basel"), "Europe/Zurich"),
    **dict.fromkeys(("Munich", "Hamburg", "Frankfurt", "Cologne"), "Europe/Berlin"),
    **dict.fromkeys(("Edinburgh", "Cardiff", "Manchester"), "Europe/London"),
    **dict.fromkeys(("Lyon", "Marseille"), "Europe/Paris"),
    **dict.fromkeys(("Osaka", "Kyoto"), "Asia/Tokyo"),
    **dict.fromkeys(("Pretoria", "Cape Town"), "Africa/Johannesburg"),
    "Abu Dhabi": "Asia/Dubai",
    "Abuja": "Africa/Lagos",
    "Ankara": "Europe/Istanbul",
    "Astana": "Asia/Almaty",
    "Barcelona": "Europe/Madrid",
    "Dodoma": "Africa/Dar_es_Salaam",
    "Hanoi": "Asia/Ho_Chi_Minh",
    "Islamabad": "Asia/Karachi",
    "Milan": "Europe/Rome",
    "Naypyidaw": "Asia/Yangon",
    "Quito": "America/Guayaquil",
    "Rabat": "Africa/Casablanca",
    "Saint Petersburg": "Europe/Moscow",
    "Wellington": "Pacific/Auckland",
    "Yamoussoukro": "Africa/Abidjan",
    "Yaoundé": "Africa/Douala",
}


@cache
def time_zones() -> tuple[str, ...]:
    """Zones of the tz database that name a place, by continent, after UTC.

    Finding the zones opens every file of the database and takes a tenth of a second, so the answer is kept.
    """
    places = (zone for zone in sorted(available_timezones()) if zone.partition("/")[0] in CONTINENTS and "/" in zone)
    return ("UTC", *places)


@cache
def _by_name() -> dict[str, list[str]]:
    """Plain names of whole zones, of their places and of other cities → the zones that have them."""
    names: dict[str, list[str]] = {}
    for zone in time_zones():
        for name in {_plain(zone), _plain(zone.rpartition("/")[2]), _plain(zone.partition("/")[2])} - {""}:
            names.setdefault(name, []).append(zone)
    for city, zone in OTHER_CITIES.items():
        names.setdefault(_plain(city), [zone])
    return names


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters.casefold() if letter.isalnum())


def zones_named(text: str) -> list[str]:
    """The zones whose whole name or place (“new york”) a person wrote.

    Of names for the same zone (America/Indianapolis, America/Indiana/Indianapolis) there is the one of ``zone.tab``.
    """
    zones = _by_name().get(_plain(text), [])
    if text in zones:
        return [text]
    if len(zones) > 1 and len({_content(zone) for zone in zones}) == 1 and _content(zones[0]):
        return [next((zone for zone in zones if zone in _main_names()), zones[0])]
    return list(zones)


def zone_named(text: str) -> str:
    """The zone that a person wrote, as in `zones_named`; empty if none, or more than one, has the name."""
    zones = zones_named(text)
    return zones[0] if len(zones) == 1 else ""


def _content(name: str) -> bytes:
    """A file of the tz database, of the system or of the package ``tzdata``; empty if there is none.

    Zones with the same file are links of one another, or differ in nothing that is stored.
    """
    for folder in TZPATH:
        path = Path(folder, name)
        if path.is_file():
            return path.read_bytes()
    try:
        return resources.files("tzdata").joinpath("zoneinfo", name).read_bytes()
    except (ModuleNotFoundError, OSError):
        return b""


@cache
def _main_names() -> frozenset[str]:
    """The zones of ``zone.tab``, in which each zone has its current name: lines of countries, coordinates, zone."""
    lines = _content("zone.tab").decode("utf-8", "replace").splitlines()
    return frozenset(line.split("\t")[2] for line in lines if not line.startswith("#") and line.count("\t") > 1)


@cache
def _options() -> SafeString:
    return format_html_join("", '<option value="{}"></option>', ((zone,) for zone in time_zones()))


class TimeZoneInput(forms.TextInput):
    """A text field that suggests zones as one types."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The field, and the list of what it suggests."""
        list_id = f"{(attrs or {}).get('id', name)}-zones"
        field = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        return format_html('{}<datalist id="{}">{}</datalist>', field, list_id, _options())


class TimeZoneField(forms.CharField):
    """The name of a zone; a place is enough."""

    widget = TimeZoneInput
    default_error_messages = {
        "unknown": _("This time zone does not exist. Enter a city, such as Shanghai."),
        "ambiguous": _("Several time zones have this name: %(zones)s. Enter one of them."),
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(
            label=_("Time zone"),
            help_text=_("Enter a large city in your time zone, such as Shanghai or New York."),
            widget=TimeZoneInput(attrs={"autocomplete": "off", "spellcheck": "false", **options.pop("attrs", {})}),
            max_length=64,
            **options,
        )

    def clean(self, value: Any) -> str:
        """The name of the zone."""
        zones = zones_named(str(super().clean(value)))
        if not zones:
            raise forms.ValidationError(self.error_messages["unknown"], code="unknown")
        if len(zones) > 1:
            params = {"zones": ", ".join(zones)}
            raise forms.ValidationError(self.error_messages["ambiguous"], code="ambiguous", params=params)
        return zones[0]
