"""How long one scrape of `/metrics`, one `healthz?deep=1` and one page of the server take, in one process.

Over the database that the environment names, such as that of the demo:

    CONSILIUM_HOME=/somewhere python -m bench.metrics
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

REPEATS = 30
TOKEN = "t" * 32


def main() -> None:
    """Ask, and print medians and the slowest."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ["METRICS_TOKEN"] = TOKEN
    if not os.environ.get("SECRET_KEY"):
        os.environ["SECRET_KEY"] = Path(os.environ["CONSILIUM_HOME"], "secret_key").read_text().strip()
    import django

    django.setup()
    from django.db import connection
    from django.test import Client

    connection.ensure_connection()  # starts the embedded server, which the checks never do
    client = Client(headers={"Host": "localhost:8000"})
    for path, headers in (("/metrics", {"Authorization": f"Bearer {TOKEN}"}), ("/healthz?deep=1", {})):
        times, cpu = [], []
        for _ in range(REPEATS):
            began, cpu_began = time.perf_counter(), time.process_time()
            answer = client.get(path, headers=headers)
            times.append(1000 * (time.perf_counter() - began))
            cpu.append(1000 * (time.process_time() - cpu_began))
            assert answer.status_code in (200, 503), answer.status_code
        print(
            f"{path}: median {statistics.median(times):.0f} ms, of which CPU of this process "
            f"{statistics.median(cpu):.0f} ms; slowest {max(times):.0f} ms of {REPEATS}"
        )


if __name__ == "__main__":
    main()
