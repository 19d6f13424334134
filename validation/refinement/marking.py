"""Two texts side by side, with the words marked that one of them alone has. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

# A word with the blanks behind it; of scripts without blanks, each sign.
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|"
    r"[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|\s+|[^\w\s]"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text, and whether the other text lacks it."""

    text: str
    is_changed: bool = False


def marked(base: str, refined: str) -> tuple[list[Segment], list[Segment]]:
    """Both texts in segments that make them up again."""
    first, second = _TOKEN.findall(base), _TOKEN.findall(refined)
    before: list[Segment] = []
    after: list[Segment] = []
    for operation, b_start, b_end, a_start, a_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        changed = operation != "equal"
        for side, text in ((before, "".join(first[b_start:b_end])), (after, "".join(second[a_start:a_end]))):
            if text:
                side.append(Segment(text, changed))
    return before, after
