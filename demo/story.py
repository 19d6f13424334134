"""How far the demo's work has come: which assignments are done, half done or waiting, and at which times.

Pure values, so that the loader only has to carry it out. Times are made up around the moment of loading: physicians
work on weekdays, in sessions, and nothing lies in the future.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

# Cases by the number in their key. The main batch is split, so that closed and open work can both be seen.
CLOSED_CASES = ("01", "03", "04", "05", "07", "09", "10", "11")
OPEN_CASES = ("02", "06", "08", "12")

T = TypeVar("T")


class Ending(StrEnum):
    """The state of an assignment of the open batch."""

    NOT_STARTED = "not started"
    DRAFT = "draft"
    SUBMITTED = "submitted, waiting for a checker"
    IN_CHECK = "held by a checker, one decision amended"
    RETURNED = "returned with a note"
    ACCEPTED = "accepted"


# Eight responses that two annotators share, in the order of the first one's queue.
ENDINGS: tuple[tuple[Ending, Ending], ...] = (
    (Ending.ACCEPTED, Ending.ACCEPTED),
    (Ending.ACCEPTED, Ending.ACCEPTED),
    (Ending.SUBMITTED, Ending.SUBMITTED),
    (Ending.SUBMITTED, Ending.IN_CHECK),
    (Ending.RETURNED, Ending.ACCEPTED),
    (Ending.DRAFT, Ending.DRAFT),
    (Ending.NOT_STARTED, Ending.NOT_STARTED),
    (Ending.NOT_STARTED, Ending.NOT_STARTED),
)
DRAFTED = (18, 7)  # criteria decided in the two drafts


@dataclass(frozen=True)
class Place:
    """What the story needs of an assignment."""

    pk: int
    response: int
    annotator: str  # e-mail address
    position: int


def endings(places: Iterable[Place]) -> dict[int, tuple[Ending, int]]:
    """The state of each assignment of the open batch, with the number of criteria decided in a draft (else 0)."""
    by_response: dict[int, list[Place]] = {}
    for place in places:
        by_response.setdefault(place.response, []).append(place)
    pairs: dict[tuple[str, ...], list[list[Place]]] = {}
    for sharers in by_response.values():
        sharers.sort(key=lambda place: place.annotator)
        pairs.setdefault(tuple(place.annotator for place in sharers), []).append(sharers)
    by_place = {}
    for _, responses in sorted(pairs.items()):
        responses.sort(key=lambda sharers: sharers[0].position)
        for number, sharers in enumerate(responses):
            both = ENDINGS[number % len(ENDINGS)]
            for place, ending, drafted in zip(sharers, both, DRAFTED, strict=False):
                by_place[place.pk] = (ending, drafted if ending is Ending.DRAFT else 0)
    return by_place


def workday(start: datetime, days: int) -> datetime:
    """Midnight of the ``days``-th weekday (Monday to Friday) after ``start``, which itself is day 0."""
    day = start.replace(hour=0, minute=0, second=0, microsecond=0)
    while days:
        day += timedelta(days=1)
        days -= day.weekday() < 5
    return day


@dataclass(frozen=True)
class Calendar:
    """Made-up times before ``now``; ``rng`` scatters them."""

    now: datetime
    rng: random.Random

    def days_ago(self, days: int) -> datetime:
        """Nine o'clock of the weekday ``days`` days back, or of the last weekday before it."""
        day = (self.now - timedelta(days=days)).replace(hour=9, minute=0, second=0, microsecond=0)
        return day - timedelta(days=max(0, day.weekday() - 4))

    def session(self, start: datetime, day: int) -> datetime:
        """Some time between eight and six on the ``day``-th weekday after ``start``; never in the future."""
        return self.before_now(workday(start, day) + timedelta(minutes=self.rng.randrange(8 * 60, 18 * 60)))

    def grading(self, criteria: int) -> timedelta:
        """How long a physician takes for one response: about 15 seconds a criterion."""
        return timedelta(seconds=round(criteria * self.rng.lognormvariate(2.7, 0.25)))

    def later(self, moment: datetime, hours: tuple[float, float]) -> datetime:
        """``moment`` and some hours between the two given; never in the future."""
        return self.before_now(moment + timedelta(hours=self.rng.uniform(*hours)))

    def before_now(self, moment: datetime) -> datetime:
        """``moment``, or a few minutes before now if that is earlier."""
        return min(moment, self.now - timedelta(minutes=self.rng.randrange(5, 60)))


def spread(items: Sequence[T], days: int) -> list[tuple[T, int]]:
    """The items in order, each with the working day (from 1) on which it is done."""
    return [(item, 1 + index * days // max(1, len(items))) for index, item in enumerate(items)]
