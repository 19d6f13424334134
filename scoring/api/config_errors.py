"""Settings of a judge or of a run that do not fit, as an answer of the API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rest_framework.exceptions import ValidationError

from scoring.judges.config import InvalidConfig


@contextmanager
def config_errors() -> Iterator[None]:
    """Turn settings that do not fit into an answer that names their fields."""
    try:
        yield
    except InvalidConfig as error:
        about_all = error.fields.get("")
        named = {name: [message] for name, message in error.fields.items()}
        raise ValidationError({"config": [about_all] if about_all else named}) from None
