"""Secrets do not reach a log, whatever way they take."""

import json
import subprocess
import sys

import pytest
from django.test import RequestFactory

from consilium.logs import REDACTED, redact
from tests.processes import ROOT

CANARY = "canary-4f1c9d2e77"


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": CANARY},
        {"Authorization": f"Bearer {CANARY}"},
        {"headers": [{"X-API-Key": CANARY}, {"cookie": CANARY}]},
        {"event": f"calling with Authorization: Bearer {CANARY}"},
        {"event": f"GET /?api_key={CANARY}&n=1"},
        {"url": f"postgres://judge:{CANARY}@db.example.org/x"},
        {"event": f'{{"password": "{CANARY}"}}'},
        {"event": f"used sk-{CANARY}"},
        {"event": f"Gone: /welcome/{CANARY}:x/"},
        {"event": f"Not Found: /accounts/password/reset/key/3-{CANARY}/"},
        {"request": RequestFactory().post(f"/welcome/{CANARY}/")},
        {"session_token": CANARY, "nested": ({"client_secret": CANARY},)},
    ],
)
def test_secrets_are_taken_out(value):
    shown = str(redact(value))
    assert CANARY not in shown
    assert REDACTED in shown


def test_what_is_no_secret_stays():
    event = {"tokens_in": 812, "completion_tokens": 9, "host": "db.example.org", "event": "sent 3 calls", "run": 7}
    assert redact(event) == event


@pytest.mark.slow
def test_the_log_of_a_process_is_json_without_secrets(process_environment):
    program = f"""
import django; django.setup()
import logging, structlog
logging.getLogger("judge").warning("refused %s", "Bearer {CANARY}", extra={{"api_key": "{CANARY}"}})
structlog.get_logger("judge").info("called", headers={{"Authorization": "{CANARY}"}}, run=7)
try:
    raise ValueError("password={CANARY}")
except ValueError:
    logging.getLogger("judge").exception("failed")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=process_environment, capture_output=True, text=True, check=True
    )
    assert CANARY not in done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["event"] for event in events] == [f"refused Bearer {REDACTED}", "called", "failed"]
    assert events[1]["run"] == 7
    assert "ValueError" in events[2]["exception"]
