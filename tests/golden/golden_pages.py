"""Every page, by role and language, has the text and markup of an earlier commit: `make golden BASE=main`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings

from tests.access.pages import client_of, pages
from tests.access.world import World
from tests.golden.markup import difference, new_spaces
from tests.golden.renders import out_folder, rendered_twice

pytestmark = pytest.mark.slow

OUT = out_folder()


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_every_page_has_the_tags_and_texts_of_before(world: World, language: str) -> None:
    different: list[str] = []
    spaces: dict[str, list[str]] = {}
    n_pages = 0
    new: list[str] = []
    for page in pages(world):
        with rendered_twice() as pairs:
            response = client_of(world, page.role, language).get(page.url)
        if response.streaming:
            list(response)  # the test client closes the file behind its last chunk
        if "html" not in response.get("Content-Type", ""):
            continue
        if not pairs:
            new.append(page.name)
            continue
        n_pages += 1
        name = f"{page.name.replace(':', '_')}-{page.role}-{language}"
        for pair in pairs:
            change = difference(pair.before, pair.now)
            if change:
                different.append(f"{page.name} as {page.role}, {pair.template}:\n{change}")
            elif moved := new_spaces(pair.before, pair.now):
                spaces[f"{name} {pair.template}"] = moved
        for side in ("before", "now"):
            _write(OUT / "html" / side / f"{name}.html", getattr(pairs[-1], side))
    _write(OUT / f"spaces-{language}.json", json.dumps(spaces, indent=1, ensure_ascii=False))
    print(f"{n_pages} pages in {language}; {len(spaces)} with white space in other places; new templates: {new}")
    assert n_pages > 100
    assert not different, f"{len(different)} of {n_pages} pages differ:\n\n" + "\n\n".join(different)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
