"""Asks every source of advisories about the pinned packages: ``make audit``.

Python's pins are compared with the advisories of PyPI and of OSV, the developers' tools of ``package-lock.json`` with
those of npm. A source that cannot be reached, or leaves out a package, has not answered, and is named with its reason.
The exit code is 1 if a source knows a vulnerability, or if none has answered about the pins of Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PINS = (ROOT / "requirements/base.txt", ROOT / "requirements/dev.txt")
TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source said about one file: how many packages it looked at, and what it knows of them."""

    source: str
    file: str
    packages: int = 0
    vulnerabilities: tuple[str, ...] = ()
    reason: str = ""  # why there is no answer

    @property
    def is_answered(self) -> bool:
        """Whether the source has looked at every package."""
        return not self.reason

    def lines(self) -> Iterator[str]:
        """What to print."""
        if self.reason:
            yield f"{self.source}, {self.file}: NO ANSWER ({self.reason})"
        else:
            yield f"{self.source}, {self.file}: {self.packages} packages, {len(self.vulnerabilities)} vulnerabilities"
        yield from (f"  {line}" for line in self.vulnerabilities)


def ask_about_pins(service: str, file: Path, *, osv_url: str = "") -> Answer:
    """Ask PyPI or OSV by pip-audit. With ``--strict`` it fails if it has to leave a package out."""
    command = [
        *(sys.executable, "-m", "pip_audit", "--strict", "--require-hashes", "--disable-pip", "--format", "json"),
        *("--progress-spinner", "off", "--vulnerability-service", service, "--requirement", str(file)),
        *(("--osv-url", osv_url) if service == "osv" and osv_url else ()),
    ]
    name = {"pypi": "PyPI", "osv": "OSV"}[service]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        packages = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return Answer(name, file.name, reason=f"not within {TIMEOUT_S} s")
    except (ValueError, KeyError):
        return Answer(name, file.name, reason=_last_line(done.stderr) or f"exit code {done.returncode}")
    left_out = [row for row in packages if "skip_reason" in row]
    if left_out:
        reason = f"{len(left_out)} of {len(packages)} packages left out: {left_out[0]['skip_reason']}"
        return Answer(name, file.name, reason=reason)
    known = [
        f"{row['name']} {row['version']}: {vulnerability['id']}, fixed in {', '.join(vulnerability['fix_versions'])}"
        for row in packages
        for vulnerability in row["vulns"]
    ]
    return Answer(name, file.name, len(packages), tuple(known))


def ask_npm(folder: Path) -> Answer:
    """Ask npm about ``package-lock.json``."""
    name, file = "npm", "package-lock.json"
    command = ["npm", "audit", "--package-lock-only", "--json"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        answer = json.loads(done.stdout)
    except FileNotFoundError:
        return Answer(name, file, reason="npm is not installed")
    except subprocess.TimeoutExpired:
        return Answer(name, file, reason=f"not within {TIMEOUT_S} s")
    except ValueError:
        return Answer(name, file, reason=_last_line(done.stderr) or f"exit code {done.returncode}")
    if "vulnerabilities" not in answer:
        error = answer.get("error", {})
        reason = answer.get("message") or error.get("summary") or error.get("detail") or f"exit code {done.returncode}"
        return Answer(name, file, reason=_last_line(str(reason)))
    known = tuple(f"{row['name']} {row['range']}: {row['severity']}" for row in answer["vulnerabilities"].values())
    return Answer(name, file, answer["metadata"]["dependencies"]["total"], known)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all, print what each said, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pins", nargs="*", type=Path, default=PINS)
    parser.add_argument("--osv-url", default=os.environ.get("OSV_URL", ""), help="another server with OSV's interface")
    options = parser.parse_args(arguments)
    answers: list[Answer] = []

    def note(answer: Answer) -> None:
        answers.append(answer)
        print("\n".join(answer.lines()), flush=True)

    about_pins: dict[Path, list[Answer]] = {file: [] for file in options.pins}
    for file in options.pins:
        for service in ("pypi", "osv"):
            note(ask_about_pins(service, file, osv_url=options.osv_url))
            about_pins[file].append(answers[-1])
    note(ask_npm(ROOT))
    unasked = [file.name for file, given in about_pins.items() if not any(answer.is_answered for answer in given)]
    silent = [f"{answer.source} ({answer.file})" for answer in answers if not answer.is_answered]
    number = sum(len(answer.vulnerabilities) for answer in answers)
    if silent:
        print(f"No answer from: {', '.join(silent)}.")
    if unasked:
        print(f"FAILED: no source has answered about {', '.join(unasked)}, so nothing is known.")
    if number:
        print(f"FAILED: {number} vulnerabilities.")
    if not unasked and not number:
        print("No known vulnerability, by the sources that answered.")
    return 1 if unasked or number else 0


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


if __name__ == "__main__":
    sys.exit(main())
