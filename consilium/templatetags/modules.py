"""Script tags of the ES modules in `static/js`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

SCRIPTS = Path(settings.BASE_DIR) / "static" / "js"
_IMPORTED = re.compile(r'^(?:import|export)\b[^"(=;]*"(\.[^"]+)";', re.MULTILINE)


@register.simple_tag
def page_module(name: str) -> SafeString:
    """``{% page_module "annotation/grading/grading" %}``: a script tag, and links that load what the module imports.

    Without the links the browser would learn of a module only after it has read the module that imports it, and the
    page would not react to keys until the last module is loaded.
    """
    imported = _imported_by(name) if settings.DEBUG else _imported_once(name)
    links = format_html_join(
        "\n", '<link rel="modulepreload" href="{}">', ((static(f"js/{path}"),) for path in imported)
    )
    return format_html('{}\n<script type="module" src="{}"></script>', links, static(f"js/{name}.js"))


@lru_cache(maxsize=64)
def _imported_once(name: str) -> tuple[str, ...]:
    return _imported_by(name)


def _imported_by(name: str) -> tuple[str, ...]:
    """All modules that ``name`` imports, its own imports first: paths in `static/js`."""
    entry = SCRIPTS / f"{name}.js"
    modules = [entry]
    for module in modules:
        modules += [path for path in _imports(module) if path not in modules]
    return tuple(path.relative_to(SCRIPTS).as_posix() for path in modules[1:])


def _imports(path: Path) -> Iterator[Path]:
    for address in _IMPORTED.findall(path.read_text(encoding="utf-8")):
        yield (path.parent / address).resolve()
