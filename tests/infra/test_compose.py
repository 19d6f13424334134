"""`docker-compose.yml` describes what `manage.py up` starts, without a secret in it."""

import configparser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
import redis
import yaml
from django.conf import settings

from standalone.embedded import server as embedded
from standalone.processes import BEAT, web
from tests.processes import ROOT
from tests.waiting import wait_until


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


OURS = ("migrate", "web", "worker", "beat")
PASSWORDS = ("POSTGRES_PASSWORD", "DATABASE_OWNER_PASSWORD", "DATABASE_PASSWORD", "REDIS_PASSWORD")


def test_names_the_servers_and_holds_no_secret(compose):
    for name in OURS:
        service = compose["services"][name]
        environment = service["environment"]
        assert service["env_file"] == ".env"
        assert re.fullmatch(r"redis://:\$\{REDIS_PASSWORD:\?[^}]+\}@redis:6379/0", environment["REDIS_URL"])
        role, password = ("consilium_owner", "DATABASE_OWNER") if name == "migrate" else ("consilium", "DATABASE")
        assert re.fullmatch(
            rf"postgres://{role}:\$\{{{password}_PASSWORD:\?[^}}]+\}}@postgres:5432/consilium",
            environment["DATABASE_URL"],
        )
        assert "SECRET_KEY" not in environment
        # The file .env has them for the other containers.
        assert {environment[password] for password in PASSWORDS} == {""}
    assert compose["services"]["web"]["ports"] == ["127.0.0.1:8000:8000"]
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["web"]


def test_no_container_has_more_rights_than_it_needs(compose):
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "cap_add" not in service and "privileged" not in service, name
        assert service["pids_limit"] and service["mem_limit"], name
        # None writes where the image is, and none runs as root: our image has a user of its own.
        mounts = [*map(str, service.get("tmpfs", [])), *map(str, service.get("volumes", []))]
        assert any(re.search(r"(^|:)/tmp$", mount) for mount in mounts), name
        assert service.get("user", "") in {"postgres", "redis"} or service["image"] == "consilium", name
    assert re.search(r"^USER consilium$", (ROOT / "Dockerfile").read_text(), re.M)
    # Beat writes its schedule into the home.
    assert any(entry.startswith("/srv/consilium:uid=10001") for entry in compose["services"]["beat"]["tmpfs"])
    assert "--uid 10001" in (ROOT / "Dockerfile").read_text()


def test_images_have_an_exact_version(compose):
    images = [service["image"] for service in compose["services"].values() if "build" not in service]
    images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.M)
    assert len(images) == 4
    for image in images:
        assert re.search(r":\d+\.\d+(\.\d+)?-[a-z-]*bookworm(@sha256:[0-9a-f]{64})?$", image), image
    assert len({image for image in images if image.startswith("python:")}) == 1


def test_backups_are_made_into_a_volume_of_their_own(compose):
    assert compose["services"]["worker"]["environment"]["BACKUP_DIR"] == "/srv/backups"
    assert "backups:/srv/backups" in compose["services"]["worker"]["volumes"]
    assert "backups" in compose["volumes"]


def test_the_unit_of_systemd_starts_up_again_and_lets_it_do_little():
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str
    unit.read(ROOT / "deploy/systemd/consilium.service")
    service = unit["Service"]
    assert service["ExecStart"].split()[-2:] == ["manage.py", "up"]
    # `up` that gave up after five ends is started again, until that has happened five times.
    assert (service["Restart"], unit["Unit"]["StartLimitBurst"]) == ("always", "5")
    assert service["KillMode"] == "mixed"  # what `up` leaves is killed after the time
    assert service["UMask"] == "0077"
    assert service["User"] == service["Group"] == "consilium"
    assert (service["NoNewPrivileges"], service["CapabilityBoundingSet"]) == ("yes", "")
    assert (service["ProtectSystem"], service["StateDirectoryMode"]) == ("strict", "0700")
    home = re.search(r"CONSILIUM_HOME=(\S+)", service["Environment"]).group(1)
    assert home == f"/var/lib/{service['StateDirectory']}"
    assert "CONSILIUM_DEMO=0" in service["Environment"]


