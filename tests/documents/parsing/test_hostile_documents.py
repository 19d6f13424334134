"""Hostile documents: refused with a sentence, or read whole, within 256 MiB for parent and child together.

`bench/hostile_documents.py` makes them and measures each in a process of its own; it has more of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench.hostile_documents import CASES, Case, faults_of, measure
from documents.parsing import child
from documents.parsing.limits import LIMITS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", [case for case in CASES if case.is_quick], ids=lambda case: case.name)
def test_a_hostile_document_is_refused_or_read_whole_within_bounds(case: Case, tmp_path: Path) -> None:
    result = measure(case, tmp_path)
    assert faults_of(case, result) == [], result


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text("<html><p>Give 5 mg.")
    return path


@pytest.fixture
def as_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The script that runs instead of the child's own; a test writes it."""
    script = tmp_path / "child.py"
    monkeypatch.setattr(child, "_SCRIPT", script)
    return script


def test_a_child_has_the_document_and_its_answer_and_nothing_else(
    page: Path, as_child: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "canary")
    as_child.write_text(
        "import json, os\n"
        "seen = sorted(int(name) for name in os.listdir('/proc/self/fd'))\n"
        "block = ['block', 'paragraph', json.dumps([seen[:-1], dict(os.environ), os.getcwd()]), 1, None, False]\n"
        "print(json.dumps(block)); print(json.dumps(['facts', '', None, [], '', []])); print('[\"end\"]')\n"
    )
    with page.open("rb") as file:
        document = child.read_in_child(file, "html")
    descriptors, environment, folder = json.loads(document.text)
    assert descriptors == [0, 1, 2]
    assert "SECRET_KEY" not in environment and set(environment) <= {"LC_CTYPE"}
    assert folder == "/"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import os; os.abort()", "cannot be read completely"),
        ("print('[\"end\"]')", "cannot be read completely"),
        ('print(\'["facts", "", null, [], "", []]\')', "cannot be read completely"),
        ('print(\'["block", "script", "x", 1, null, false]\')', "cannot be read completely"),
        ('print(\'["block", "paragraph", 5, 1, null, false]\')', "cannot be read completely"),
        ("print('[' * 100000)", "cannot be read completely"),
        ("print('x' * 5000000)", "cannot be read completely"),
        ("import time; time.sleep(60)", "took longer than 1 s"),
        ('while True: print(\'["header", "x"]\')', "more than 50 MB of text|took longer than 1 s"),
    ],
)
def test_a_child_that_breaks_or_lies_is_a_refusal(page: Path, as_child: Path, script: str, message: str) -> None:
    as_child.write_text(script)
    with page.open("rb") as file, pytest.raises(child.ChildFailed, match=message):
        child.read_in_child(file, "html", limits=replace(LIMITS, wall_s=1.0 if "1 s" in message else 30.0))


def test_the_child_ends_with_its_parent() -> None:
    """A worker that is killed leaves no reader behind."""
    parent = (
        "import os, sys, time\n"
        "from documents.parsing import child_main\n"
        "if os.fork() == 0:\n"
        "    child_main.limit_process({'parent': os.getppid(), 'cpu_s': 50, 'address_space': 1 << 30,\n"
        "                              'data_bytes': 1 << 28})\n"
        "    print(os.getpid(), flush=True)\n"
        "    time.sleep(60)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert int(process.stdout.readline()) > 0
    killed_at = time.monotonic()
    process.kill()
    process.wait()
    assert process.stdout.read() == ""  # the end of the pipe: nobody holds it any more
    assert time.monotonic() - killed_at < 30, "the child slept to its end"
    process.stdout.close()


def test_the_limits_of_the_child_hold(page: Path, as_child: Path) -> None:
    as_child.write_text(
        "import json, sys\n"
        "settings = json.loads(sys.argv[1])\n"
        "sys.path.insert(0, settings['root'])\n"
        "from documents.parsing import child_main\n"
        "child_main.limit_process(settings)\n"
        "child_main.forbid_files_and_processes()\n"
        "refused = []\n"
        "attempts = (lambda: open('/etc/hostname'), lambda: bytearray(200 << 20), child_main.os.pipe)\n"
        "for attempt in attempts:\n"
        "    try:\n"
        "        attempt()\n"
        "    except (OSError, MemoryError) as error:\n"
        "        refused.append(type(error).__name__)\n"
        "print(json.dumps(['block', 'paragraph', ' '.join(refused), 1, None, False]))\n"
        "print(json.dumps(['facts', '', None, [], '', []])); print('[\"end\"]')\n"
    )
    with page.open("rb") as file:
        assert child.read_in_child(file, "html").text == "OSError MemoryError OSError"
