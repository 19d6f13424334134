"""Checks of the licences of members: what somebody looked up is what is recorded."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import PhysicianProfile
from annotation.cohort import views
from annotation.models import LicenceCheck
from tests.annotation.cohort.test_applications import admin
from tests.annotation.conftest import Workshop

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
__all__ = ["admin"]  # a fixture
CHECK = {"register": "Register of Berlin", "confirmed": "yes", "note": "Under her maiden name."}


def hidden_fields(page: str) -> dict[str, str]:
    """What the form of the only member with a licence sends unseen."""
    form = page[page.index('name="person"') - 40 :].partition("</form>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


@pytest.fixture
def profile(workshop: Workshop) -> PhysicianProfile:
    values = {"licence_country": "DE", "licence_number": "B  4711"}
    return PhysicianProfile.objects.update_or_create(user=workshop.annotator, defaults=values)[0]


@pytest.fixture
def url(workshop: Workshop) -> str:
    return f"/b/{workshop.benchmark.slug}/cohort/licences/"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"licence_number": "C-1"}, "has changed their licence since you opened this page"),
        ({"licence_country": "AT"}, "has changed their licence since you opened this page"),
        ({"licence_number": ""}, "The profile has no licence number or no country of licence."),
    ],
)
def test_a_number_that_nobody_looked_up_is_not_confirmed(
    admin: Client, profile: PhysicianProfile, url: str, change: dict[str, str], words: str
) -> None:
    shown = hidden_fields(admin.get(url).content.decode())
    PhysicianProfile.objects.filter(pk=profile.pk).update(**change)
    answer = admin.post(url, {**shown, **CHECK})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "Register of Berlin" in page and "Under her maiden name." in page
    assert not LicenceCheck.objects.exists()


def test_the_number_that_is_shown_after_a_change_can_be_confirmed(
    admin: Client, profile: PhysicianProfile, url: str
) -> None:
    shown = hidden_fields(admin.get(url).content.decode())
    PhysicianProfile.objects.filter(pk=profile.pk).update(licence_number="C-1")
    again: Any = admin.post(url, {**shown, **CHECK})
    assert admin.post(url, {**hidden_fields(again.content.decode()), **CHECK}).status_code == 302
    assert LicenceCheck.objects.get().number == "C-1"


def test_blanks_in_a_number_change_nothing(admin: Client, profile: PhysicianProfile, url: str) -> None:
    shown = hidden_fields(admin.get(url).content.decode())
    assert admin.post(url, {**shown, **CHECK, "number": "B 4711 "}).status_code == 302
    assert LicenceCheck.objects.get().number == "B  4711"


def test_a_check_that_is_sent_twice_is_recorded_once(admin: Client, profile: PhysicianProfile, url: str) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        shown = hidden_fields(admin.get(url).content.decode())
        for _sent in range(2):
            assert admin.post(url, {**shown, **CHECK}).status_code == 302
        assert LicenceCheck.objects.count() == 1
        assert admin.post(url, {**shown, **CHECK, "confirmed": "no"}).status_code == 302
        clock.shift(timedelta(minutes=5))
        assert admin.post(url, {**shown, **CHECK, "confirmed": "no"}).status_code == 302
    assert list(LicenceCheck.objects.values_list("confirmed", flat=True)) == [True, False, False]


def test_members_are_listed_by_page_and_a_refused_form_stays_on_its_page(
    admin: Client, workshop: Workshop, profile: PhysicianProfile, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PER_PAGE", 2)
    pages = [admin.get(f"{url}?page={number}").content.decode() for number in (1, 2, 3)]
    assert [page.count('<section class="card">') for page in pages] == [2, 2, 1]
    assert all("of 5 members have a confirmed licence" in page for page in pages)
    # No form is drawn for those who have no number.
    (place,) = [number for number, page in enumerate(pages, 1) if 'name="register"' in page]
    shown = hidden_fields(pages[place - 1])
    refused = admin.post(f"{url}?page={place % 3 + 1}", {**shown, **CHECK, "register": ""})
    assert refused.status_code == 422
    assert refused.context["page_obj"].number == place
    assert "Under her maiden name." in refused.content.decode()
    stored = admin.post(f"{url}?page={place}", {**shown, **CHECK})
    assert (stored.status_code, stored["Location"]) == (302, f"{url}?page={place}")