@pytest.mark.slow
def test_redis_asks_for_its_password(compose, tmp_path):
    service = compose["services"]["redis"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = service["command"][2].replace("$$", "$").replace("redis-server -", f"redis-server - --port {port}")
    secret = "letters-and-digits-1234567890"
    environment = {**os.environ, "REDIS_PASSWORD": secret}
    server = subprocess.Popen(
        ["sh", "-c", script], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        check = service["healthcheck"]["test"][1].replace("$$", "$").replace("redis-cli", f"redis-cli -p {port}")
        wait_until(
            lambda: subprocess.run(["sh", "-c", check], env=environment, check=False).returncode == 0,
            within_s=30,
            message="redis is healthy",
        )
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).ping()
        client = redis.Redis.from_url(f"redis://:{secret}@127.0.0.1:{port}/0")
        assert client.ping()
        assert client.config_get("maxmemory-policy", "save") == {"maxmemory-policy": "noeviction", "save": ""}
        assert secret not in Path("/proc", str(server.pid), "cmdline").read_text()
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_the_roles_of_the_database(tmp_path, template_database, monkeypatch):
    """The script of the image, the tables as the owner has them, and the product as the other role."""
    monkeypatch.setattr(embedded, "SUPERUSER", "postgres")  # as in the image; its own would have the role's name
    # Another run of pytest makes the folders of this one private, and PostgreSQL opens its files by their full paths.
    home = Path(tempfile.mkdtemp(prefix="consilium-roles-"))
    home.chmod(0o755)
    (home / "postgres").mkdir()
    (home / "postgres" / "throwaway").touch()
    server = embedded.EmbeddedServer(home)
    server.ensure()
    try:
        folder = str(server.socket_folder)
        with psycopg.connect(host=folder, user="postgres", dbname="postgres", autocommit=True) as session:
            session.execute("DROP DATABASE consilium")
        environment = {
            **{name: value for name, value in os.environ.items() if name not in {"DEBUG", "MEDIA_ROOT"}},
            "PATH": f"{embedded.binaries()}:{os.environ['PATH']}",
            "PGHOST": folder,
            "POSTGRES_USER": "postgres",
            "DATABASE_OWNER_PASSWORD": "owner's",
            "DATABASE_PASSWORD": "application's",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "CONSILIUM_HOME": str(tmp_path / "data"),
            "PASSWORD": "quiet-harbour-lamp",
        }
        script = ROOT / compose_script()
        subprocess.run(["sh", str(script)], env=environment, check=True, capture_output=True)
        _copy_tables(folder, environment)

        def manage(role, *arguments):
            return subprocess.run(
                [sys.executable, "manage.py", *arguments],
                cwd=ROOT,
                env={**environment, "DATABASE_URL": f"postgres://{role}@/consilium?host={folder}"},
                capture_output=True,
                text=True,
                check=False,
            )

        done = manage("consilium_owner", "grant_rights", "consilium")
        assert done.returncode == 0, done.stderr
        for arguments in (
            ("migrate", "--check"),
            ("add_person", "op@example.org", "--operator"),
            ("backup", str(tmp_path / "one.tar"), "--test-restore"),
        ):
            done = manage("consilium", *arguments)
            assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        assert "every table is the same" in done.stdout
        refused = manage("consilium", "grant_rights", "consilium")
        assert refused.returncode == 1 and "Only the owner of the tables" in refused.stderr
        with psycopg.connect(host=folder, user="consilium", dbname="consilium", autocommit=True) as session:
            for statement in (
                "ALTER TABLE accounts_userevent DISABLE TRIGGER ALL",
                "DELETE FROM accounts_userevent",
                "ALTER TABLE accounts_user DISABLE TRIGGER ALL",
                "CREATE TABLE mine (id int)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    session.execute(statement)
    finally:
        server.leave()
        shutil.rmtree(home, ignore_errors=True)


def compose_script():
    text = (ROOT / "docker-compose.yml").read_text()
    return re.search(r"\./(\S+):/docker-entrypoint-initdb\.d/", text).group(1)


def _copy_tables(folder, environment):
    database = settings.DATABASES["default"]
    with subprocess.Popen(
        [
            *(embedded.binaries() / "pg_dump", "-h", database["HOST"], "-U", database["USER"]),
            *("--no-owner", "--no-privileges", database["TEST"]["TEMPLATE"]),
        ],
        stdout=subprocess.PIPE,
    ) as dump:
        subprocess.run(
            ["psql", "-qv", "ON_ERROR_STOP=1", "-U", "consilium_owner", "consilium"],
            env=environment,
            stdin=dump.stdout,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    assert dump.returncode == 0
