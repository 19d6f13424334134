"""Fetches a document by its address, from hosts that the operator lists."""

from __future__ import annotations

from collections.abc import Collection
from typing import BinaryIO

from consilium.core.errors import DomainError
from consilium.core.phrases import Phrase


class FetchRefused(DomainError):
    """The document was not fetched; nothing of it may be used."""


def fetch_document(url: str, into: BinaryIO, *, allowed_hosts: Collection[str]) -> None:
    """Write what ``url`` sends to ``into``."""
    raise FetchRefused(Phrase("Addresses cannot be fetched yet."))
