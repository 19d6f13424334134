"""A scratch product for a measurement: a new home and a new database, removed afterwards."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# The product that is measured: this one, or another checkout of it.
ROOT = Path(os.environ.get("BENCH_ROOT") or Path(__file__).resolve().parent.parent)


@contextmanager
def scratch_product() -> Iterator[Path]:
    """Set Django up over an empty embedded server in a temporary folder, migrate it, and remove it at the end.

    ``BENCH_DATABASE_URL`` names an empty database on a server instead. Yields the home folder. The web server and
    the workers that the block starts inherit the environment.
    """
    with tempfile.TemporaryDirectory(prefix="consilium-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # the embedded server may run as another user
        os.environ.update(
            CONSILIUM_HOME=folder,
            DJANGO_SETTINGS_MODULE="config.settings",
            SECRET_KEY="only-for-measurements-" * 3,
            ALLOWED_HOSTS="*",
        )
        if address := os.environ.get("BENCH_DATABASE_URL"):
            os.environ["DATABASE_URL"] = address
        else:
            os.environ.pop("DATABASE_URL", None)
        sys.path.insert(0, str(ROOT))
        os.chdir(ROOT)

        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        try:
            yield home
        finally:
            from django.db import connections

            connections.close_all()
            if "DATABASE_URL" not in os.environ:
                from standalone.embedded import server_for

                server_for(home).leave()


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the sorted values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table that can be pasted into a note."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in columns:
        table.add_column(name, justify="left" if name == columns[0] else "right")
    for row in rows:
        table.add_row(*(f"{value:,.2f}" if isinstance(value, float) else str(value) for value in row))
    Console(width=120).print(table)


class Clock:
    """Seconds since it was made, and CPU seconds of this process."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds so far."""
        return time.perf_counter() - self.wall

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of this process so far."""
        return time.process_time() - self.cpu


def family(pid: int) -> list[int]:
    """A process and its descendants (Linux)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(child for direct in children for child in family(int(direct)))]


def peak_memory(pid: int) -> int:
    """KiB of resident memory of a process and its descendants, each at its peak; shared pages count in each."""
    return sum(
        int(match[1])
        for member in family(pid)
        if (match := re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{member}/status").read_text()))
    )


def peak_of_this_process() -> float:
    """MiB of resident memory of this process alone at its peak."""
    match = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


def reset_peak_of_this_process() -> float:
    """Let the peak begin anew (Linux); MiB of resident memory now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_of_this_process()


def memory(pid: int) -> int:
    """KiB of memory of a process and its descendants, pages that they share counted once (proportional set size)."""
    return sum(
        int(match[1])
        for member in family(pid)
        if (match := re.search(r"Pss:\s+(\d+)", Path(f"/proc/{member}/smaps_rollup").read_text()))
    )
