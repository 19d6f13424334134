"""The command on the alternative annotator test, over the published labels, read where they lie."""

from __future__ import annotations

import io
import os
from pathlib import Path

from django.core.management import call_command

from tests.agreement.judged.test_judge_commands import read


def test_on_the_published_labels(tmp_path: Path) -> None:
    folder = Path(os.environ["CONSILIUM_REAL_DATA"]) / "physician_labels"
    stdout = io.StringIO()
    files = [f"--labels={folder / 'meta_gold.jsonl'}", f"--judge={folder / 'judge_labels.jsonl'}", f"--out={tmp_path}"]
    call_command("alternative_test", *files, stdout=stdout)
    (summary,) = read(tmp_path / "summary.csv")
    assert (summary["n_instances"], summary["n_physicians"], summary["n_tested"]) == ("120", "107", "1")
    assert summary["winning_rate"] == summary["passes"] == "" and "No verdict." in stdout.getvalue()
    assert "1 of the 3 tested annotators needed" in summary["note"]
