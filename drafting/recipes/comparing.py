"""What differs between two versions of a recipe, line by line, with changed words marked inside a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django.utils.translation import gettext as _

from drafting.recipes.content import STAGES_OF, RecipeContent
from drafting.recipes.forms import ROLE_TITLES
from drafting.recipes.shipped import ROLES
from drafting.recipes.texts import LANGUAGE_NAMES, LANGUAGES, TAGS, prompt_of
from drafting.stage_words import stage_title
from rubrics.versions.diff import DiffSpan, word_marks

# Unchanged lines that are shown before and after a change.
AROUND = 2


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a text in both versions, or in one; ``kind`` is same, changed, new, removed, or gap (lines left out).

    Places count from 1.
    """

    kind: str
    old_place: int | None = None
    new_place: int | None = None
    pieces: tuple[DiffSpan, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PartChange:
    """A part of a recipe that differs: its settings, or a text of a stage."""

    title: str
    lines: tuple[TextLine, ...]
    language: str = ""

    @property
    def tag(self) -> str:
        """The language of a text, as a page names it; empty for settings."""
        return TAGS.get(self.language, "")

    @property
    def n_changed(self) -> int:
        """How many lines differ."""
        return sum(line.kind not in ("same", "gap") for line in self.lines)


def compare(old: RecipeContent, new: RecipeContent) -> list[PartChange]:
    """The parts that differ, in the order of the editor. A text of the product stands for itself."""
    before, after = dict(_parts(old)), dict(_parts(new))
    changes = []
    for part in dict.fromkeys([*before, *after]):
        was, now = before.get(part, ""), after.get(part, "")
        if was != now:
            title, language = part
            changes.append(PartChange(title, tuple(line_changes(was, now)), language))
    return changes


def _parts(content: RecipeContent) -> Iterator[tuple[tuple[str, str], str]]:
    """Each part by title and language, as lines."""
    for role in ROLES:
        if role in content.models:
            yield (str(ROLE_TITLES[role]), ""), _settings(content.models[role].model_dump(mode="json"))
    for name in STAGES_OF[content.form]:
        title = stage_title(name)
        stage = content.stage(name)
        yield (title, ""), _settings({"on": stage.on, "model": stage.model})
        for language in LANGUAGES:
            prompt = prompt_of(content, name, language)
            names = {"stage": title, "language": LANGUAGE_NAMES[language]}
            yield (_("%(stage)s, instructions, %(language)s") % names, language), prompt.system
            yield (_("%(stage)s, request, %(language)s") % names, language), prompt.user
    yield (_("Limits"), ""), _settings(content.limits.model_dump(mode="json"))
    yield (_("Filters"), ""), _settings(content.filters.model_dump(mode="json"))


def _settings(values: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


def line_changes(old: str, new: str) -> Iterator[TextLine]:
    """Both texts merged by line; of unchanged lines only those near a change."""
    lines = list(_merged(old.split("\n") if old else [], new.split("\n") if new else []))
    near = {
        place + step for place, line in enumerate(lines) if line.kind != "same" for step in range(-AROUND, AROUND + 1)
    }
    left_out = 0
    for place, line in enumerate(lines):
        if place not in near:
            left_out += 1
            continue
        if left_out:
            yield TextLine("gap", left_out=left_out)
            left_out = 0
        yield line
    if left_out:
        yield TextLine("gap", left_out=left_out)


def _merged(old: list[str], new: list[str]) -> Iterator[TextLine]:
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for step in range(i2 - i1):
                yield TextLine("same", i1 + step + 1, j1 + step + 1, (DiffSpan(new[j1 + step]),))
            continue
        # Lines that replace each other are shown as one each, the rest as removed and new ones.
        both = min(i2 - i1, j2 - j1)
        for step in range(both):
            pieces = word_marks(old[i1 + step], new[j1 + step])
            yield TextLine("changed", i1 + step + 1, j1 + step + 1, pieces)
        for place in range(i1 + both, i2):
            yield TextLine("removed", place + 1, None, (DiffSpan(old[place], "del"),))
        for place in range(j1 + both, j2):
            yield TextLine("new", None, place + 1, (DiffSpan(new[place], "ins"),))
