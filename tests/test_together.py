"""Which modules stay together in one process."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import TOGETHER, stays_together


def test_every_module_that_stays_together_is_there() -> None:
    assert [path for path in TOGETHER if not Path(path).is_file()] == []


def test_modules_with_a_fixture_of_their_own_or_of_a_conftest_stay_together() -> None:
    assert stays_together("tests/demo/test_load.py")
    assert stays_together("tests/access/test_blinding.py")
    assert not stays_together("tests/annotation/test_checking.py")
