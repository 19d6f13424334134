"""What of a page lies outside a narrow window (WCAG 1.4.10, *Reflow*), which axe cannot see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A phone; a window of 1280 pixels at a zoom of 200%; a tablet.
NARROW_WIDTHS = (390, 640, 768)
SCRIPT = """() => {
    const width = document.documentElement.clientWidth;
    const wider = document.documentElement.scrollWidth - width;
    const findings = wider > 0 ? [`the page scrolls sideways by ${wider} px`] : [];
    // A box that hides what is wider than itself keeps the page from scrolling, and cuts the control off.
    const isScrolled = (element) => {
        for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
            if (["auto", "scroll"].includes(getComputedStyle(box).overflowX) && box.scrollWidth > box.clientWidth) {
                return true;
            }
        }
        return false;
    };
    for (const control of document.querySelectorAll("button, a[href], input, select, textarea, summary")) {
        const { left, right, width: size } = control.getBoundingClientRect();
        const isInside = left >= -1 && right <= width + 1;
        if (size <= 1 || isInside || !control.checkVisibility({ visibilityProperty: true })) continue;
        if (control.matches(".skip") || isScrolled(control)) continue;
        const name = (control.ariaLabel || control.textContent || control.name || "").trim().slice(0, 40);
        findings.push(`${control.tagName.toLowerCase()} "${name}" reaches from ${left} to ${right} of ${width} px`);
    }
    return findings;
}"""


def cut_off(page: Page) -> list[str]:
    """By how much the page scrolls sideways, and each control that lies outside of the window.

    Controls inside a box that scrolls by itself, such as a wide table, are reached by scrolling that box.
    """
    findings: list[str] = page.evaluate(SCRIPT)
    return findings
