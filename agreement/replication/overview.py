"""The list of all artefacts of all papers as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from agreement.replication.manifest import Artefact
from agreement.replication.papers import PAPERS
from agreement.writers.markdown import escaped

WIDTH = 120
BEGIN, END = "<!-- papers -->", "<!-- end of papers -->"


def papers_as_markdown() -> str:
    """A heading and a list for each paper."""
    return "\n".join(line for key in PAPERS for line in _paper(key))


def with_papers(page: str) -> str:
    """The page with the list between its marks."""
    before, _mark, rest = page.partition(f"{BEGIN}\n")
    _earlier, _mark, after = rest.partition(END)
    return f"{before}{BEGIN}\n{papers_as_markdown()}\n{END}{after}"


def _paper(key: str) -> Iterator[str]:
    paper = PAPERS[key]
    from_data = [artefact for artefact in paper.artefacts if not artefact.not_data]
    others = [artefact for artefact in paper.artefacts if artefact.not_data]
    n_made = sum(artefact.is_made_here for artefact in from_data)
    yield f"### {paper.name}"
    yield f"`--paper {key}`: {paper.citation}. {len(from_data)} tables and figures, {n_made} of them are made."
    yield ""
    yield from _listed(from_data)
    if others:
        yield ""
        yield "Not made from data:"
        yield ""
        yield from _listed(others)
    yield ""


def _listed(artefacts: list[Artefact]) -> Iterator[str]:
    for artefact in artefacts:
        place = ", ".join(filter(None, [artefact.form, artefact.place]))
        text = f"`{artefact.key}` ({place}): {escaped(artefact.title)}. {_made_of(artefact)}"
        yield from wrap(
            text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )


def _made_of(artefact: Artefact) -> str:
    if artefact.not_data:
        return escaped(artefact.not_data)
    if not artefact.is_made_here:
        return f"Not made: {escaped(artefact.lacks.what)}"
    figures = ", ".join(f"`{name}`" for name in artefact.figures)
    parts = [f"From `{artefact.kind}`, table `{artefact.table}`", f"figures {figures}" if figures else ""]
    partly = " ".join(escaped(gap.what) for gap in artefact.partly)
    return " ".join(filter(None, [f"{'; '.join(filter(None, parts))}.", f"In part: {partly}" if partly else ""]))
