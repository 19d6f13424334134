"""English and Simplified Chinese throughout: nothing that a person reads is left without words in either."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.messages import get_messages
from django.template.base import Lexer, TokenType
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from consilium import translations
from consilium.core.i18n import translate
from consilium.core.i18n import translate_remark as in_words
from consilium.core.phrases import Phrase
from tests.access.endpoints import ENDPOINTS
from tests.access.pages import VIEWERS, client_of
from tests.access.words import GAP, LETTERS, english_in, stored_texts, words_of
from tests.access.world import build_world

ROOT = Path(settings.BASE_DIR)
RUN = "run: .venv/bin/python manage.py translations --missing"


# The catalogue ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("locale", translations.LOCALES)
def test_every_message_of_the_source_is_translated(locale: str) -> None:
    assert translations.untranslated(locale) == [], RUN


@pytest.mark.slow
@pytest.mark.parametrize("locale", translations.LOCALES)
def test_the_catalogue_holds_nothing_that_the_source_does_not_say(locale: str) -> None:
    shown_now = {(message.text, message.context) for message in translations.collect_messages()}
    kept = {
        (entry.id if isinstance(entry.id, str) else entry.id[0], entry.context or "")
        for entry in translations.read(locale)
        if entry.id
    }
    assert sorted(kept - shown_now) == [], RUN


@pytest.mark.slow
@pytest.mark.parametrize("locale", translations.LOCALES)
def test_the_compiled_catalogue_is_that_of_the_source(locale: str) -> None:
    assert (translations.folder(locale) / "django.mo").read_bytes() == translations.as_mo(locale), RUN


PLACEHOLDER = re.compile(r"%\(\w+\)[.0-9]*[sdfgi]|%%|%[sdfgi]\b|\{\w+\}")


@pytest.mark.parametrize("locale", translations.LOCALES)
def test_translations_keep_the_placeholders(locale: str) -> None:
    wrong = []
    for entry in translations.read(locale):
        if not entry.id:
            continue
        source = entry.id if isinstance(entry.id, str) else entry.id[1]
        for string in [entry.string] if isinstance(entry.string, str) else entry.string:
            if string and sorted(PLACEHOLDER.findall(source)) != sorted(PLACEHOLDER.findall(string)):
                wrong.append(f"{source!r} → {string!r}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_chinese_is_written_with_its_own_punctuation() -> None:
    """A Latin comma, full stop or bracket right after a Chinese character is a slip of the hand."""
    slips = [
        entry.string
        for entry in translations.read("zh_Hans")
        for string in ([entry.string] if isinstance(entry.string, str) else entry.string)
        if entry.id and re.search(r"[一-鿿][,.;:!?()]|[,;:!?(][一-鿿]", string)
    ]
    assert slips == []


def test_a_phrase_of_pure_code_is_translated_for_the_reader() -> None:
    phrase = Phrase("This must be text, not %(kind)s.", kind=Phrase("a number"))
    assert phrase == "This must be text, not a number."
    with override("zh-hans"):
        assert translate(phrase) == "此处应为文本，而不是数字。"
        assert translate("uncalibrated") == "uncalibrated"


# The source -------------------------------------------------------------------------------------------------------

# Names, those of coefficients and scores as papers give them, and those of files and formats: one in every language.
SAME_IN_ALL = re.compile(
    r"\b(Consilium|MF1|AC1|CACS|Pass(?=@)|PPI|Pearson|Spearman|QWK|TVD|JSD|"
    r"CSV|XLSX|JSONL?|SVG|PNG|PDF|LaTeX|Markdown|SHA-256|[a-z_]+\.csv)\b|·"
)
# A block whose text is the name of a CSS class.
OF_CLASSES = {"page_class", "body_class"}


def bare_words(template: str) -> list[str]:
    """What a template says outside its translation tags."""
    kept: list[str] = []
    silent = ""
    for token in Lexer(template).tokenize():
        if token.token_type == TokenType.TEXT:
            kept.append(GAP if silent else token.contents)
            continue
        opens = bool(kept) and kept[-1].endswith(("<", "</"))  # <{% if … %}h2{% else %}h3{% endif %} …>
        kept.append("x" if opens else f" {GAP} ")
        if token.token_type != TokenType.BLOCK:
            continue
        name, *rest = token.contents.split()
        if name in ("blocktranslate", "blocktrans", "comment"):
            silent = f"end{name}"
        elif name == "block" and rest and rest[0] in OF_CLASSES:
            silent = "endblock"
        elif name == silent:
            silent = ""
    return [text for text in words_of("".join(kept)) if LETTERS.search(SAME_IN_ALL.sub("", text))]


@pytest.mark.slow
def test_templates_say_nothing_outside_translation_tags() -> None:
    wrong = {
        path.relative_to(ROOT).as_posix(): bare
        for path in translations.template_files()
        if path.suffix == ".html" and (bare := bare_words(path.read_text()))
    }
    assert wrong == {}


# Calls that say something to a person, and the place of the argument that is said.
SAYS = {"DomainError": 0, "Conflict": 0, "ValidationError": 0, "LineError": 2}
SHOWN_BY_NAME = {"help_text", "label", "verbose_name", "verbose_name_plural", "empty_label"}
GETTEXT = set(translations.FUNCTIONS) - {"Phrase"} | {"_", "_lazy", "_now"}
# Commands speak English; so do the files that only they read and write, and a report's files, whoever asks for them.
ENGLISH_ON_PURPOSE = {
    "rubrics/imports/run.py",
    "agreement/label_files/reading.py",
    "agreement/exports/decisions.py",
    "agreement/reports/files.py",
}


def says_letters(node: ast.expr) -> bool:
    """Whether an expression is words that nobody translates."""
    match node:
        case ast.Constant(value=str() as text):
            return bool(LETTERS.search(text))
        case ast.JoinedStr():
            return any(says_letters(part) for part in node.values if isinstance(part, ast.Constant))
        case ast.BinOp():
            return says_letters(node.left)
        case ast.IfExp():
            return says_letters(node.body) or says_letters(node.orelse)
    return False


def bare_calls(source: str, *, schema: bool) -> Iterator[int]:
    """Lines of calls that say something without gettext, or hand gettext what cannot be collected.

    In a ``schema`` of the API, fields are described to programmers, in English.
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        of = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        shown_here = [keyword.value for keyword in node.keywords if keyword.arg in SHOWN_BY_NAME and not schema]
        if of == "messages":
            shown_here += node.args[1:2]
        elif called in SAYS:
            shown_here += node.args[SAYS[called] : SAYS[called] + 1]
        elif called == "fault" or (called == "add" and of.endswith("faults")):
            shown_here += node.args[-1:]
        elif called in GETTEXT and node.args and isinstance(node.args[0], ast.JoinedStr):
            yield node.lineno
        if any(says_letters(argument) for argument in shown_here):
            yield node.lineno


