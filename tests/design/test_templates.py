"""Templates keep to what the strict CSP and the sanitiser promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.template.loader import get_template
from django.urls import get_resolver

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FORBIDDEN = {
    "inline style": r"<[^>]*\sstyle\s*=",
    "<style>": r"<style\b",
    "inline handler": r"<[^>]*\son[a-z]+\s*=\s*[\"']",
    "hx-on": r"\bhx-on[:\s=-]",
    "script without src": r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>",
    "unescaped output": r"\|\s*safe\b|autoescape\s+off|\|\s*safeseq\b",
    "key filter, which a CSP without eval ignores": r"hx-trigger=\"[^\"]*\[[^\"]*\"",
    "javascript: address": r"href\s*=\s*[\"']\s*javascript:",
    "foreign address of a resource": r"<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=\s*[\"'](?:https?:)?//",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_templates_hold_nothing_that_the_browser_would_refuse(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    faults = [
        f"{path.relative_to(ROOT)}: {match[0][:80]}"
        for path in TEMPLATES
        for match in pattern.finditer(path.read_text())
    ]
    assert faults == []


@pytest.mark.slow
def test_every_template_compiles() -> None:
    """A tag or filter whose library is not loaded fails only when the template is asked for."""
    for path in TEMPLATES:
        get_template(path.relative_to(ROOT / "templates").as_posix())


def test_every_address_in_a_template_is_a_route() -> None:
    """`{% url … as x %}` leaves `x` empty where the name is wrong, without an error."""
    named = re.compile(r"\{% url \"([\w:-]+)\"")
    routes = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    for namespace, (_, resolver) in get_resolver().namespace_dict.items():
        routes |= {f"{namespace}:{name}" for name in resolver.reverse_dict if isinstance(name, str)}
    used = {name for path in TEMPLATES for name in named.findall(path.read_text())}
    assert used - routes == set()


def test_one_module_alone_marks_text_as_safe() -> None:
    sources = [
        path
        for app in ("accounts", "rubrics", "annotation", "scoring", "drafting", "validation", "agreement", "consilium")
        for path in (ROOT / app).rglob("*.py")
    ]
    assert {str(path.relative_to(ROOT)) for path in sources if "mark_safe(" in path.read_text()} == {
        "consilium/core/markdown.py"
    }


@pytest.mark.slow
def test_styles_survive_hashed_names(settings, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Servers serve files under hashed names: every address inside them must have been found and rewritten."""
    settings.STATIC_ROOT = str(tmp_path)
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    (layer,) = tmp_path.glob("css/pico.????????????.css")
    imported = re.search(r'@import url\("([^"]+)"\) layer\(pico\);', layer.read_text())
    assert imported is not None
    assert re.fullmatch(r"\.\./vendor/pico/pico\.min\.[0-9a-f]{12}\.css", imported[1])
    assert (layer.parent / imported[1]).resolve().is_file()


def test_the_licence_of_pico_is_beside_it() -> None:
    folder = ROOT / "static" / "vendor" / "pico"
    assert "MIT" in (folder / "LICENSE.md").read_text()
    assert "v2.1.1" in (folder / "pico.min.css").read_text()[:400]
