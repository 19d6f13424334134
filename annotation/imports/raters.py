"""Maps rater names in an imported file to physicians of the group."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from django.contrib.auth.hashers import make_password
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import ExpertGroup, Membership, Physician
from consilium.core.identifiers import new_public_id
from rubrics.parsing.faults import Faults


class Raters:
    """The physicians of a benchmark by pseudonym, and the new ones of a file.

    A new one is a user without an address and without a usable password: nobody can sign in as them.
    """

    def __init__(self, group: ExpertGroup, faults: Faults) -> None:
        self.group = group
        self.faults = faults
        self.created = 0
        known = Physician.objects.filter(benchmark=group.benchmark)
        self.users: dict[str, int] = dict(known.values_list("pseudonym", "user_id"))
        self._elsewhere = set(
            Membership.objects.filter(active=True, group__benchmark=group.benchmark)
            .exclude(group=group)
            .values_list("user_id", flat=True)
        )
        self._by_normal_form: dict[str, str] = {}

    def sound(self, name: str, line: int, field: str) -> bool:
        """Whether decisions may be stored under ``name`` in this group; a fault if not."""
        twin = self._by_normal_form.setdefault(unicodedata.normalize("NFC", name), name)
        if twin != name:
            self.faults.add(line, field, _("This rater differs from another one only in composed characters."))
            return False
        if self.users.get(name) in self._elsewhere:
            message = _("The physician “%(name)s” belongs to another expert group of the benchmark.")
            self.faults.add(line, field, message % {"name": name[:80]})
            return False
        return True

    def enrol(self, parts: Mapping[str, Iterable[str]]) -> None:
        """Make the missing physicians, and make all of them members; ``parts`` gives the parts of each name."""
        missing = [name for name in parts if name not in self.users]
        people = User.objects.bulk_create(
            User(username=f"imported-{new_public_id()}", password=make_password(None)) for _name in missing
        )
        Physician.objects.bulk_create(
            Physician(benchmark=self.group.benchmark, user=person, pseudonym=name)
            for name, person in zip(missing, people, strict=True)
        )
        self.users.update((name, person.pk) for name, person in zip(missing, people, strict=True))
        self.created += len(missing)
        Membership.objects.bulk_create(
            (
                Membership(group=self.group, user_id=self.users[name], role=part)
                for name, played in parts.items()
                for part in sorted(played)
            ),
            ignore_conflicts=True,
        )
