"""`make audit`: sources that answer, know a vulnerability, leave a package out, or cannot be reached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT

pytestmark = pytest.mark.slow

VULNERABLE = {
    "vulns": [
        {
            "id": "PYSEC-2024-1",
            "modified": "2024-01-01T00:00:00Z",
            "affected": [
                {
                    "package": {"name": "jinja2", "ecosystem": "PyPI"},
                    "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "3.1.3"}]}],
                }
            ],
        }
    ]
}


class Osv(BaseHTTPRequestHandler):
    """A server with OSV's interface: what it says of each package."""

    answers: dict[str, Any] = {}

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        package = json.loads(self.rfile.read(length))["package"]["name"]
        body = json.dumps(self.answers.get(package, {})).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Nothing to the terminal."""


@pytest.fixture
def osv() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Osv)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    server.server_close()


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    file = tmp_path / "pins.txt"
    file.write_text("".join(f"{name} --hash=sha256:{'0' * 64}\n" for name in ("jinja2==3.1.2", "idna==3.7")))
    return file


def audit(pins: Path, osv_url: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run it where no host of the network can be reached, but this machine."""
    nowhere = "http://127.0.0.1:1"
    proxies = {"HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "http_proxy": nowhere, "https_proxy": nowhere}
    quick = {"npm_config_fetch_retries": "0", "npm_config_cache": str(tmp_path / "npm"), "npm_config_registry": nowhere}
    return subprocess.run(
        [sys.executable, "-m", "tests.design.audit", "--osv-url", osv_url, str(pins)],
        cwd=ROOT,
        env={**os.environ, **proxies, **quick, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_one_source_that_answers_will_do_and_the_others_are_named(pins: Path, osv: str, tmp_path: Path) -> None:
    Osv.answers = {}
    done = audit(pins, osv, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OSV, pins.txt: 2 packages, 0 vulnerabilities" in done.stdout
    assert "PyPI, pins.txt: NO ANSWER (" in done.stdout
    assert "No answer from: PyPI (pins.txt), npm (package-lock.json)." in done.stdout


def test_a_vulnerability_fails(pins: Path, osv: str, tmp_path: Path) -> None:
    Osv.answers = {"jinja2": VULNERABLE}
    done = audit(pins, osv, tmp_path)
    assert done.returncode == 1
    assert "jinja2 3.1.2: PYSEC-2024-1, fixed in 3.1.3" in done.stdout
    assert "FAILED: 1 vulnerabilities." in done.stdout


def test_no_source_at_all_fails(pins: Path, tmp_path: Path) -> None:
    done = audit(pins, "http://127.0.0.1:1/v1/query", tmp_path)
    assert done.returncode == 1
    assert "FAILED: no source has answered about pins.txt, so nothing is known." in done.stdout
