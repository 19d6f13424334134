"""axe-core in the page that a test has open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCRIPT = Path(axe_playwright_python.__file__).parent / "axe.min.js"


def axe_violations(page: Page, *, rules: Sequence[str] = (), within: str = "") -> list[str]:
    """Run axe (WCAG 2.2 A and AA, best practice) on the page as it stands: one line for each faulty element.

    ``rules`` names the only rules to run; ``within`` is a selector of the only part to look at. The page is looked at
    from its top: further down, links that the sticky header half covers would count as too small.
    """
    # What htmx still fetches may move the page while axe measures it.
    expect(page.locator(".htmx-request")).to_have_count(0)
    # Evaluated rather than added as a script, because the page's CSP refuses inline scripts; without `preload`, which
    # would put the stylesheets' @import inline.
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text() + ";0")
    only: Any = {"type": "rule", "values": list(rules)} if rules else RULES
    options = {"runOnly": only, "preload": False, "resultTypes": ["violations"]}
    context = json.dumps(within) if within else "document"
    result: dict[str, Any] = page.evaluate(
        f"""async () => {{
            const top = scrollY;
            scrollTo({{top: 0, behavior: "instant"}});
            const result = await axe.run({context}, {json.dumps(options)});
            scrollTo({{top, behavior: "instant"}});
            return result;
        }}"""
    )
    return [
        f"{violation['id']}: {violation['help']} | {node['html'][:200]} | {node.get('failureSummary', '')[:300]}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
