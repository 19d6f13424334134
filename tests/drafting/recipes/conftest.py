"""A benchmark with an English and a Chinese case, and recipes for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from drafting.models import DraftingRecipe
from drafting.recipes.services import save_version
from drafting.recipes.shipped import SHIPPED
from rubrics.models import Benchmark
from scoring.keys.grants import grant_key
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
HOST = "https://models.example.org"
MODELS = {
    role: {"endpoint": f"{HOST}/v1", "model": f"the-{role}-one", "key_env": "MODELS_API_KEY"}
    for role in ("strong", "fast", "checker")
}
Save = Callable[..., DraftingRecipe]


@pytest.fixture
def benchmark(settings: Any) -> Benchmark:
    settings.JUDGE_ALLOWED_HOSTS = ["models.example.org"]
    settings.ENDPOINT_KEYS = ["MODELS_API_KEY@models.example.org"]
    benchmark = BenchmarkFactory(slug="bench")
    grant_key(name="MODELS_API_KEY", benchmark=benchmark, by=None, at=AT)
    CaseFactory(benchmark=benchmark, key="a", rubric=[5])
    chinese = [{"role": "user", "content": "孩子发烧三天了，要去医院吗？"}]
    CaseFactory(benchmark=benchmark, key="c", rubric=0, language="zh-Hans", conversation=chinese)
    return benchmark


@pytest.fixture
def admin(benchmark: Benchmark) -> User:
    user = UserFactory()
    benchmark.roles.create(user=user, role="admin")
    return user


@pytest.fixture
def staff(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def content(shipped: str = "full", **changes: Any) -> dict[str, Any]:
    """The content of a shipped recipe with `MODELS`; ``changes`` replace its top fields."""
    recipe = SHIPPED[shipped]
    off = {name: {"on": False} for name in recipe.off}
    models = {role: MODELS[role] for role in recipe.roles}
    return {"form": recipe.form, "models": models, "stages": off, **changes}


@pytest.fixture
def save(benchmark: Benchmark) -> Save:
    """Save a version of the recipe ``main``."""

    def saved(values: dict[str, Any] | None = None, *, name: str = "main", based_on: int = 0) -> DraftingRecipe:
        values = content() if values is None else values
        return save_version(benchmark=benchmark, name=name, content=values, based_on=based_on, by=None, at=AT)

    return saved
