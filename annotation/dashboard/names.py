"""Names of people on the dashboard: a pseudonym for files and researchers, a name for admins."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotation.models import Membership, Physician
from consilium.core.order import natural
from rubrics.models import Benchmark


@dataclass(slots=True)
class Person:
    """A physician of the benchmark; ``name`` is empty for readers who know physicians by pseudonym alone."""

    user: int
    pseudonym: str = ""
    name: str = ""
    parts: dict[int, set[str]] = field(default_factory=dict)  # group → parts in which they are active
    capacity: dict[int, int | None] = field(default_factory=dict)  # group → maximum of open work as annotator

    @property
    def shown(self) -> str:
        """The name in a line."""
        return self.name or self.pseudonym

    def plays(self, part: str, group: int) -> bool:
        """Whether they are active in this part of the group."""
        return part in self.parts.get(group, ())


class People(dict[int, Person]):
    """User → person; somebody without a pseudonym yet gets an empty row."""

    def __init__(self) -> None:
        super().__init__()
        self._active: dict[tuple[str, int], list[Person]] = {}

    def __missing__(self, user: int) -> Person:
        self[user] = Person(user)
        return self[user]

    def active(self, part: str, group: int) -> list[Person]:
        """People who are active in this part of the group, in the order of their shown names; computed once."""
        key = part, group
        if key not in self._active:
            members = (person for person in self.values() if person.plays(part, group))
            self._active[key] = sorted(members, key=lambda member: natural(member.shown))
        return self._active[key]


def people_of(benchmark: Benchmark, *, names: bool) -> People:
    """All physicians of the benchmark, including stopped ones; two queries."""
    people = People()
    rows = Physician.objects.filter(benchmark=benchmark).values_list(
        "user_id", "pseudonym", "user__name", "user__email"
    )
    for user, pseudonym, name, email in rows:
        people[user] = Person(user, pseudonym, (name or email) if names else "")
    members = Membership.objects.filter(group__benchmark=benchmark, active=True).order_by("pk")
    for user, group, role, capacity in members.values_list("user_id", "group_id", "role", "capacity"):
        people[user].parts.setdefault(group, set()).add(role)
        if role == Membership.Role.ANNOTATOR:
            people[user].capacity[group] = capacity
    return people
