"""How the rules of drafting read a conversation, a passage and a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from consilium.llm.rules.stems import HAN

MIN_LETTERS = 12  # fewer could not be found again as a quotation
MAX_SENTENCE = 400  # characters; a longer one is left out
_HAN_WEIGHT = 3  # a Han character says as much as three letters
_SPEAKER = re.compile(r"(?:\A|\n\n)\[(User|Assistant|System|Other)\]\n")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？；])(?![”」』）])|\n\s*\n"
)
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without the names of who speaks: all of it, and what the asker says."""

    text: str
    asker: str

    @property
    def language(self) -> str:
        """``zh`` or ``en``."""
        return language_of(self.text)


def read_conversation(case: str) -> Conversation:
    """The fence CASE; a text without names of speakers is the asker's."""
    before, *parts = _SPEAKER.split(case)
    turns = list(zip(parts[::2], parts[1::2], strict=True))
    asker = [text for speaker, text in turns if speaker == "User"] if turns else [before]
    return Conversation("\n\n".join([before, *parts[1::2]]).strip(), "\n\n".join(asker).strip())


def language_of(text: str) -> str:
    """``zh`` if at least a third of the letters are Han characters, else ``en``."""
    n_han = len(_HAN_CHARACTER.findall(text))
    return "zh" if n_han and 3 * n_han >= len(_LETTER.findall(text)) else "en"


def passage_text(item: str) -> str:
    """The text of an item of the list of passages: what stands behind the two lines that say where it comes from."""
    return item.split("\n", 2)[-1]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text as they are written, without those that are too short or too long to be quoted."""
    for part in _SENTENCE_END.split(text):
        sentence = part.strip()
        if weight(sentence) >= MIN_LETTERS and len(sentence) <= MAX_SENTENCE:
            yield sentence


def weight(text: str) -> int:
    """How many letters and figures a text has; a Han character counts as three."""
    n_han = len(_HAN_CHARACTER.findall(text))
    return sum(map(str.isalnum, text)) - n_han + _HAN_WEIGHT * n_han


def one_line(text: str) -> str:
    """The text with single blanks."""
    return " ".join(text.split())
