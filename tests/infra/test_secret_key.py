"""Nothing that serves people starts with `DEBUG` off and no `SECRET_KEY`."""

import os
import subprocess
import sys

import pytest

from tests.processes import ROOT

pytestmark = pytest.mark.slow


def run(*arguments, home, **environment):
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"SECRET_KEY", "DEBUG", "DJANGO_SETTINGS_MODULE", "DATABASE_URL", "DJANGO_ALLOW_ASYNC_UNSAFE"}
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**kept, "CONSILIUM_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("manage.py", "check"),
        ("manage.py", "runserver", "--noreload", "0"),
        ("-m", "standalone.web_server", "--bind", "127.0.0.1:0"),
        ("-m", "celery", "--app", "config", "worker", "--pool", "solo"),
    ],
)
def test_refuses(arguments, tmp_path):
    done = run(*arguments, home=tmp_path)
    assert done.returncode != 0
    assert "SECRET_KEY is not set and DEBUG is off" in done.stderr + done.stdout


@pytest.mark.parametrize("command", ["up", "migrate"])
@pytest.mark.parametrize("off", [{"DEBUG": "0"}, {"DEBUG": "false", "SECRET_KEY": ""}])
def test_commands_refuse_where_debug_is_set_to_off(command, off, tmp_path):
    done = run("manage.py", command, home=tmp_path, **off)
    assert done.returncode != 0
    assert "SECRET_KEY is not set and DEBUG is off" in done.stderr


LONG = "kV5tq-8xW2mZ0_rYb4NcJ7pLh3sDgF1uQaEoXiRyTwMvKzUlHnBjPdSf"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("x", "has fewer than 50 characters"),
        (LONG[:49], "has fewer than 50 characters"),
        ("abcd" * 13, "has fewer than 5 different characters"),
        ("django-insecure-" + LONG, "begins with django-insecure-"),
    ],
)
def test_a_key_that_can_be_guessed_is_refused(key, reason, tmp_path):
    done = run("-c", "import config.wsgi", home=tmp_path, SECRET_KEY=key)
    assert done.returncode != 0
    assert f"SECRET_KEY {reason}" in done.stderr
    assert "secrets.token_urlsafe(50)" in done.stderr  # says how to make one
    assert LONG[:40] not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("manage.py", "up"),
        ("-m", "celery", "--app", "config", "worker", "--pool", "solo"),
        ("-m", "celery", "--app", "config", "beat"),
    ],
)
def test_no_server_starts_with_a_short_key(arguments, tmp_path):
    done = run(*arguments, home=tmp_path, SECRET_KEY="x")
    assert done.returncode != 0
    assert "SECRET_KEY has fewer than 50 characters" in done.stderr + done.stdout


def test_a_key_of_fifty_characters_will_do(tmp_path):
    done = run("-c", "import config.wsgi", home=tmp_path, SECRET_KEY=LONG[:50])
    assert done.returncode == 0, done.stderr


def test_commands_on_ones_own_machine_share_a_kept_key(tmp_path):
    arguments = (
        "manage.py",
        "shell",
        "--no-imports",
        "-c",
        "from django.conf import settings; print(settings.SECRET_KEY)",
    )
    first, second = run(*arguments, home=tmp_path), run(*arguments, home=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert len(first.stdout.strip()) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_deployment_checks_pass_over_https(tmp_path):
    done = run(
        "manage.py", "check", "--deploy", "--fail-level", "WARNING",
        home=tmp_path,
        SECRET_KEY=LONG,
        SITE_URL="https://consilium.example.org",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
