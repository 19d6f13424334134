"""Decisions that physicians made elsewhere, as closed batches of an expert group."""

from annotation.imports.decisions import import_decisions
from annotation.imports.meta_eval import import_meta_eval

__all__ = ["import_decisions", "import_meta_eval", "register"]


def register() -> None:
    """Tell the pages, the API and the worker which files this app reads."""
    from rubrics import imports

    imports.register("decisions", import_decisions, options=["group"], required=["group"])
    imports.register("meta_eval", import_meta_eval, options=["group"])
