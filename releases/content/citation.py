"""How a release is cited: one line, BibTeX, and CITATION.cff."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from releases.content.licences import spdx_of


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation names. ``date`` is that of the release, YYYY-MM-DD."""

    slug: str
    title: str
    version: str
    date: str
    licence: str = ""
    url: str = ""

    @property
    def authors(self) -> str:
        """Who is cited as the author; persons are named only if they asked for it."""
        return f"The contributors of {self.title}"


def one_line(cited: Cited) -> str:
    """The citation as one line of a reference list."""
    where = f" {cited.url}." if cited.url else ""
    return f"{cited.authors}. {cited.title} (version {cited.version}) [data set]. {cited.date}.{where}"


def with_digest(line: str, digest: str) -> str:
    """The line with the digest that identifies the files of the release, which they cannot hold themselves."""
    return f"{line} SHA-256 of SHA256SUMS: {digest}."


def bibtex(cited: Cited) -> str:
    """An entry for BibTeX."""
    key = re.sub(r"[^a-z0-9]", "", cited.slug.lower()) or "benchmark"
    rows = {
        "title": _tex(cited.title),
        "author": "{" + _tex(cited.authors) + "}",
        "year": cited.date[:4],
        "version": _tex(cited.version),
        **({"url": cited.url} if cited.url else {}),
        "note": "Data set",
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in rows.items())
    return f"@misc{{{key}{cited.date[:4]},\n{body}}}"


def _tex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


def cff(cited: Cited) -> str:
    """CITATION.cff, version 1.2.0. Values are written as JSON texts, which YAML reads."""
    rows = [
        "cff-version: 1.2.0",
        f"message: {_yaml('If you use this benchmark, please cite it as below.')}",
        "type: dataset",
        f"title: {_yaml(cited.title)}",
        f"version: {_yaml(cited.version)}",
        f"date-released: {_yaml(cited.date)}",
        "authors:",
        f"  - name: {_yaml(cited.authors)}",
    ]
    if spdx := spdx_of(cited.licence):
        rows.append(f"license: {_yaml(spdx)}")
    if cited.url:
        rows.append(f"url: {_yaml(cited.url)}")
    return "\n".join(rows) + "\n"


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)
