"""The axes of criteria, such as accuracy: their codes in tags, and the words that people read and write. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from consilium.core.phrases import Phrase

PREFIX = "axis:"
# HealthBench's names for the aspects of an answer; a benchmark may have other ones besides these.
NAMES = {
    "accuracy": Phrase("accuracy"),
    "completeness": Phrase("completeness"),
    "context_awareness": Phrase("context awareness"),
    "communication_quality": Phrase("communication quality"),
    "instruction_following": Phrase("instruction following"),
    "safety": Phrase("safety"),
}
AXES = tuple(NAMES)
# As tables in Chinese name them.
_CHINESE = {
    "accuracy": "准确性",
    "completeness": "完整性",
    "context_awareness": "情境意识",
    "communication_quality": "沟通质量",
    "instruction_following": "遵循指令",
    "safety": "安全性",
}
_CODES = {word: code for code, word in _CHINESE.items()} | {code: code for code in AXES}


def axis_word(axis: str) -> str:
    """The words for an axis: of those of `NAMES` a phrase, which can be translated; else its name with blanks."""
    return NAMES.get(axis) or axis.replace("_", " ")


def axis_code(text: str, own: Collection[str] = ()) -> str:
    """The axis that a person wrote: “Context awareness” is ``context_awareness``; a name of its own stays.

    ``own`` has the axes that the criteria of the benchmark use already: where one is written just so, it is that one.
    """
    name = text.strip().removeprefix(PREFIX).strip()
    if name in own:
        return name
    plain = re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", name).casefold())
    return _CODES.get(plain, name)


def axis_tags(labels: Iterable[str], own: Collection[str] = ()) -> list[str]:
    """Tags of the labels in a column of axes: ``axis:accuracy`` of “Accuracy”; another kind of tag stays as it is.

    ``own`` is as for `axis_code`.
    """
    tags = []
    for label in labels:
        is_other = re.match(r"[a-z_]+:\S", label) and not label.startswith(PREFIX)
        tag = label if is_other else PREFIX + axis_code(label, own)
        if tag != PREFIX:
            tags.append(tag)
    return tags


def is_known_axis(text: str) -> bool:
    """Whether a text is the name of one of `AXES`, in English or Chinese, however it is spelled."""
    return axis_code(text) in NAMES
