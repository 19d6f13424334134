"""The content of a case: parsed from JSON or a form, validated, and compared with the stored one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from consilium.core.errors import LineError
from consilium.core.language_tags import normalise_language
from consilium.core.limits import MAX_KEY_LENGTH, MAX_TAG_LENGTH
from rubrics.models import Case, Difficulty, Register, Rubric

ROLES = ("user", "assistant", "system")
MAX_TURNS = 200
MAX_TEXT_LENGTH = 200_000
MAX_TAGS = 200
CONTENT = ("key", "conversation", "reference_answer")  # frozen once a rubric of the case is published
FIELDS = (*CONTENT, "difficulty", "register", "language", "tags")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Tags of these kinds have separate fields: the name of the field and the prefix of the tag.
TAG_KINDS = {"themes": "theme:", "tasks": "task:", "specialties": "specialty:"}


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class CaseContent:
    """All that an author enters about a case; texts may be empty while it is a draft, its key may not."""

    key: str
    conversation: tuple[Turn, ...] = (Turn("user", ""),)
    reference_answer: str = ""
    difficulty: str = ""
    register: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the editor sends and gets it."""
        return {name: getattr(self, name) for name in FIELDS} | {
            "conversation": self.turns(),
            "tags": list(self.tags),
        }

    def turns(self) -> list[dict[str, str]]:
        """As `Case.conversation` holds them."""
        return [{"role": turn.role, "content": turn.content} for turn in self.conversation]


