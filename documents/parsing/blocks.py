"""The blocks of a document, as every reader yields them: headings, paragraphs, list items and rows of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CELL_SEPARATOR = " | "
BlockKind = Literal["heading", "paragraph", "item", "row"]
BLOCK_KINDS: tuple[BlockKind, ...] = ("heading", "paragraph", "item", "row")


@dataclass(frozen=True, slots=True)
class Block:
    """A block and its text. A row's text is its cells, with `CELL_SEPARATOR` between them."""

    kind: BlockKind
    text: str
    level: int = 1  # of a heading, from 1
    page: int | None = None  # from 1
    header: str = ""  # of a row below the header of its table: the text of the header


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What a reader knows about a document beside its blocks; complete when the blocks end."""

    title: str = ""
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    language: str = ""
    remarks: tuple[str, ...] = ()
