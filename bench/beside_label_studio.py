"""Consilium and Label Studio, measured one after the other on the same machine, and the ratio of their times.

    .venv/bin/python bench/beside_label_studio.py --venv /tmp/ls [--responses 2750] [--clients 1 8 16]

Runs ``grading.py`` and ``label_studio.py`` (which says how to make the environment) with as many responses of 30
criteria and the same numbers of clients, and divides. Label Studio saves the 30 choices of an item in one annotation,
so its save is compared with thirty decisions sent at once, and with a single autosave, which it does not have.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scratch import ROOT, show

Figures = dict[tuple[str, int], dict[str, float]]


def run(script: str, folder: Path, *arguments: str) -> dict[str, Any]:
    """Run a script of this folder, show what it prints, and return its figures."""
    path = folder / f"{script}.json"
    command = [sys.executable, str(ROOT / "bench" / script), "--json", str(path), *arguments]
    subprocess.run(command, check=True, cwd=ROOT)
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def main() -> None:
    """Run both, divide, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", required=True, help="an environment with label-studio and gunicorn")
    parser.add_argument("--responses", type=int, default=2750)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 16])
    options = parser.parse_args()
    clients = [str(number) for number in options.clients]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        own = run("grading.py", here, "--responses", str(options.responses), "--clients", *clients)
        peer = run(
            "label_studio.py", here, "--venv", options.venv, "--items", str(options.responses), "--clients", *clients
        )
    ours: Figures = {(row["what"], row["clients"]): row for row in own["results"]}
    theirs: Figures = {(what, row["clients"]): row[what] for row in peer["results"] for what in ("save", "detail")}
    compared = (
        ("send 30", "save", "p95"),
        ("autosave", "save", "p95"),
        ("open next", "detail", "p50"),
        ("open page", "detail", "p50"),
    )
    rows: list[tuple[object, ...]] = []
    for number in options.clients:
        for what, against, share in compared:
            our_value, other = ours[what, number][share], theirs[against, number][share]
            rows.append((f"{what} : {against}, {share}", number, our_value, other, other / our_value))
    for name, what in (("web processes, MiB", "mib"), ("at their peaks, each with what they share", "peak_mib")):
        rows.append((name, "", own[what], peer[what], peer[what] / own[what]))
    show(
        f"Consilium beside Label Studio {peer['version']}",
        ("", "clients", "Consilium ms", "Label Studio ms", "times"),
        rows,
    )


if __name__ == "__main__":
    main()
