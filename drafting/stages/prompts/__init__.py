"""The texts of the stages' requests, in English and Chinese, and the messages that they make. Pure.

A text is in two parts: what to do (``system``), and how the material is set out (``user``). ``{{places}}`` of the
second stand for texts from outside, each in a fence, and ``{{values}}`` of either for numbers of the recipe. The form
of the answer, the rule about fences and the name of the stage are added to the first, so that no recipe can lose them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from consilium.llm.prompts import Messages
from consilium.llm.staged import Fenced, staged_messages
from drafting.stages import names
from drafting.stages.prompts import chinese, english

Language = Literal["en", "zh"]
ENGLISH: Language = "en"
CHINESE: Language = "zh"
LANGUAGES = (ENGLISH, CHINESE)

# The texts from outside that a request of each stage has. The fence of a place is its name in capital letters.
PLACES: Mapping[str, tuple[str, ...]] = {
    names.PLAN: ("case",),
    names.RANK: ("case", "passages"),
    names.EVIDENCE: ("case", "passages"),
    names.FACTS: ("case", "passages", "statements"),
    names.RELEVANCE: ("case", "facts"),
    names.SUPPORT: ("facts", "quotes"),
    names.NEEDS: ("case",),
    names.SYNTHESIS: ("case", "facts", "needs", "axes"),
    names.DIRECT: ("case", "axes"),
    names.AUDIT: ("case", "facts", "needs", "axes", "criteria", "links", "findings"),
}
# Numbers that a text may name.
VALUES: Mapping[str, tuple[str, ...]] = {
    names.RANK: ("keep",),  # how many passages go on
    names.SYNTHESIS: ("most",),  # how many criteria there may be
    names.DIRECT: ("most",),
    names.AUDIT: ("most",),
}
_PLACE = re.compile(r"\{\{\s*([A-Za-z_]*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class StageTexts:
    """The two texts of a stage."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class PlaceFault:
    """What is wrong with a text: a place that is *unknown* in it, *missing* or there *twice*."""

    part: str  # "system" or "user"
    place: str
    fault: str


def prompt_language(language: str) -> Language:
    """The language of the texts for a case: Chinese for a Chinese case, else English."""
    return CHINESE if language.lower().split("-")[0] == CHINESE else ENGLISH


def default_texts(stage: str, language: str) -> StageTexts:
    """The product's own texts of a stage, in one of `LANGUAGES`."""
    return StageTexts(*(chinese if language == CHINESE else english).TEXTS[stage])


def form_text(stage: str, language: str) -> str:
    """How the form of a stage's answer is described to a model."""
    return (chinese if language == CHINESE else english).FORMS[stage]


def place_faults(stage: str, texts: StageTexts) -> list[PlaceFault]:
    """What keeps a recipe's texts from being used for a stage."""
    return list(_place_faults(stage, texts))


def _place_faults(stage: str, texts: StageTexts) -> Iterator[PlaceFault]:
    places, values = PLACES[stage], VALUES.get(stage, ())
    for place in dict.fromkeys(_PLACE.findall(texts.system)):
        if place not in values:
            yield PlaceFault("system", place, "unknown")
    counted = _PLACE.findall(texts.user)
    for place in dict.fromkeys(counted):
        if place not in (*places, *values):
            yield PlaceFault("user", place, "unknown")
    for place in places:
        if place not in counted:
            yield PlaceFault("user", place, "missing")
        elif counted.count(place) > 1:
            yield PlaceFault("user", place, "twice")


def stage_messages(
    stage: str,
    language: str,
    texts: StageTexts,
    material: Mapping[str, str],
    nonce: str,
    *,
    values: Mapping[str, int] | None = None,
) -> Messages:
    """The messages of a request; ``material`` has the text of each place.

    A place that ``texts`` leave out stands at the end, so that a request always has all its lists.
    """
    parts: list[Fenced | str] = []
    left = dict(material)
    # The odd pieces are the names of places.
    for number, piece in enumerate(_PLACE.split(_filled(texts.user, values or {}))):
        if number % 2 and piece in left:
            parts.append(Fenced(piece.upper(), left.pop(piece)))
        elif number % 2 == 0 and piece.strip():
            parts.append(piece.strip())
    parts += [Fenced(place.upper(), text) for place, text in left.items()]
    system = f"{_filled(texts.system, values or {})}\n\n{form_text(stage, language)}"
    return staged_messages(stage, system, parts, nonce)


def _filled(text: str, values: Mapping[str, int]) -> str:
    """A text with its numbers; other places stay."""
    return _PLACE.sub(lambda match: str(values.get(match[1], match[0])), text)