@dataclass(slots=True)
class ContentInput:
    """Fields that were read, in ``values`` if they are valid, and the faults of the others: field → messages."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)

    def refuse(self, name: str, message: str) -> None:
        """Note a fault beside a field."""
        self.errors.setdefault(name, []).append(message)


def content_of(case: Case) -> CaseContent:
    """A case as it is stored."""
    return CaseContent(
        key=case.key,
        conversation=tuple(Turn(str(turn.get("role", "")), str(turn.get("content", ""))) for turn in case.conversation),
        reference_answer=case.reference_answer,
        difficulty=case.difficulty,
        register=case.register,
        language=case.language,
        tags=tuple(case.tags),
    )


def read_content(value: Any, *, stored: CaseContent) -> ContentInput:
    """Fields from JSON, strictly: missing fields keep their values, unknown ones are refused."""
    reading = ContentInput()
    if not isinstance(value, Mapping):
        reading.refuse("case", _("This must be an object."))
        return reading
    for name in value:
        if name not in FIELDS:
            reading.refuse(str(name)[:80], _("This field does not exist."))
    for name in FIELDS:
        if name in value:
            _READERS[name](value[name], reading)
        else:
            reading.values[name] = getattr(stored, name)
    return reading


def read_form(data: QueryDict, *, stored: CaseContent) -> ContentInput:
    """Fields from the form as a browser without scripts sends it; fields that it does not show stay as they stand."""
    value: dict[str, Any] = {
        name: data[name] for name in FIELDS if name in data and name not in ("conversation", "tags")
    }
    for name in ("key", "reference_answer"):
        if name in value:
            value[name] = value[name].replace("\r\n", "\n")
    if "content" in data:
        pairs = zip(data.getlist("role"), data.getlist("content"), strict=False)
        value["conversation"] = [{"role": role, "content": text.replace("\r\n", "\n")} for role, text in pairs]
    tags = [f"{before}{tag.strip()}" for name, before in TAG_KINDS.items() for tag in data.getlist(name) if tag.strip()]
    value["tags"] = [*tags, *(tag.strip() for tag in data.getlist("others") if tag.strip())]
    return read_content(value, stored=stored)


def tags_by_kind(tags: Sequence[str]) -> dict[str, list[str]]:
    """Tags as the editor shows them: those that have a field, without their prefix, and the others."""
    kinds: dict[str, list[str]] = {name: [] for name in (*TAG_KINDS, "others")}
    for tag in tags:
        name = next((name for name, before in TAG_KINDS.items() if tag.startswith(before)), "others")
        kinds[name].append(tag.removeprefix(TAG_KINDS.get(name, "")))
    return kinds


def unready_content(case: Case) -> list[LineError]:
    """What keeps a case from being published: a conversation with an empty turn, or without turns.

    Empty for a case whose content is public already.
    """
    texts = [str(turn.get("content", "")).strip() for turn in case.conversation]
    if texts and all(texts):
        return []
    if case.rubrics.filter(status__in=[Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED]).exists():
        return []
    if not any(texts):
        return [LineError(0, "conversation", _("The conversation of the case is empty. Write what the patient says."))]
    return [
        LineError(0, "conversation", _("Turn %(n)d of the conversation is empty.") % {"n": number})
        for number, text in enumerate(texts, start=1)
        if not text
    ]


# One reader for each field ------------------------------------------------------------------------------------------


def _text(name: str, longest: int) -> Any:
    def read(value: Any, reading: ContentInput) -> None:
        if message := _fault(value, longest):
            reading.refuse(name, message)
        else:
            reading.values[name] = value

    return read


def _fault(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        return _("This must be text.")
    if len(value) > longest:
        return _("This is longer than %(n)d characters.") % {"n": longest}
    return _("The text contains a character that cannot be stored.") if UNSTORABLE.search(value) else ""


def _key(value: Any, reading: ContentInput) -> None:
    if message := _fault(value, MAX_KEY_LENGTH):
        reading.refuse("key", message)
    elif not value.strip():
        reading.refuse("key", _("A case needs a short name, which people and files use to identify it."))
    else:
        reading.values["key"] = value.strip()


def _conversation(value: Any, reading: ContentInput) -> None:
    if not isinstance(value, list) or len(value) > MAX_TURNS:
        reading.refuse("conversation", _("A conversation must be a list of at most %(n)d turns.") % {"n": MAX_TURNS})
        return
    turns = []
    for number, turn in enumerate(value, start=1):
        if not isinstance(turn, Mapping) or set(turn) != {"role", "content"}:
            message = _("A turn must have a role and a content, and nothing else.")
        elif turn["role"] not in ROLES:
            message = _("The role of a turn must be one of: %(names)s.") % {"names": ", ".join(ROLES)}
        else:
            message = _fault(turn["content"], MAX_TEXT_LENGTH)
        if message:
            reading.refuse("conversation", _("Turn %(n)d: %(what)s") % {"n": number, "what": message})
        else:
            turns.append(Turn(turn["role"], turn["content"]))
    reading.values["conversation"] = tuple(turns)


def _choice(name: str, choices: Sequence[str]) -> Any:
    def read(value: Any, reading: ContentInput) -> None:
        if value == "" or (isinstance(value, str) and value in choices):
            reading.values[name] = value
        else:
            reading.refuse(name, _("One of: %(names)s.") % {"names": ", ".join(choices)})

    return read


def _language(value: Any, reading: ContentInput) -> None:
    try:
        if not isinstance(value, str):
            raise ValueError(value)
        reading.values["language"] = normalise_language(value) if value else ""
    except ValueError:
        reading.refuse("language", _("A language must be a code such as en, pt-BR or zh-Hant."))


def _tags(value: Any, reading: ContentInput) -> None:
    if not isinstance(value, list) or len(value) > MAX_TAGS:
        reading.refuse("tags", _("Tags must be a list of at most %(n)d items.") % {"n": MAX_TAGS})
        return
    for tag in value:
        if message := _fault(tag, MAX_TAG_LENGTH):
            reading.refuse("tags", message)
            return
    reading.values["tags"] = tuple(dict.fromkeys(tag.strip() for tag in value if tag.strip()))


_READERS = {
    "key": _key,
    "conversation": _conversation,
    "reference_answer": _text("reference_answer", MAX_TEXT_LENGTH),
    "difficulty": _choice("difficulty", Difficulty.values),
    "register": _choice("register", Register.values),
    "language": _language,
    "tags": _tags,
}
