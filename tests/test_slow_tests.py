"""A test without the marker ``slow`` fails where it uses much CPU time, and only there."""

from pathlib import Path

import pytest

from tests.slow_tests import REFERENCE_S

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.slow

LIMIT_S = 0.06  # lower than the real one, so that these tests take less time
CONFTEST = f"""
from tests.slow_tests import SlowTests

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by make check")
    config.pluginmanager.register(SlowTests(limit_s={LIMIT_S}))
"""
# Work for two and a half times the limit, on a machine of whatever speed.
BUSY = f"""
import subprocess
import sys
from tests.slow_tests import reference_work

def be_busy():
    for _ in range({round(2.5 * LIMIT_S / REFERENCE_S)}):
        reference_work()
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a module of tests that can call ``be_busy``, with the plugin and nothing else of Consilium's tests."""

    def run(tests, *arguments):
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent.parent))
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile(BUSY + tests)
        return pytester.runpytest_subprocess(*arguments)

    return run


def test_a_busy_test_without_the_marker_fails_once(run):
    result = run("def test_busy(): be_busy()")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_busy used * s of CPU time; the limit * mark it slow: @pytest.mark.slow.*"])


def test_what_a_process_of_the_test_uses_counts(run):
    result = run(
        "def test_busy():\n"
        "    subprocess.run([sys.executable, '-c', f'import {__name__}; {__name__}.be_busy()'], check=True)"
    )
    result.assert_outcomes(failed=1)


def test_a_busy_test_with_the_marker_passes_and_can_be_left_out(run):
    tests = "import pytest\n@pytest.mark.slow\ndef test_busy(): be_busy()\ndef test_quick(): pass"
    run(tests).assert_outcomes(passed=2)
    run(tests, "-m", "not slow").assert_outcomes(passed=1, deselected=1)


def test_work_that_is_done_once_is_not_the_tests(run):
    run(
        "import pytest\n"
        "done = []\n"
        "@pytest.fixture(scope='module')\n"
        "def shared(): be_busy()\n"
        "@pytest.fixture(scope='module')\n"
        "def shared_further(shared): be_busy()\n"
        "def test_with_shared_fixtures(shared_further): pass\n"
        "def test_that_is_first():\n"
        "    if not done:\n"
        "        done.append(True)\n"
        "        be_busy()\n"
    ).assert_outcomes(passed=2)


def test_a_failing_test_fails_for_its_own_reason(run):
    result = run("def test_busy():\n    be_busy()\n    assert 1 == 2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2"])
    result.stdout.no_fnmatch_line("*mark it slow*")


@pytest.mark.parametrize("fixture", ["chromium", "redis_url", "start_worker"])
def test_a_test_that_needs_a_browser_a_worker_or_redis_is_slow(run, fixture):
    run(
        f"import pytest\n@pytest.fixture\ndef {fixture}(): pass\ndef test_page({fixture}): pass", "-m", "not slow"
    ).assert_outcomes(deselected=1)
