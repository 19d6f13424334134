"""The same work in Label Studio: items with 30 choices each, saved and opened by several clients at once.

    python3 -m venv /tmp/ls && /tmp/ls/bin/pip install label-studio gunicorn
    .venv/bin/python bench/label_studio.py --venv /tmp/ls [--items 2750] [--clients 1 8 16] [--saves 30]

Starts Label Studio on loopback under gunicorn (two processes of eight threads) over a PostgreSQL of its own with
Consilium's server settings, and sends requests to its HTTP API with a token: import of the items with one annotation
each (82,500 choices for 2,750 items), then *save* (30 choices of one item in one annotation: its unit of saving, since
it has no save of a single choice) and *item detail* (what its page fetches to show an item).
``bench/beside_label_studio.py`` runs this after ``bench/grading.py`` and compares.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scratch import ROOT, memory, peak_memory, quantile, show

PORT = int(os.environ.get("BENCH_LABEL_STUDIO_PORT", "8794"))
TOKEN = "5eed" * 10  # of the account that the first start creates
CRITERIA = 30
CASES = 250


class Client:
    """One client with one keep-alive connection."""

    def __init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=180)

    def ask(self, method: str, path: str, body: object = None) -> tuple[float, bytes]:
        """Seconds and body of one request; RuntimeError on a refusal."""
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        began = time.perf_counter()
        for last in (False, True):
            try:
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()  # the server ends idle connections
                if last:
                    raise
                began = time.perf_counter()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")
        return time.perf_counter() - began, text


@contextmanager
def database_server(binaries: Path, home: Path) -> Iterator[Path]:
    """A separate PostgreSQL with the settings of Consilium's embedded one; yields the folder of its socket.

    Label Studio needs the extension ``pg_trgm``, which the embedded server's wheel does not hold.
    """
    from standalone.embedded.server import SERVER_SETTINGS

    owner = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    data, sockets = home / "postgres", home / "socket"
    for folder in (data, sockets):
        folder.mkdir()
        if owner:
            shutil.chown(folder, owner)
    settings = {**SERVER_SETTINGS, "unix_socket_directories": str(sockets), "unix_socket_permissions": "0777"}
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "user": owner, "cwd": "/"}
    subprocess.run([binaries / "initdb", "-D", data, "-A", "trust", "-U", "bench", "--encoding=UTF8"], **quiet)
    with (data / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    control = [binaries / "pg_ctl", "-D", data, "-w", "-l", data / "log"]
    subprocess.run([*control, "start"], **quiet)
    try:
        yield sockets
    finally:
        subprocess.run([*control, "-m", "fast", "stop"], **quiet)


def system_postgres() -> Path:
    """The programs of the newest PostgreSQL that the system has."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not paths:
        raise SystemExit("No PostgreSQL found: install the package postgresql, or name its programs by --postgres.")
    return paths[-1].parent


