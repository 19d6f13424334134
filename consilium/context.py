"""Context processors of the project."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from django.http import HttpRequest


def demo_sign_ins(request: HttpRequest) -> dict[str, Any]:
    """``demo_sign_ins``: a callable that the sign-in page asks for the accounts of the made-up benchmark.

    It gives nothing unless that benchmark is loaded: where real work is done nobody's password stands on a page.
    """
    return {"demo_sign_ins": _sign_ins}


def _sign_ins() -> Sequence[Any]:
    from rubrics.models import Benchmark

    if find_spec("consilium.demo") is None or not Benchmark.objects.filter(slug="demo", is_demo=True).exists():
        return ()
    from consilium.demo import SIGN_INS

    return tuple(SIGN_INS)
