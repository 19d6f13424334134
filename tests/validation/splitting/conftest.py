"""The endpoint that follows rules, and one that can misbehave."""

from tests.scoring.conftest import loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.refinement.conftest import rules  # noqa: F401  # a fixture
