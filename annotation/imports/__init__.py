"""Decisions and votes that physicians made elsewhere, as closed batches of an expert group."""

from pathlib import Path

from annotation.imports.acuity_votes import import_acuity_votes
from annotation.imports.decisions import check_group_option, import_decisions
from annotation.imports.meta_eval import import_meta_eval

EXAMPLES = Path(__file__).parent / "examples"

__all__ = ["import_acuity_votes", "import_decisions", "import_meta_eval", "register"]


def register() -> None:
    """Tell the pages, the API and the worker which files this app reads."""
    from rubrics import imports

    imports.register(
        "decisions",
        import_decisions,
        options=["group"],
        required=["group"],
        check=check_group_option,
        examples=[EXAMPLES / "decisions.csv"],
    )
    imports.register(
        "meta_eval",
        import_meta_eval,
        options=["group"],
        check=check_group_option,
        examples=[EXAMPLES / "meta_eval.jsonl"],
    )
    imports.register(
        "votes",
        import_acuity_votes,
        options=["group", "scale"],
        required=["group"],
        check=check_group_option,
        examples=[EXAMPLES / "votes.csv"],
    )
