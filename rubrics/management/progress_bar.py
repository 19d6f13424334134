"""Progress bar of a command on a terminal, by bytes of the file; none where the output is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from consilium.core.jobs import Progress


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress]:
    """A function that takes the number of bytes read so far; it draws only where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _bytes_read: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda bytes_read: bar.update(task, completed=bytes_read)
