"""What all tests share: the embedded server, and what a browser test needs."""

import os

import pytest
from django.conf import settings

from consilium.embedded import ensure

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's synchronous API runs inside an event loop

collect_ignore_glob = [] if os.environ.get("CONSILIUM_REAL_DATA") else ["**/test_real_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Keep the server for the whole session: the controller outlives the workers of xdist."""
    if settings.EMBEDDED and not config.option.collectonly:
        root = settings.CONSILIUM_HOME / "postgres"
        root.mkdir(parents=True, exist_ok=True)
        (root / "throwaway").touch()
        ensure(settings.CONSILIUM_HOME)
