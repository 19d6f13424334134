"""Which cases physicians cannot read, by the languages in their profiles.

A case whose language is not known is read by everybody, and who has named no language reads every case: otherwise no
work could be given out before all have completed their profiles. What counts is the language of a tag, not its script
or region (`consilium.core.language_tags`). `accounts.unread_cases` has the same rule as a condition of a query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import PhysicianProfile
from consilium.core.commands import Label
from consilium.core.errors import DomainError
from consilium.core.language_tags import can_read
from consilium.core.languages import language_name
from rubrics.models import Case

# The term of every kind of batch, so that its form and API have the same words.
MatchLanguages = Annotated[
    bool,
    Label(
        gettext_lazy("Only cases in languages they read"),
        gettext_lazy(
            "Physicians name the languages they read in their profile. A physician who has named none receives cases "
            "in any language."
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """One language of the items of a plan: how many there are, and how many of the people read it."""

    tag: str
    items: int
    readers: int
    unsaid: int = 0  # of the readers, who have named no language

    @property
    def named(self) -> int:
        """How many of the readers have named the language."""
        return self.readers - self.unsaid

    @property
    def name(self) -> str:
        """In the reader's language; empty where the language of the cases is not known."""
        return language_name(self.tag) if self.tag else ""


def languages_read(people: Collection[int]) -> dict[int, list[str]]:
    """User → the languages of their profile; empty where they have named none."""
    known = dict(PhysicianProfile.objects.filter(user__in=people).values_list("user_id", "languages"))
    return {user: known.get(user, []) for user in people}


def languages_of(cases: Collection[int]) -> dict[int, str]:
    """Case → its language."""
    return dict(Case.objects.filter(pk__in=cases).values_list("pk", "language"))


def unreadable(cases: Mapping[int, str], people: Mapping[int, Sequence[str]]) -> set[tuple[int, int]]:
    """(case, user) pairs of cases in a language that the user does not read."""
    languages = set(cases.values())
    unread = {user: {tag for tag in languages if not can_read(known, tag)} for user, known in people.items()}
    return {(case, user) for user, tags in unread.items() for case, tag in cases.items() if tag in tags}


def unreadable_pairs(cases: Collection[int], people: Collection[int]) -> set[tuple[int, int]]:
    """`unreadable` for ids of cases and users."""
    return unreadable(languages_of(cases), languages_read(people))


def language_rows(items: Collection[str], people: Mapping[int, Sequence[str]]) -> tuple[LanguageRow, ...]:
    """The languages of ``items``, the most frequent first."""
    counts = Counter(items)
    return tuple(
        LanguageRow(
            tag,
            counts[tag],
            sum(can_read(known, tag) for known in people.values()),
            sum(not known for known in people.values()),
        )
        for tag in sorted(counts, key=lambda tag: (-counts[tag], tag))
    )


def refuse_unread(rows: Sequence[LanguageRow], *, needed: int) -> None:
    """`DomainError` that names every language that fewer than ``needed`` of the annotators read."""
    lines = []
    for row in rows:
        if row.readers < needed:
            text = ngettext(
                "%(n)d of the chosen cases or responses is in %(language)s. Annotators who read it: %(readers)d; "
                "required: %(asked)d.",
                "%(n)d of the chosen cases or responses are in %(language)s. Annotators who read it: %(readers)d; "
                "required: %(asked)d.",
                row.items,
            )
            lines.append(text % {"n": row.items, "language": row.name, "readers": row.readers, "asked": needed})
    if lines:
        todo = _(
            "Add annotators who read these cases, choose other languages, or clear “Only cases in languages they read”."
        )
        raise DomainError(" ".join([*lines, todo]))


def refuse_unchecked(languages: Collection[str], checkers: Mapping[int, Sequence[str]]) -> None:
    """`DomainError` that names every one of ``languages`` that no checker reads."""
    unread = [tag for tag in languages if not any(can_read(known, tag) for known in checkers.values())]
    if checkers and unread:
        raise DomainError(
            _(
                "No checker of the group reads %(languages)s, but a secondary check is required. Add a checker for "
                "each language that no checker reads, choose other languages, or require no check."
            )
            % {"languages": ", ".join(sorted(map(language_name, unread)))}
        )


def warn_of_unadjudicated(languages: Collection[str], adjudicators: Mapping[int, Sequence[str]]) -> list[str]:
    """A warning about each of ``languages`` that no adjudicator reads: they are given no conflicts in it."""
    text = _("No adjudicator of the group reads %(language)s. Conflicts in this language wait until one does.")
    return [
        text % {"language": language_name(tag)}
        for tag in sorted(languages)
        if not any(can_read(known, tag) for known in adjudicators.values())
    ]


def warn_of_unsaid(people: Mapping[int, Sequence[str]]) -> list[str]:
    """A warning about annotators who have named no language."""
    unsaid = sum(not known for known in people.values())
    if not unsaid:
        return []
    text = ngettext(
        "%(n)d annotator has not named the languages they read and may receive cases in any language.",
        "%(n)d annotators have not named the languages they read and may receive cases in any language.",
        unsaid,
    )
    return [text % {"n": unsaid}]
