"""A collection to work on; files that tests store go away with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from documents.models import Collection
from tests.documents.library import library


@pytest.fixture(autouse=True)
def _no_files_left(settings: Any) -> Iterator[None]:
    folders = [Path(settings.MEDIA_ROOT) / name for name in ("imports", "documents")]
    before = {file for folder in folders for file in folder.glob("*")}
    yield
    for folder in folders:
        for file in set(folder.glob("*")) - before:
            file.unlink(missing_ok=True)


@pytest.fixture
def collection(db: None) -> Collection:
    return library()
