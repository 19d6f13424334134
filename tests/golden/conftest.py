"""The world of the access tests, its pages rendered from two trees of templates."""

from __future__ import annotations

from tests.access.conftest import built_world, world

__all__ = ["built_world", "world"]
