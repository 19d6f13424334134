"""The endpoint on loopback."""

from tests.scoring.conftest import loopback, loopback_process  # noqa: F401  # fixtures
