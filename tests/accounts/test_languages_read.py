"""The languages that physicians say they read, on the profile and when they accept an invitation."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import PhysicianProfile
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
PROFILE = {"name": "Eve", "time_zone": "UTC", "language": "en"}


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(UserFactory())
    return client


def saved() -> list[str]:
    return PhysicianProfile.objects.get().languages


@pytest.mark.parametrize(
    ("boxes", "line", "languages"),
    [
        (["en", "zh"], "", ["en", "zh"]),
        # A name in any language of the interface, the language's own name, or a tag; its region has no meaning here.
        (["en"], "Swahili, 荷兰语；pt-BR", ["en", "nl", "pt", "sw"]),
        ([], "español", ["es"]),
        ([], "en, EN, English", ["en"]),
        ([], " , ", []),
    ],
)
def test_what_is_chosen_and_typed_is_saved_as_tags(
    reader: Client, boxes: list[str], line: str, languages: list[str]
) -> None:
    answer = reader.post("/profile/", {**PROFILE, "languages_usual": boxes, "languages_other": line})
    assert answer.status_code == 302
    assert saved() == languages


@pytest.mark.parametrize(("line", "shown"), [("sw, nl", "Dutch, Swahili"), ("sw", "Swahili")])
def test_the_profile_shows_what_is_saved(reader: Client, line: str, shown: str) -> None:
    reader.post("/profile/", {**PROFILE, "languages_usual": ["zh"], "languages_other": line})
    page = reader.get("/profile/").content.decode()
    assert '<input type="checkbox" name="languages_usual" value="zh" checked> Chinese' in page
    assert f'name="languages_other" value="{shown}"' in page
    assert 'value="en" checked' not in page


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"languages_other": "Klingonese"}, "“Klingonese” is not a known language."),
        ({"languages_other": "xx"}, "“xx” is not a known language."),
        ({"languages_other": "<b>"}, "“&lt;b&gt;” is not a known language."),
        ({"languages_usual": ["xx"]}, "Select a valid choice."),
        ({"languages_other": ", ".join(["aa", "ab", "af", "ak", "am", "an", "as", "av", "ay", "az", "ba", "be", "bg",
          "bm", "bn", "bo", "br", "bs", "ca", "ce", "ch", "co", "cs", "cu", "cv", "cy", "da", "de", "dv", "dz", "ee"])},
         "Choose at most 30 languages."),
    ],
)  # fmt: skip
def test_what_is_no_language_is_refused_and_stays_in_the_form(
    reader: Client, fields: dict[str, list[str] | str], message: str
) -> None:
    answer = reader.post("/profile/", {**PROFILE, **fields})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not PhysicianProfile.objects.exists()
