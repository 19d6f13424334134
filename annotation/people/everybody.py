"""Everybody with a part in a benchmark, in one list: who they are, what they do where, and what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from accounts.notices import PARTS
from annotation.models import Membership
from annotation.selectors.languages_read import languages_read
from annotation.services.groups import held_in
from consilium.core.languages import language_name
from consilium.core.order import natural
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole


@dataclass(frozen=True, slots=True)
class PartOfPerson:
    """One part: ``role`` is a key of `accounts.notices.PARTS`, ``group`` the name of an expert group or empty."""

    role: str
    group: str
    active: bool

    @property
    def label(self) -> str:
        """The role in the reader's language."""
        return str(PARTS.get(self.role, self.role))


@dataclass(slots=True)
class PersonRow:
    """A person and all their parts."""

    user: User
    parts: list[PartOfPerson] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    pseudonym: str = ""
    held: int = 0  # open assignments, checks and conflicts that are released when their account is deactivated

    @property
    def state(self) -> str:
        """``deactivated`` (the account), ``stopped`` (no part is active), ``invited`` or ``active``."""
        if not self.user.is_active:
            return "deactivated"
        if not any(part.active for part in self.parts):
            return "stopped"
        return "invited" if self.user.is_invited else "active"

    @property
    def language_names(self) -> list[str]:
        """In the reader's language."""
        return [language_name(tag) for tag in self.languages]


def everybody(benchmark: Benchmark) -> list[PersonRow]:
    """All people of the benchmark, by name; those who were stopped too; a fixed number of queries."""
    rows: dict[int, PersonRow] = {}

    def add(user: User, role: str, group: str, *, active: bool) -> None:
        rows.setdefault(user.pk, PersonRow(user)).parts.append(PartOfPerson(role, group, active))

    for role in BenchmarkRole.objects.filter(benchmark=benchmark).select_related("user").order_by("pk"):
        add(role.user, role.role, "", active=role.active)
    for authoring in AuthoringRole.objects.filter(benchmark=benchmark).select_related("user").order_by("pk"):
        add(authoring.user, authoring.role, "", active=authoring.active)
    members = Membership.objects.filter(group__benchmark=benchmark).select_related("user", "group")
    for membership in members.order_by("group__name", "role", "pk"):
        add(membership.user, membership.role, membership.group.name, active=membership.active)
    for (user_id, _role), number in held_in(benchmark.groups.all()).items():
        if user_id in rows:
            rows[user_id].held += number
    known = languages_read(rows)
    pseudonyms = dict(benchmark.physicians.values_list("user_id", "pseudonym"))
    for user, row in rows.items():
        row.languages, row.pseudonym = known[user], pseudonyms.get(user, "")
    return sorted(rows.values(), key=lambda row: (natural(str(row.user)), row.user.pk))


COLUMNS = ("name", "email", "pseudonym", "role", "group", "active", "state", "languages")
TEXT_COLUMNS = ("name", "email", "group")


def csv_rows(people: list[PersonRow]) -> Iterator[dict[str, Any]]:
    """A line for each part of each person."""
    for person in people:
        for part in person.parts:
            yield {
                "name": person.user.name, "email": person.user.email, "pseudonym": person.pseudonym, "role": part.role,
                "group": part.group, "active": part.active, "state": person.state,
                "languages": " ".join(person.languages),
            }  # fmt: skip
