"""Finds words that this project gave up, so that they do not come back; `make lint` runs it.

They were private metaphors ("door" for an endpoint, "bell" for a task) or named nothing ("found",
"one"). The lists below say what to write instead.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.design.withdrawn_phrases import phrases_of_pages

# A part of a name of a module, class, function, argument, field or variable.
PARTS = {
    "barren": "starts without progress",
    "bell": "task",
    "bells": "tasks",
    "door": "endpoint",
    "doors": "endpoints",
    "evening": "load balancing",
    "overtaken": "stale",
    "ringing": "task",
    "rung": "enqueued",
    "said": "outcome, message",
    "seize": "lock_exclusive",
    "spoken": "translated",
    "standing": "eligibility, status, stored",
    "standings": "eligibilities, statuses",
    "talkers": "participants",
    "told": "result, message",
    "unheard": "no progress",
    "voice": "author role",
}
# A whole name of a variable or argument.
VARIABLES = frozenset({"asked", "found", "made", "one", "there", "wanted"})
PREFIXES = {"FEWEST_": "MIN_…", "LONGEST_": "MAX_…_LENGTH", "MOST_": "MAX_…", "SHORTEST_": "MIN_…_LENGTH"}
# A whole word in any text: code, comments, templates, documents.
WORDS = {"door": "endpoint, page", "doors": "endpoints, pages", "overtaken": "stale", "unheard": "without progress"}

SUFFIXES = (".py", ".html", ".js", ".css", ".md")
# Vendored files, catalogues, history, words of other languages, and the files that must name the words.
LEFT_OUT = (
    "static/vendor/",
    "locale/",
    "CHANGELOG.md",
    "rubrics/parsing/language_words.py",
    "tests/design/withdrawn_words.py",
    "tests/design/withdrawn_phrases.py",
    "tests/design/test_withdrawn_words.py",
)
# Names that are right where they are: a column of a file, and ICC(1).
ALLOWED = {("annotation/labels/api.py", "asked"), ("consilium/statistics/intraclass_correlation.py", "one")}
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)


def withdrawn_words(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """``(line, word, what to write)`` for each withdrawn word of a file, names of Python files included."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in _WORD.finditer(line):
            yield number, match[0], WORDS[match[0].lower()]
    if path.endswith(".py"):
        for number, name in _names(ast.parse(text)):
            if (path, name) not in ALLOWED and (advice := _advice(name)):
                yield number, name, advice


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name


def _advice(name: str) -> str:
    if name in VARIABLES:
        return "the noun of what it holds"
    for prefix, advice in PREFIXES.items():
        if name.lstrip("_").startswith(prefix):
            return advice
    parts = [part.lower() for part in _PART.findall(name)]
    return next((PARTS[part] for part in parts if part in PARTS), "")


def main() -> int:
    """Print what was found in the files that git knows, and on pages; 1 where there is anything."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    count = 0
    for path in listed.stdout.splitlines():
        if (
            not path.endswith(SUFFIXES)
            or path.startswith(LEFT_OUT)
            or "/migrations/" in path
            or not Path(path).exists()
        ):
            continue
        for number, word, advice in withdrawn_words(path, Path(path).read_text(encoding="utf-8")):
            print(f"{path}:{number}: {word!r} is withdrawn; write: {advice}")
            count += 1
    for place, phrase, advice in phrases_of_pages():
        print(f"{place}: {phrase!r} is withdrawn; write: {advice}")
        count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
