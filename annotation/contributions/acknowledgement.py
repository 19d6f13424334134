"""The acknowledgement: physicians who agreed to be named, under the name that they gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import ngettext

from accounts.models import PhysicianProfile
from annotation.contributions.counted_work import Contributor, people_behind
from rubrics.models import Benchmark


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Names in alphabetical order, and how many took part without being named."""

    names: tuple[str, ...]
    others: int

    @property
    def sentence(self) -> str:
        """The others, in words; empty where there are none."""
        if not self.others:
            return ""
        words = ngettext("and %(n)s other physician", "and %(n)s other physicians", self.others)
        return words % {"n": self.others}


def acknowledgement_of(people: Iterable[Contributor]) -> Acknowledgement:
    """The list for these contributors; one query. `Contributor.name` is used where somebody opted in without a name."""
    named = {person.user: person.name for person in people}
    chosen = PhysicianProfile.objects.filter(user__in=named, acknowledge=True).values_list("user_id", "acknowledged_as")
    names = [name for user, given in chosen if (name := given.strip() or named[user].strip())]
    return Acknowledgement(tuple(sorted(names, key=lambda name: (name.casefold(), name))), len(named) - len(names))


def acknowledged_names(benchmark: Benchmark) -> list[str]:
    """The names of all who took part and want to be named, in alphabetical order."""
    contributors = [Contributor(user.pk, user.name, user.email) for user in people_behind(benchmark)]
    return list(acknowledgement_of(contributors).names)
