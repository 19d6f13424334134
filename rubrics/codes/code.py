"""A code of a code book, as it is stored, and the rules for a book of them. No Django."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NONE_OF_THESE = "none"  # the answer that no code applies; so it is the key of no code
SEVERITIES = ("", "minor", "moderate", "severe")
MAX_CODES = 40
MAX_CODE_KEY_LENGTH = 40
MAX_CODE_TITLE_LENGTH = 100
MAX_CODE_TEXT_LENGTH = 2_000
MAX_EXAMPLES = 10
# Each is a pair of texts, in English and in Chinese.
TITLES = ("group_en", "group_zh", "title_en", "title_zh")
TEXTS = ("definition_en", "definition_zh", "applies_en", "applies_zh", "not_en", "not_zh")
LISTS = ("examples_en", "examples_zh", "was")


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of failure. Texts in Chinese may be empty: pages then show the English ones.

    ``was`` names the codes of the version before that it continues: its own key where nothing was renamed, several
    where codes were merged, none where the code is new.
    """

    key: str
    title_en: str
    definition_en: str
    title_zh: str = ""
    definition_zh: str = ""
    group_en: str = ""
    group_zh: str = ""
    applies_en: str = ""
    applies_zh: str = ""
    not_en: str = ""
    not_zh: str = ""
    examples_en: tuple[str, ...] = ()
    examples_zh: tuple[str, ...] = ()
    severity: str = ""
    was: tuple[str, ...] = ()

    def stored(self) -> dict[str, Any]:
        """The code as a book stores it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def text(self, name: str, language: str) -> str:
        """The field ``title``, ``definition``, ``group``, ``applies`` or ``not`` in ``language``, else in English."""
        chinese = str(getattr(self, f"{name}_zh")) if language.startswith("zh") else ""
        return chinese or str(getattr(self, f"{name}_en"))

    def examples(self, language: str) -> tuple[str, ...]:
        """The examples in ``language``, else in English."""
        return (self.examples_zh if language.startswith("zh") else ()) or self.examples_en


FIELDS = tuple(field.name for field in fields(Code))


def code_of(stored: Mapping[str, Any]) -> Code:
    """A code as a book stores it."""
    values: dict[str, Any] = {name: stored[name] for name in FIELDS if name in stored}
    values |= {name: tuple(values.get(name, ())) for name in LISTS}
    return Code(**values)


def digest_of(codes: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of the codes as a book stores them."""
    text = json.dumps(list(codes), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def carried_over(codes: Iterable[Code]) -> list[Code]:
    """The codes as the first state of the next version: each continues itself."""
    return [replace(code, was=(code.key,)) for code in codes]