@contextmanager
def served(venv: Path, sockets: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Label Studio over that database server; yields gunicorn's main process."""
    import psycopg

    with psycopg.connect(host=str(sockets), user="bench", dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE label_studio")
    data = home / "label-studio"
    data.mkdir()
    environment = {
        **os.environ,
        "DJANGO_DB": "default",
        "POSTGRE_HOST": str(sockets),
        "POSTGRE_PORT": "5432",
        "POSTGRE_USER": "bench",
        "POSTGRE_PASSWORD": "",
        "POSTGRE_NAME": "label_studio",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LABEL_STUDIO_USERNAME": "bench@example.org",
        "LABEL_STUDIO_PASSWORD": "bench-bench-1",
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "DEBUG": "false",
        "LOG_LEVEL": "ERROR",
    }
    # These hold Consilium's own settings.
    for name in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "SECRET_KEY"):
        environment.pop(name, None)
    with (data / "server.log").open("wb") as log:
        # The first start makes the tables, the account and its token.
        first = subprocess.Popen(
            [venv / "bin/label-studio", "start", "--no-browser", "--port", str(PORT), "--internal-host", "127.0.0.1",
             "--username", "bench@example.org", "--password", "bench-bench-1", "--user-token", TOKEN,
             "--enable-legacy-api-token"],
            env=environment, cwd=data, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        wait_until_up(first, data)
        first.terminate()
        first.wait()
        package = next(venv.glob("lib/python3*/site-packages/label_studio"))
        process = subprocess.Popen(
            [venv / "bin/gunicorn", "--workers", "2", "--threads", "8", "--bind", f"127.0.0.1:{PORT}",
             "--timeout", "180", "core.wsgi:application"],
            env={**environment, "DJANGO_SETTINGS_MODULE": "core.settings.label_studio"}, cwd=package,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_until_up(process, data)
            yield process
        finally:
            process.terminate()
            process.wait()


def wait_until_up(process: subprocess.Popen[bytes], data: Path) -> None:
    """Return once the server answers; RuntimeError after ten minutes, or where it died."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"Label Studio ended: {(data / 'server.log').read_text()[-2000:]}")
        try:
            Client().ask("GET", "/version")
            return
        except (OSError, RuntimeError, http.client.HTTPException):
            time.sleep(0.3)
    raise RuntimeError("Label Studio did not come up")


def project(client: Client) -> int:
    """A project that shows a conversation and a response, and asks 30 questions of two choices."""
    choices = "".join(
        f'<View><Header value="$q{n}"/><Choices name="q{n}" toName="answer" choice="single" required="true">'
        '<Choice value="met"/><Choice value="not met"/></Choices></View>'
        for n in range(CRITERIA)
    )
    view = (
        '<View><Paragraphs name="turns" value="$turns" layout="dialogue" nameKey="role" textKey="content"/>'
        f'<Text name="answer" value="$answer"/>{choices}</View>'
    )
    _, text = client.ask("POST", "/api/projects", {"title": "bench", "label_config": view, "maximum_annotations": 9})
    return int(json.loads(text)["id"])


def annotation(rng: random.Random) -> dict[str, Any]:
    """30 choices."""
    return {
        "result": [
            {
                "id": f"r{n}",
                "from_name": f"q{n}",
                "to_name": "answer",
                "type": "choices",
                "value": {"choices": [rng.choice(("met", "not met"))]},
            }
            for n in range(CRITERIA)
        ],
        "lead_time": 60.0,
    }


def fill(client: Client, number: int, items: int, rng: random.Random, annotations: int = 1) -> list[int]:
    """Import the items with as many annotations each; returns their ids."""
    words = [f"word{n}" for n in range(400)]

    def text(count: int) -> str:
        return " ".join(rng.choice(words) for _ in range(count))

    cases = [
        {
            "turns": [{"role": role, "content": text(80)} for role in ("user", "assistant", "user")],
            **{f"q{n}": text(18) for n in range(CRITERIA)},
        }
        for _ in range(min(CASES, items))
    ]
    tasks = [
        {
            "data": {**cases[n % len(cases)], "answer": text(300)},
            "annotations": [annotation(rng) for _ in range(annotations)],
        }
        for n in range(items)
    ]
    for at in range(0, items, 250):
        client.ask("POST", f"/api/projects/{number}/import", tasks[at : at + 250])
    view = json.loads(client.ask("POST", "/api/dm/views", {"project": number, "data": {"title": "all"}})[1])["id"]
    ids: list[int] = []
    for page in range(1, items // 1000 + 2):
        path = f"/api/tasks?project={number}&view={view}&page={page}&page_size=1000&fields=task_only"
        ids += [row["id"] for row in json.loads(client.ask("GET", path)[1])["tasks"]]
    if len(ids) != items:
        raise RuntimeError(f"{len(ids)} of {items} items are there")
    return ids


def together(clients: int, work: Callable[[Client, int], list[float]]) -> list[float]:
    """Run ``work`` for each client in a thread of its own; returns all times."""
    times: list[float] = []
    failures: list[Exception] = []

    def run_one(number: int) -> None:
        try:
            times.extend(work(Client(), number))
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run_one, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return times


def measure(ids: list[int], number: int, clients: int, saves: int, round_: int) -> dict[str, Any]:
    """Saves and item details with that many clients at once."""

    def save(client: Client, who: int) -> list[float]:
        rng = random.Random(1000 * clients + who)
        mine = [ids[(round_ * 997 + who * saves + n) % len(ids)] for n in range(saves)]
        path = "/api/tasks/{}/annotations/?project={}"
        return [client.ask("POST", path.format(item, number), annotation(rng))[0] for item in mine]

    def detail(client: Client, who: int) -> list[float]:
        mine = [ids[(round_ * 787 + who * saves + n) % len(ids)] for n in range(saves)]
        return [client.ask("GET", f"/api/tasks/{item}?project={number}")[0] for item in mine]

    result: dict[str, Any] = {"clients": clients}
    for name, work in (("save", save), ("detail", detail)):
        times = together(clients, work)
        result[name] = {"n": len(times), "p50": 1000 * quantile(times, 0.5), "p95": 1000 * quantile(times, 0.95)}
    return result


def main() -> None:
    """Start, fill, measure, print."""
    sys.path.insert(0, str(ROOT))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, required=True, help="an environment with label-studio and gunicorn")
    parser.add_argument("--postgres", type=Path, help="folder of initdb and pg_ctl (default: the system's newest)")
    parser.add_argument("--items", type=int, default=2750)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument(
        "--saves", type=int, default=30, help="saves and openings by each client (one client: three times as many)"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="label-studio-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        with (
            database_server(options.postgres or system_postgres(), home) as sockets,
            served(options.venv.resolve(), sockets, home) as process,
        ):
            client = Client()
            version = json.loads(client.ask("GET", "/api/version")[1])["release"]
            number = project(client)
            ids = fill(client, number, options.items, random.Random(7))
            print(
                f"Label Studio {version}: {options.items:,} items, {options.items * CRITERIA:,} choices before the run"
            )
            results, most = [], 0
            for round_, number_of_clients in enumerate(options.clients):
                saves = options.saves * (3 if number_of_clients == 1 else 1)
                results.append(measure(ids, number, number_of_clients, saves, round_))
                most = max(most, memory(process.pid))
            once, peak = most / 1024, peak_memory(process.pid) / 1024
    rows = [
        (name, result["clients"], result[key]["n"], result[key]["p50"], result[key]["p95"])
        for result in results
        for key, name in (("save", "save 30 choices"), ("detail", "item detail"))
    ]
    show(f"Label Studio {version}", ("", "clients", "requests", "p50 ms", "p95 ms"), rows)
    print(f"web processes together: {once:.0f} MiB; {peak:.0f} MiB at their peaks where what they share counts in each")
    if options.json:
        options.json.write_text(json.dumps({"version": version, "results": results, "mib": once, "peak_mib": peak}))


if __name__ == "__main__":
    main()
