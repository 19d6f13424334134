"""Compares every template that any test renders with an earlier commit's: `pytest -p tests.golden.everywhere`.

The golden pages show each page once. Tests show the other branches: forms with errors, empty lists, closed batches.
Differences are collected in `differences-<process>.txt` in the folder of `tests.golden.renders.out_folder`, and fail
nothing: tests that count queries fail anyway, as each template is rendered twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.golden.markup import difference
from tests.golden.renders import out_folder, rendered_twice


@pytest.fixture(autouse=True)
def _templates_of_before(request: pytest.FixtureRequest) -> Iterator[None]:
    with rendered_twice() as pairs:
        yield
    different = {f"{pair.template}: {change}" for pair in pairs if (change := difference(pair.before, pair.now))}
    if different:
        process = os.environ.get("PYTEST_XDIST_WORKER", "main")
        with (out_folder() / f"differences-{process}.txt").open("a") as out:
            out.writelines(f"{request.node.nodeid}\n{text}\n\n" for text in sorted(different))
