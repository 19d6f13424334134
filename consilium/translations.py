"""Message catalogues: collected from the source, kept in ``locale/``, compiled for Django.

For development only: it needs Babel. The product does not, since the compiled catalogue is in the repository.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog
    from babel.messages.catalog import Message as BabelMessage

ROOT = Path(settings.BASE_DIR)
APPS = (
    *("config", "demo", "standalone", "consilium"),
    *("accounts", "rubrics", "documents", "annotation", "scoring", "drafting"),
    *("validation", "agreement", "releases", "operations"),
)
# There is a catalogue for each language of the interface except that of the source.
LOCALES = tuple(to_locale(code) for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE)

# name of the function -> (place of the context, place of the message, place of the plural)
FUNCTIONS: dict[str, tuple[int | None, int, int | None]] = {
    "gettext": (None, 0, None),
    "gettext_lazy": (None, 0, None),
    "gettext_noop": (None, 0, None),
    "ngettext": (None, 0, 1),
    "ngettext_lazy": (None, 0, 1),
    "pgettext": (0, 1, None),
    "pgettext_lazy": (0, 1, None),
    "npgettext": (0, 1, 2),
    "npgettext_lazy": (0, 1, 2),
    "Phrase": (None, 0, None),  # consilium.core.phrases
}
CALL = re.compile(r"""\b(_|n?p?gettext)\(\s*((?:u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*,?\s*)+)""")
LITERAL = re.compile(r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")

HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: Consilium\\n"
"POT-Creation-Date: 2026-01-01 00:00+0000\\n"
"PO-Revision-Date: 2026-01-01 00:00+0000\\n"
"Language: {locale}\\n"
"Plural-Forms: {plural_forms}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """A text to translate; ``plural`` and ``context`` are empty where it has none."""

    text: str
    plural: str = ""
    context: str = ""


def python_files() -> Iterator[Path]:
    """The product's modules, migrations aside."""
    for app in APPS:
        yield from (path for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts)


def template_files() -> Iterator[Path]:
    """The product's templates."""
    yield from sorted((ROOT / "templates").rglob("*"))
    yield from sorted((ROOT / "consilium" / "templates").rglob("*"))


def in_python(source: str) -> Iterator[Message]:
    """Messages of a module: calls of Django's functions, by whatever name it imports them.

    A call with anything but literals is skipped.
    """
    tree = ast.parse(source)
    names = dict(zip(FUNCTIONS, FUNCTIONS, strict=True))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            names |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in FUNCTIONS}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called not in names:
            continue
        context, text, plural = FUNCTIONS[names[called]]
        parts: list[str] = []
        for place in (text, plural, context):
            argument = node.args[place] if place is not None and place < len(node.args) else None
            if place is not None and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                parts.append(argument.value)
            elif place is not None:
                break  # a variable: its texts are marked elsewhere
            else:
                parts.append("")
        else:
            yield Message(*parts)


def in_template(source: str) -> Iterator[Message]:
    """Messages of a template: its translation tags and ``_("…")`` in other tags."""
    for match in CALL.finditer(templatize(source)):
        parts = [ast.literal_eval(literal) for literal in LITERAL.findall(match[2])]
        context, text, plural = FUNCTIONS["gettext" if match[1] == "_" else match[1]]
        if not parts or not parts[text].strip():
            continue
        yield Message(parts[text], "" if plural is None else parts[plural], "" if context is None else parts[context])


@cache
def collect_messages() -> dict[Message, list[str]]:
    """Every message of the product, and the files that contain it."""
    messages: dict[Message, list[str]] = {}

    def note(message: Message, path: Path) -> None:
        places = messages.setdefault(message, [])
        name = path.relative_to(ROOT).as_posix()
        if name not in places:
            places.append(name)

    for path in template_files():
        if path.is_file() and path.suffix in (".html", ".txt"):
            for message in in_template(path.read_text()):
                note(message, path)
    for path in python_files():
        for message in in_python(path.read_text()):
            note(message, path)
    # A message with a plural in one place has it in all places: gettext has one entry for both.
    plurals = {(message.text, message.context) for message in messages if message.plural}
    for message in [m for m in messages if not m.plural and (m.text, m.context) in plurals]:
        places = messages.pop(message)
        twin = next(m for m in messages if (m.text, m.context) == (message.text, message.context))
        messages[twin] += [place for place in places if place not in messages[twin]]
    return messages


def folder(locale: str) -> Path:
    """The path of a language's catalogue."""
    return ROOT / "locale" / locale / "LC_MESSAGES"


def header(locale: str) -> bytes:
    """The head of a catalogue, with the plural rule of its language as the Unicode CLDR has it.

    Raises ValueError for a language whose rule is not known.
    """
    from babel import Locale
    from babel.messages.plurals import PLURALS, get_plural

    if not {locale, Locale.parse(locale).language} & PLURALS.keys():
        raise ValueError(f"Babel knows no plural rule for “{locale}”.")
    plural_forms = f"nplurals={get_plural(locale).num_plurals}; plural={get_plural(locale).plural_expr};"
    return HEADER.format(locale=locale, plural_forms=plural_forms).encode()


def strings_of(entry: BabelMessage | None) -> tuple[str, ...]:
    """The translations of a message: one, or one for each plural form of the language; none where it has no entry."""
    if entry is None or not entry.string:
        return ()
    return (entry.string,) if isinstance(entry.string, str) else tuple(entry.string)


def read(locale: str) -> Catalog:
    """The catalogue as it is kept."""
    from babel.messages.pofile import read_po

    path = folder(locale) / "django.po"
    text = path.read_bytes() if path.exists() else header(locale)
    return read_po(io.BytesIO(text), locale=locale)


def merged(locale: str) -> Catalog:
    """The catalogue with exactly the messages of the source; known translations stay, new messages are empty."""
    from babel.messages.catalog import Catalog

    known = read(locale)
    catalog = Catalog(
        locale=locale, charset="utf-8", creation_date=known.creation_date, revision_date=known.revision_date
    )
    messages = collect_messages()
    for message in sorted(messages, key=lambda m: (messages[m][0], m)):
        strings = strings_of(known.get(message.text, message.context or None)) or ("",)
        # A message that gained a plural keeps its translation as the first form; the others are to be translated.
        forms = (*strings, *[""] * catalog.num_plurals)[: catalog.num_plurals]
        catalog.add(
            (message.text, message.plural) if message.plural else message.text,
            forms if message.plural else strings[0],
            locations=[(place, 1) for place in messages[message]],
            context=message.context or None,
        )
    return catalog


def as_po(catalog: Catalog, locale: str) -> bytes:
    """The catalogue as text, the same for the same messages and translations."""
    from babel.messages.pofile import write_po

    body = io.BytesIO()
    write_po(body, catalog, omit_header=True, include_lineno=False, width=120, ignore_obsolete=True)
    return header(locale) + body.getvalue()


def as_mo(locale: str) -> bytes:
    """What Django reads, compiled from the catalogue as it is kept."""
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, read(locale))
    return compiled.getvalue()


def untranslated(locale: str) -> list[Message]:
    """Messages of the source that have no translation in this language, or lack one of its plural forms."""
    catalog = read(locale)
    missing = []
    for message in collect_messages():
        entry = catalog.get(message.text, message.context or None)
        strings = strings_of(entry)
        n_forms = catalog.num_plurals if message.plural else 1
        if not entry or entry.fuzzy or len(strings) < n_forms or not all(strings):
            missing.append(message)
    return sorted(missing)
