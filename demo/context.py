"""The sign-ins of the made-up benchmark, for the sign-in page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest


class SignIn(NamedTuple):
    """An account of the demo benchmark, open to everybody."""

    role: str
    email: str
    password: str


def demo_sign_ins(request: HttpRequest) -> dict[str, Any]:
    """``demo_sign_ins``: a callable that the sign-in page asks for the accounts of the made-up benchmark.

    It gives none unless that benchmark is loaded: a site with real work shows no password on a page.
    """
    return {"demo_sign_ins": _sign_ins}


def _sign_ins() -> Sequence[SignIn]:
    from rubrics.models import Benchmark

    if not Benchmark.objects.filter(slug="demo", is_demo=True).exists():
        return ()
    from demo import SIGN_INS

    return [SignIn(*row) for row in SIGN_INS]
