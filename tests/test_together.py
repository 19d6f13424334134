"""Modules whose tests stay together are named by paths that exist."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import TOGETHER


def test_every_module_that_stays_together_is_there() -> None:
    assert [path for path in TOGETHER if not Path(path).is_file()] == []
