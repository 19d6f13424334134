"""The endpoint that follows rules as a process, without a database, and the page that says what it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from consilium.llm.rules.completion import MODELS
from consilium.llm.rules.stages import STAGES
from consilium.llm.rules.words import MISBEHAVIOUR, RULES
from tests.llm.rules.test_stages import TWO, request
from tests.processes import ROOT


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `manage.py rule_endpoint` on a free port, with a database server that does not exist."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "CONSILIUM_HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "rule_endpoint"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.fullmatch(r"Rules \(no language model\) answer at http://(127\.0\.0\.1:[0-9]+)/v1\n", line)
    assert address is not None, line
    yield f"http://{address[1]}"
    process.terminate()
    assert process.wait(60) == 0
    assert process.stdout.read() == "Stopped.\n"
    process.stdout.close()


def fetch(address: str, body: Any = None, language: str = "") -> str:
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(address, data, {"Accept-Language": language}), timeout=60) as answer:
        return str(answer.read().decode())


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


@pytest.mark.slow
def test_the_process_answers_without_a_database(endpoint: str) -> None:
    answer = json.loads(fetch(f"{endpoint}/v1/chat/completions", request("side_by_side", **TWO)))
    assert json.loads(answer["choices"][0]["message"]["content"])["decision"] == "B"
    assert {entry["owned_by"] for entry in json.loads(fetch(f"{endpoint}/v1/models"))["data"]} == {"consilium-rules"}


@pytest.mark.slow
def test_its_own_page_prints_the_rules_in_the_reader_s_language(endpoint: str) -> None:
    english = fetch(f"{endpoint}/", language="fr, en;q=0.5")
    for rule in RULES:
        assert rule.text in words(english)
    for name, text in MISBEHAVIOUR.items():
        assert f"{name} {text}" in words(english)
    chinese = fetch(f"{endpoint}/", language="zh-CN,zh;q=0.9,en;q=0.8")
    assert '<html lang="zh-hans">' in chinese
    assert "若某条评分标准至少包含要点三分之一的词干" in chinese
    for sheet in re.findall(r'href="(/[^"]+)"', english):
        assert "{" in fetch(endpoint + sheet) or "@import" in fetch(endpoint + sheet)


def test_a_port_that_is_no_port_is_refused() -> None:
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match="from 0 to 65535"):
        call_command("rule_endpoint", port=65536)


@pytest.mark.django_db
def test_the_page_of_the_product_is_for_everybody(client: Client, settings: Any) -> None:
    page = client.get("/rules/")
    assert page.status_code == 200
    assert "No language model answers here." in page.text
    for rule in RULES:
        assert rule.text in words(page.text)
    assert "Its address on this machine" not in page.text
    settings.RULE_ENDPOINT = "http://127.0.0.1:8123/v1"
    assert "Its address on this machine is http://127.0.0.1:8123/v1." in words(client.get("/rules/").text)


def test_every_rule_and_every_model_is_in_words() -> None:
    assert {stage for rule in RULES for stage in rule.stages} == set(STAGES)
    assert {*MISBEHAVIOUR, "rules (no language model)"} == set(MODELS)


@pytest.mark.slow
def test_the_address_that_is_set_may_be_called() -> None:
    """Settings are read once in a process, so this needs one of its own."""
    code = "import django.conf as c; print(c.settings.JUDGE_ALLOWED_HOSTS)"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "RULE_ENDPOINT": "http://127.0.0.1:8123/v1",
        "JUDGE_ALLOWED_HOSTS": "api.example.com",
    }
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(ROOT), env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "['api.example.com', '127.0.0.1:8123']\n"
