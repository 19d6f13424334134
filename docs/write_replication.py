"""Writes the list of tables and figures in docs/replication.md from the manifests.

.venv/bin/python docs/write_replication.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "replication.md"


def main() -> None:
    sys.path.insert(0, str(PAGE.parent.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("SECRET_KEY", "only-to-write-a-page-" * 3)

    import django

    django.setup()

    from agreement.replication.overview import with_papers

    PAGE.write_text(with_papers(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
