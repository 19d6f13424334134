"""Every write to benchmarks, cases, candidates, responses and imports."""

from rubrics.services.import_cases import import_cases
from rubrics.services.import_responses import import_responses

__all__ = ["import_cases", "import_responses"]
