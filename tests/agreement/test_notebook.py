"""The notebook of the documentation runs unchanged, over HTTP and with a token, from the raters to a figure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from agreement import tasks
from tests.agreement.study import coin, make_study, noisy
from tests.factories import token_of

NOTEBOOK = settings.BASE_DIR / "docs" / "notebook.ipynb"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_notebook_runs_from_the_raters_to_a_figure(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from docs.run_notebook import run

    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    monkeypatch.setenv("CONSILIUM_URL", live_server.url)
    monkeypatch.setenv("CONSILIUM_BENCHMARK", study.benchmark.slug)
    monkeypatch.setenv("CONSILIUM_TOKEN", token_of(study.admin))
    # The server's own thread does what a worker would.
    monkeypatch.setattr(
        tasks.run_report, "delay_on_commit", lambda pk: transaction.on_commit(lambda: tasks.run_report(pk))
    )
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names = run(notebook)

    assert names["report"]["status"] == "finished"
    assert list(names["table"]["candidate"]) == ["all", "alpha", "beta"]
    shown = [output["data"] for cell in notebook["cells"] for output in cell.get("outputs", []) if "data" in output]
    assert [next(iter(data)) for data in shown] == ["text/html", "text/html", "image/png"]
    assert "up to date: True" in "".join(notebook["cells"][-2]["outputs"][0]["text"])
    assert "SHA256SUMS" in "".join(notebook["cells"][-1]["outputs"][0]["text"])


def test_the_notebook_is_kept_with_what_it_shows_and_without_anything_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["outputs"] for cell in cells[1:])
    assert len(text) < 150_000
    for trace in ("/home/", "/root/", "site-packages", "Traceback", "Token "):
        assert trace not in text.replace("Token {TOKEN}", "")
