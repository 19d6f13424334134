"""Registry of what waits for a person, in one list: the home page shows it by due date, whichever app it is from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from django.utils import timezone

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    from accounts.models import User

    Text = str | _StrPromise


@dataclass(frozen=True, slots=True)
class Todo:
    """One line of the list.

    ``task`` is the kind of work, ``title`` the batch or whatever it belongs to, ``left`` how much there is, in words.
    ``seconds`` estimates the time that is left, or with ``each`` the time for one piece; None where nobody can say.
    ``url`` is opened by the button, or posted to where ``post`` is set; ``list_url`` is a page that lists the pieces.
    ``first`` puts the line before all due dates, because it blocks other work. ``slug`` is that of the benchmark, where
    the line is about one.
    """

    task: Text
    title: Text
    benchmark: Text
    left: Text
    button: Text
    url: str
    due: date | None = None
    seconds: int | None = None
    each: bool = False
    post: bool = False
    list_url: str = ""
    first: bool = False
    slug: str = ""

    @property
    def days_left(self) -> int | None:
        """Days to the due date in the reader's time zone; negative once it has passed."""
        return None if self.due is None else (self.due - timezone.localdate()).days

    @property
    def days_over(self) -> int:
        """Days since the due date."""
        return -(self.days_left or 0)

    @property
    def overdue(self) -> bool:
        """Whether the due date has passed."""
        return self.due is not None and self.days_over > 0


def by_due_date(todos: Iterable[Todo]) -> list[Todo]:
    """The lines in the order in which to do them; those with the same date, or without one, keep their order."""
    return sorted(todos, key=lambda todo: (not todo.first, todo.due or date.max))


def seconds_of(todos: Iterable[Todo]) -> int | None:
    """Seconds of all lines together; None if one of them has no estimate, since a part would pass for the whole."""
    rows = list(todos)
    if not rows or any(todo.seconds is None or todo.each for todo in rows):
        return None
    return sum(todo.seconds or 0 for todo in rows)


_sources: list[Callable[[User], Iterable[Todo]]] = []


def register(source: Callable[[User], Iterable[Todo]]) -> None:
    """Add a source: ``source(user)`` gives what waits for this person in one app."""
    if source not in _sources:
        _sources.append(source)


def todos_of(user: User, *, without: Callable[[User], Iterable[Todo]] | None = None) -> list[Todo]:
    """All that waits for ``user``, by due date; ``without`` leaves one source out."""
    return by_due_date(todo for source in _sources if source != without for todo in source(user))
