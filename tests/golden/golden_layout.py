"""Every element of every page has the place that it had at an earlier commit; runs after golden_pages.py."""

from __future__ import annotations

import functools
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

from tests.golden.renders import folder_of_before, out_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

HTML = out_folder() / "html"
TOLERANCE_PX = 0.5
RECTANGLES = """() => [...document.querySelectorAll("body *:not(script)")].map((element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const name = [element.localName, ...element.classList].join(".") + (element.id ? `#${element.id}` : "");
  return { name, x, y, width, height };
})"""
SIDES = ("x", "y", "width", "height")


def _serve(side: str, route: Route) -> None:
    path = route.request.url.split("/", 3)[3].split("?")[0]
    root = Path(settings.BASE_DIR) if side == "now" else folder_of_before()
    file = HTML / side / path if path.endswith(".html") else root / path
    if file.is_file():
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        route.fulfill(status=200, content_type=f"{kind}; charset=utf-8", body=file.read_bytes())
    else:
        route.fulfill(status=404, body="")


def _look(page: Page, name: str) -> tuple[list[dict[str, Any]], str]:
    page.goto(f"http://page.test/{name}", wait_until="load")
    return page.evaluate(RECTANGLES), page.evaluate("document.body.innerText")


def _moved(before: dict[str, Any], now: dict[str, Any]) -> bool:
    return any(abs(before[side] - now[side]) > TOLERANCE_PX for side in SIDES)


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_every_element_has_the_place_it_had(chromium: Browser, width: int) -> None:
    sides = {}
    for side in ("before", "now"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, java_script_enabled=False)
        context.route("**/*", functools.partial(_serve, side))
        sides[side] = context.new_page()
    different: list[str] = []
    names = sorted(path.name for path in (HTML / "now").glob("*.html"))
    for name in names:
        before, words_before = _look(sides["before"], name)
        now, words_now = _look(sides["now"], name)
        if words_before != words_now:
            lines = zip(words_before.splitlines(), words_now.splitlines(), strict=False)
            different.append(f"{name}: words: {next((pair for pair in lines if pair[0] != pair[1]), 'more lines')}")
        if len(before) != len(now):
            different.append(f"{name}: {len(before)} elements, now {len(now)}")
            continue
        moved = [(old, new) for old, new in zip(before, now, strict=True) if _moved(old, new)]
        if moved:
            # The cause is rather an element that changed its width or its place in the line than one pushed down.
            cause = next((pair for pair in moved if abs(pair[0]["x"] - pair[1]["x"]) > TOLERANCE_PX), moved[0])
            different.append(f"{name}: {len(moved)} of {len(now)} elements moved, as\n  {cause[0]}\n  {cause[1]}")
    for page in sides.values():
        page.context.close()
    assert not different, f"{len(different)} differences on {len(names)} pages:\n" + "\n".join(different)
