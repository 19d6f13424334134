"""Which modules are mutated, how many of their mutants are drawn, and which tests may judge them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.operators import ROOT


@dataclass(frozen=True)
class Area:
    """Modules that promise the same kind of thing."""

    name: str
    modules: tuple[str, ...]  # patterns
    size: int  # how many of 200 mutants are drawn from them
    tests: tuple[str, ...]  # patterns


AREAS = (
    Area(
        "access",
        ("*/access.py", "accounts/unread_cases.py", "annotation/payload.py", "annotation/selectors/queue_order.py"),
        65,
        (
            "tests/annotation/**/test_*.py",
            "tests/accounts/test_*.py",
            "tests/documents/test_document*.py",
            "tests/documents/test_citing.py",
            "tests/operations/test_*.py",
            "tests/rubrics/test_*.py",
            "tests/rubrics/editor/test_*.py",
            "tests/rubrics/audits/test_*.py",
            "tests/rubrics/bank/test_*.py",
            "tests/drafting/provenance/test_*.py",
            "tests/drafting/recipes/test_recipe_[ap]*.py",
            "tests/drafting/runs/test_run_pages.py",
            "tests/drafting/suggestions/test_[as]*.py",
            "tests/validation/*/test_*pages.py",
            "tests/validation/*/test_*api.py",
            "tests/validation/*/test_*queue.py",
            "tests/validation/pairs/test_a*.py",
            "tests/validation/sets/test_*.py",
            "tests/scoring/test_pages.py",
            "tests/scoring/test_api.py",
            "tests/agreement/reports/test_reports.py",
            "tests/releases/test_release.py",
            "tests/access/test_blinding.py",
        ),
    ),
    Area(
        "decisions",
        (
            "annotation/services/decisions.py",
            "annotation/services/checks.py",
            "annotation/services/adjudications.py",
            "annotation/services/conflicts.py",
            "annotation/services/undo.py",
            "annotation/services/slots/*.py",
            "annotation/selectors/eligibility.py",
            "annotation/selectors/ratings.py",
            "annotation/selectors/review_rounds.py",
            "annotation/qualification/gold.py",
        ),
        70,
        ("tests/annotation/**/test_*.py", "tests/agreement/items/test_*.py", "tests/agreement/counting/test_*.py"),
    ),
    Area("statistics", ("consilium/statistics/*.py",), 40, ("tests/statistics/test_*.py",)),
    Area(
        "jobs",
        tuple(f"consilium/core/{name}.py" for name in ("jobs", "locked_jobs", "versioning", "locks", "transitions")),
        25,
        (
            "tests/infra/test_jobs.py",
            "tests/infra/test_locked_jobs.py",
            "tests/infra/test_locks.py",
            "tests/infra/test_health.py",
            "tests/annotation/test_*.py",
            "tests/rubrics/imports/test_import_jobs.py",
            "tests/rubrics/editor/test_rubric_editor.py",
            "tests/rubrics/editor/test_drafts.py",
        ),
    ),
)


def modules_of(area: Area) -> list[str]:
    """The modules of an area, from the root of the checkout."""
    files = {path for pattern in area.modules for path in ROOT.glob(pattern)}
    return sorted(str(path.relative_to(ROOT)) for path in files)


def tests_of(area: Area) -> list[str]:
    """The files with tests that may judge an area's mutants. No browser: they take too long."""
    files = {path for pattern in area.tests for path in ROOT.glob(pattern)}
    names = sorted(str(path.relative_to(ROOT)) for path in files)
    return [name for name in names if not name.endswith("_browser.py") and "/test_real_" not in name]
