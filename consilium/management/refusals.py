"""What a command says where one of its files is refused or cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from consilium.core.errors import ImportRefused


@contextmanager
def refusals_of(path: Path) -> Iterator[None]:
    """Around the reading of ``path``: `CommandError` with its faults, by line and field, or why it cannot be read."""
    try:
        yield
    except ImportRefused as refused:
        more = f"\n... and {refused.total - len(refused.errors)} more" if refused.total > len(refused.errors) else ""
        raise CommandError(f"{path} is refused, nothing was written:\n{refused}{more}") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
