"""`docker-compose.yml` describes what `manage.py up` starts, without a secret in it."""

import json
import re

import pytest
import yaml

from standalone.processes import BEAT, web
from tests.processes import ROOT


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_runs_the_same_commands_as_up(compose):
    services = compose["services"]
    assert services["web"]["command"] == ["python", *web(bind="0.0.0.0:8000").arguments]
    assert services["worker"]["command"] == [
        "python",
        "manage.py",
        "worker",
    ]  # which runs `WORKER`: test_worker_command
    assert services["beat"]["command"] == ["python", *BEAT.arguments]


def test_the_image_serves_by_default(compose):
    joined = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    command = re.search(r"^CMD (\[.*\])$", joined, re.M)
    assert json.loads(command.group(1)) == compose["services"]["web"]["command"]


def test_everything_waits_for_what_it_needs(compose):
    services = compose["services"]
    for name in ("web", "worker", "beat"):
        conditions = {other: each["condition"] for other, each in services[name]["depends_on"].items()}
        assert conditions == {
            "migrate": "service_completed_successfully",
            "postgres": "service_healthy",
            "redis": "service_healthy",
        }
        # A worker that its own watchdog ended comes back.
        assert services[name]["restart"] == "unless-stopped"
    assert services["migrate"]["restart"] == "no"
    assert all("healthcheck" in services[name] for name in ("postgres", "redis", "web", "worker"))


def test_names_the_servers_and_holds_no_secret(compose):
    for name in ("migrate", "web", "worker", "beat"):
        service = compose["services"][name]
        assert service["env_file"] == ".env"
        assert service["environment"]["REDIS_URL"] == "redis://redis:6379/0"
        assert re.fullmatch(
            r"postgres://consilium:\$\{POSTGRES_PASSWORD:\?[^}]+\}@postgres:5432/consilium",
            service["environment"]["DATABASE_URL"],
        )
        assert "SECRET_KEY" not in service["environment"]
    assert compose["services"]["web"]["ports"] == ["127.0.0.1:8000:8000"]
