"""The texts of the stages of a recipe: its own or the product's, and whether each place of a stage stands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from drafting.recipes.content import STAGES_OF, Prompt, PromptLanguage, RecipeContent
from drafting.runs.inputs import texts_of
from drafting.stage_words import stage_title
from drafting.stages.prompts import PLACES, VALUES, PlaceFault, StageTexts, default_texts, place_faults
from scoring.judges.config import InvalidConfig

LANGUAGES: tuple[PromptLanguage, ...] = get_args(PromptLanguage)
_BRACES = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(r"[A-Za-z_]*")
TAGS = {"en": "en", "zh": "zh-Hans"}
LANGUAGE_NAMES = {"en": gettext_lazy("English"), "zh": gettext_lazy("Chinese")}


@dataclass(frozen=True, slots=True)
class TextFault:
    """What is wrong with a text; ``part`` is ``system`` or ``user``."""

    stage: str
    language: str
    part: str
    message: str

    @property
    def path(self) -> str:
        """Where the text stands in the content of a recipe."""
        return f"stages.{self.stage}.prompts.{self.language}.{self.part}"

    def __str__(self) -> str:
        names = {"stage": stage_title(self.stage), "language": LANGUAGE_NAMES.get(self.language, self.language)}
        return _("%(stage)s, %(language)s: %(message)s") % {**names, "message": self.message}


def written(place: str) -> str:
    """A place as a text has it: ``{{case}}``."""
    return f"{{{{{place}}}}}"


def places_of(stage: str) -> list[str]:
    """The places of a request for texts from outside, as a text has them; each stands in it once."""
    return list(map(written, PLACES[stage]))


def values_of(stage: str) -> list[str]:
    """The places for numbers of the recipe, which a text may have."""
    return list(map(written, VALUES.get(stage, ())))


def product_prompt(stage: str, language: str) -> Prompt:
    """The product's own texts of a stage."""
    texts = default_texts(stage, language)
    return Prompt(system=texts.system, user=texts.user)


def prompt_of(content: RecipeContent, stage: str, language: str) -> Prompt:
    """The texts that a stage of a recipe sends in a language."""
    texts = texts_of(content, stage, language)
    return Prompt(system=texts.system, user=texts.user)


def stage_texts(prompt: Prompt) -> StageTexts:
    """Texts as the stages take them."""
    return StageTexts(prompt.system, prompt.user)


def faults_of(stage: str, language: str, prompt: Prompt) -> list[TextFault]:
    """What is wrong with the texts of a stage: places that it does not have, and places that are missing or doubled."""
    faults = [*place_faults(stage, stage_texts(prompt)), *_odd_places(prompt)]
    return [TextFault(stage, language, fault.part, _message(stage, fault)) for fault in faults]


def _odd_places(prompt: Prompt) -> list[PlaceFault]:
    """What is written like a place, but has no name that a place could have, such as ``{{1}}``."""
    texts = {"system": prompt.system, "user": prompt.user}
    return [
        PlaceFault(part, name, "unknown")
        for part, text in texts.items()
        for name in dict.fromkeys(map(str.strip, _BRACES.findall(text)))
        if not _NAME.fullmatch(name)
    ]


def _message(stage: str, fault: PlaceFault) -> str:
    place = written(fault.place)
    if fault.fault == "missing":
        return _("The placeholder %(place)s is missing.") % {"place": place}
    if fault.fault == "twice":
        return _("The placeholder %(place)s occurs twice.") % {"place": place}
    known = [*(places_of(stage) if fault.part == "user" else []), *values_of(stage)]
    if not known:
        return _("This text has no placeholders, but %(place)s is written like one.") % {"place": place}
    return _("This text has no placeholder %(place)s. Available: %(known)s.") % {
        "place": place,
        "known": ", ".join(known),
    }


def text_faults(content: RecipeContent) -> list[TextFault]:
    """What is wrong with the texts of a recipe, in the order of its stages; of stages that are off as well."""
    return [
        fault
        for name in STAGES_OF[content.form]
        for language, prompt in content.stage(name).prompts.items()
        for fault in faults_of(name, language, prompt)
    ]


def check_texts(content: RecipeContent) -> None:
    """`InvalidConfig` that names stage and language of each text that cannot be used."""
    by_path: dict[str, list[str]] = {}
    for fault in text_faults(content):
        by_path.setdefault(fault.path, []).append(str(fault))
    if by_path:
        raise InvalidConfig({path: " ".join(messages) for path, messages in by_path.items()})