@pytest.mark.slow
def test_code_says_nothing_without_gettext() -> None:
    wrong = [
        f"{name}:{line}"
        for path in translations.python_files()
        if (name := path.relative_to(ROOT).as_posix()) not in ENGLISH_ON_PURPOSE and "/management/" not in name
        for line in bare_calls(path.read_text(), schema="/api" in name or name.endswith(("api.py", "schema.py")))
    ]
    assert wrong == []


def test_scripts_take_their_words_from_the_page() -> None:
    """A script's own words would be in one language: pages give them in ``{% script_words %}``."""
    sentence = re.compile(r"""(["'`])(?:[A-Z][a-z]+(?: [a-z]+)+|[^"'`\n]*[一-鿿])[^"'`\n]*\1|lang\.startsWith""")
    wrong = [
        f"{path.name}:{number}: {match[0]}"
        for path in sorted((ROOT / "static" / "js").rglob("*.js"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (match := sentence.search(line)) and not line.lstrip().startswith(("//", "*", "/*")) and "Error(" not in line
    ]
    assert wrong == []


# Parts of remarks, remarks whose parts are words, and one that no page shows.
FRAGMENTS = {
    "both raters",
    "rater 7",
    "not met",
    "length or score",
    "constant 7",
    "the reference never said 7",
    "no balanced F1: ",
}


def remarks_in(source: str) -> Iterator[str]:
    """Why figures are undefined, by the code that says so; 7 stands for every number."""
    tree = ast.parse(source)
    outside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            outside.update(map(id, ast.walk(node)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Coefficient":
            outside.update(map(id, ast.walk(node)))  # its labels, which files have in English
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            outside.update(map(id, ast.walk(body[0])))  # a docstring
        if isinstance(node, ast.JoinedStr):
            outside.update(map(id, node.values))
            parts = [str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values]
            if id(node) not in outside and " " in "".join(parts):
                yield "".join(parts)
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in outside else None
        if isinstance(text, str) and " " in text.strip():
            yield text


@pytest.mark.slow
def test_remarks_of_statistics_are_translated_where_they_are_shown() -> None:
    shown = "mf1, kappa: constant ratings: rater B gave one answer throughout; 2 pairs excluded: undecided"
    assert in_words(shown) == shown
    with override("zh-hans"):
        assert in_words(shown) == "mf1, kappa：评分为常数：评分者 B 自始至终给出同一答案；2 个配对未计入：未决"
        assert (
            in_words("x in the jury learned from decisions on this candidate")
            == "评审团中的 x 从对该作答者的判定中学习过"
        )
        wrong = {
            remark
            for path in sorted((ROOT / "consilium" / "statistics").glob("*.py"))
            for remark in remarks_in(path.read_text())
            if remark not in FRAGMENTS and in_words(remark) == remark
        }
    assert wrong == set()


# Refusals; pages are read where they are opened, in tests/access/test_url_matrix.py -----------------------------------

NONSENSE = {
    "outcome": "sideways",
    "version": "x",
    "note": "n",
    "title": "x",
    "name": "x",
    "email": "nobody",
    "seed": "x",
}


@pytest.mark.slow
@pytest.mark.django_db
def test_refusals_in_chinese_hold_no_english_sentence() -> None:
    world = build_world()
    stored = stored_texts()
    wrong = set()
    clients: dict[str, Client] = {}
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework or name.startswith("api:"):
            continue
        url = reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
        role = next(role for role in (*VIEWERS, *sorted(endpoint.roles)) if role in endpoint.roles)
        for body in ({}, NONSENSE):
            if role not in clients or "_auth_user_id" not in clients[role].session:  # what came before may sign out
                clients[role] = client_of(world, role, "zh-hans")
            with override(settings.LANGUAGE_CODE):
                answer = clients[role].post(url, body)
            shown_next = [str(message) for message in get_messages(answer.wsgi_request)]
            clients[role].cookies.pop("messages", None)
            wrong |= {f"{name} as {role}: {text}" for text in english_in(answer, stored, beside=shown_next)}
    assert not wrong, "\n" + "\n".join(sorted(wrong))
