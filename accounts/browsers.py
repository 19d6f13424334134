"""Names the browser and the system of a header User-Agent, for people who look at a list of sign-ins."""

from __future__ import annotations

from django.utils.translation import gettext as _

# The first that is in the header: most browsers name the others as well.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
    "curl": "curl",
    "python": "Python",
}
SYSTEMS = {
    "Windows": "Windows",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def browser_in_words(header: str) -> str:
    """Browser and system, such as "Chrome on Windows"; what is known of them; empty where nothing is."""
    browser = next((name for sign, name in BROWSERS.items() if sign in header), "")
    system = next((name for sign, name in SYSTEMS.items() if sign in header), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system
