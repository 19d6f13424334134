"""Writes the screenshots of README.md and docs/tour.md from a running copy with the demo benchmark.

    make up                                                      # in one terminal
    .venv/bin/python docs/screenshots.py [http://localhost:8000]  # in another

Nothing is changed in the demo. The pictures are PNG files of at most 300 KB in ``docs/images``.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
LARGEST_BYTES = 300_000
PASSWORD = "consilium-demo"  # noqa: S105  (published on the demo's sign-in page)
WIDTH, HEIGHT = 1280, 800


def sign_in(browser: Browser, site: str, email: str) -> Page:
    """A page on which the demo's ``email`` is signed in."""
    page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, locale="en", base_url=site).new_page()
    page.goto("/accounts/login/")
    page.fill("[name=login]", email)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/accounts/" not in url)
    return page


def grading(page: Page) -> None:
    """A response that the annotator has begun."""
    rows = page.request.get("/api/v1/work/assignments/?limit=100").json()["results"]
    page.goto(f"/work/{next(row['id'] for row in rows if row['status'] == 'draft')}/")


def batch(page: Page) -> None:
    """The newest batch, which is still open."""
    page.goto("/b/demo/batches/")
    page.locator("main table a").first.click()
    page.wait_for_load_state()


def rubric(page: Page) -> None:
    """A draft in the editor, as its author left it."""
    page.goto("/b/demo/write/?q=hypertension")
    page.get_by_role("link", name="demo-02-hypertension-kidney").last.click()
    page.wait_for_load_state()
    page.get_by_role("link", name="Open the rubric").or_(page.get_by_role("link", name="rubric")).first.click()
    page.wait_for_load_state("networkidle")


def report(page: Page) -> None:
    """The judge beside the two expert groups."""
    page.goto("/b/demo/agreement/")
    page.get_by_role("link", name="human ceiling").first.click()
    page.wait_for_load_state()


def scores(page: Page) -> None:
    """The scoreboard of the judge."""
    page.goto("/b/demo/scores/")
    page.locator("h2.newest a").first.click()
    page.wait_for_load_state()


# File, who looks, what they open, and how much of the page is shown (None: what fits the window).
PICTURES: tuple[tuple[str, str, Callable[[Page], None], int | None], ...] = (
    ("grading", "annotator-a1@example.org", grading, None),
    ("rubric", "author-1@example.org", rubric, None),
    ("batch", "admin@example.org", batch, 766),
    ("report", "researcher@example.org", report, 1330),
    ("scores", "researcher@example.org", scores, 1330),
)


def main(site: str) -> None:
    """Take all pictures."""
    program = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        for name, email, open_page, height in PICTURES:
            page = sign_in(browser, site, email)
            open_page(page)
            if height is not None:
                page.set_viewport_size({"width": WIDTH, "height": height})
            page.wait_for_load_state("networkidle")
            path = IMAGES / f"{name}.png"
            page.screenshot(path=path, animations="disabled")
            size = path.stat().st_size
            if size > LARGEST_BYTES:
                sys.exit(f"{path.name} has {size:,} bytes, more than {LARGEST_BYTES:,}.")
            print(f"{path.name}: {size:,} bytes")  # noqa: T201
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000")
