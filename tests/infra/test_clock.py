"""When something was saved: the time of today, or the day as well."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone, translation

from consilium.core.clock import clock


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 10, 14, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("moment", "zone", "language", "words"),
    [
        (datetime(2026, 10, 14, 10, 5, tzinfo=UTC), "UTC", "en", "10:05:00"),
        (datetime(2026, 10, 12, 10, 5, tzinfo=UTC), "UTC", "en", "12 Oct. 2026 10:05:00"),
        (datetime(2026, 10, 12, 10, 5, tzinfo=UTC), "UTC", "zh-hans", "2026年10月12日 10:05:00"),
        # Midnight is that of the reader.
        (datetime(2026, 10, 13, 17, 5, tzinfo=UTC), "Asia/Shanghai", "en", "01:05:00"),
        (datetime(2026, 10, 13, 15, 5, tzinfo=UTC), "Asia/Shanghai", "en", "13 Oct. 2026 23:05:00"),
    ],
)
def test_the_day_is_there_where_it_is_not_today(moment: datetime, zone: str, language: str, words: str) -> None:
    with timezone.override(zone), translation.override(language):
        assert clock(moment) == words


def test_minutes_are_enough_where_they_are_asked_for() -> None:
    assert clock(datetime(2026, 10, 14, 10, 5, 7, tzinfo=UTC), seconds=False) == "10:05"
