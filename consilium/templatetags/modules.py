"""Script tags of the ES modules in `static/js`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from django import template
from django.conf import STATICFILES_STORAGE_ALIAS, settings
from django.core.files.storage import Storage, storages
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
    storage = storages[STATICFILES_STORAGE_ALIAS]
    return _tags(name, storage) if settings.DEBUG else _tags_once(name, storage)


def _tags(name: str, storage: Storage) -> SafeString:
    imported = ((storage.url(f"js/{path}"),) for path in _imported_by(name))
    links = format_html_join("\n", '<link rel="modulepreload" href="{}">', imported)
    return format_html('{}\n<script type="module" src="{}"></script>', links, storage.url(f"js/{name}.js"))


# A page with an editor loads some thirty modules; their addresses change with the storage alone.
_tags_once = lru_cache(maxsize=64)(_tags)


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
