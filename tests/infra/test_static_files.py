"""Static files in production: names with a hash, which the imports of our own modules follow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.slow

IMPORTED = re.compile(r'^(?:import|export)\b[^"(=;]*"([^"]+)";', re.MULTILINE)
HASHED = re.compile(r"(\./|(\.\./)+)(\w+/)*\w+\.[0-9a-f]{12}\.js")


def test_imports_of_our_modules_name_files_with_a_hash(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = str(tmp_path)
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "consilium.core.static_files.StaticFiles"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    modules = [path for path in (tmp_path / "js").rglob("*.js") if re.search(r"\.[0-9a-f]{12}\.js$", path.name)]
    imports = [(path, address) for path in modules for address in IMPORTED.findall(path.read_text())]
    assert imports
    for path, address in imports:
        assert HASHED.fullmatch(address), f"{path.name} imports {address}"
        assert (path.parent / address).is_file()
