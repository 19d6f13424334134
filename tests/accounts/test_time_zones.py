"""Time zones are found by the name of a place."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts.time_zones import OTHER_CITIES, TimeZoneField, time_zones, zone_named
from tests.factories import UserFactory


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("asia/tokyo", "Asia/Tokyo"),
        ("New York", "America/New_York"),
        ("new-york", "America/New_York"),
        ("zurich", "Europe/Zurich"),
        ("Zürich", "Europe/Zurich"),
        (" UTC ", "UTC"),
        ("Argentina/Buenos Aires", "America/Argentina/Buenos_Aires"),
        # Names of links beside the names in zone.tab of the tz database.
        ("Istanbul", "Europe/Istanbul"),
        ("Asia/Istanbul", "Asia/Istanbul"),
        ("Nicosia", "Asia/Nicosia"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("Córdoba", "America/Argentina/Cordoba"),
        ("mendoza", "America/Argentina/Mendoza"),
        ("Indianapolis", "America/Indiana/Indianapolis"),
        ("Louisville", "America/Kentucky/Louisville"),
        # Cities whose zone is named after another one.
        ("Beijing", "Asia/Shanghai"),
        ("北京", "Asia/Shanghai"),
        ("washington", "America/New_York"),
        ("New Delhi", "Asia/Kolkata"),
        ("Yaounde", "Africa/Douala"),
        ("Nowhere", ""),
        ("Asia", ""),
        ("", ""),
    ],
)
def test_a_zone_is_found_by_its_place(typed: str, zone: str) -> None:
    assert zone_named(typed) == zone


def test_every_zone_is_found_by_its_own_name() -> None:
    assert len(time_zones()) > 300
    assert all(zone_named(zone) == zone for zone in time_zones())
    assert set(OTHER_CITIES.values()) <= set(time_zones())
    assert all(zone_named(city) == zone for city, zone in OTHER_CITIES.items())  # none is the name of another zone


def test_a_name_of_several_zones_is_refused_with_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = {"springfield": ["America/Chicago", "America/New_York"]}
    monkeypatch.setattr("accounts.time_zones._by_name", lambda: zones)
    with pytest.raises(ValidationError) as refused:
        TimeZoneField().clean("Springfield")
    message = "Several time zones have this name: America/Chicago, America/New_York. Enter one of them."
    assert refused.value.messages == [message]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_place_is_enough_in_the_profile(client: Client) -> None:
    user = UserFactory()
    client.force_login(user)
    page = client.get("/profile/").content.decode()
    assert 'list="id_time_zone-zones"' in page
    assert '<option value="Asia/Shanghai"></option>' in page
    response = client.post("/profile/", {"name": "Ana", "time_zone": "shanghai", "language": "en"})
    assert response.status_code == 302
    user.refresh_from_db()
    assert user.time_zone == "Asia/Shanghai"


@pytest.mark.slow
@pytest.mark.django_db
def test_signing_in_leaves_no_message_for_a_later_page(client: Client) -> None:
    user = UserFactory.create(email="bo@example.org")
    user.set_password("seven quiet herons")
    user.save()
    response = client.post("/accounts/login/", {"login": "bo@example.org", "password": "seven quiet herons"})
    assert response.status_code == 302
    assert "toast " not in client.get("/profile/").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_the_zone_of_one_reader_does_not_stay_for_the_next(client: Client) -> None:
    reader = UserFactory(time_zone="Asia/Shanghai")
    client.force_login(reader)
    client.get("/profile/")
    assert timezone.get_current_timezone_name() == "UTC"
    stranger = Client().get("/accounts/login/")
    assert stranger.status_code == 200
    assert timezone.get_current_timezone_name() == "UTC"
