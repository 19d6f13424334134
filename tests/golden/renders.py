"""Each template that is rendered, rendered again from an earlier commit's templates with the same context."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.template import TemplateDoesNotExist
from django.template.backends.django import DjangoTemplates, Template

BEFORE = "before"


class Pair(NamedTuple):
    """One rendering of a template (or of a part, "page.html#part") by both trees."""

    template: str
    before: str
    now: str


def folder_of_before() -> Path:
    """Where `make golden` unpacked the earlier commit; its folders are called as here."""
    return Path(os.environ["GOLDEN_BEFORE"])


def out_folder() -> Path:
    """Where the rendered pages and the lists of differences go."""
    return Path(os.environ.get("GOLDEN_OUT") or folder_of_before().parent)


def _engine_of_before() -> DjangoTemplates:
    now = settings.TEMPLATES[0]
    folders = [folder_of_before() / "templates", folder_of_before() / "consilium" / "templates"]
    return DjangoTemplates(
        {"NAME": BEFORE, "DIRS": folders, "APP_DIRS": now.get("APP_DIRS", False), "OPTIONS": dict(now["OPTIONS"])}
    )


@contextmanager
def rendered_twice() -> Iterator[list[Pair]]:
    """The list that grows with each rendering inside; templates that did not exist before are left out."""
    pairs: list[Pair] = []
    before = _engine_of_before()
    get_template, render = DjangoTemplates.get_template, Template.render

    def get_named(self: DjangoTemplates, name: str) -> Any:
        template = get_template(self, name)
        template.asked_for = name
        return template

    def render_both(self: Any, context: Any = None, request: HttpRequest | None = None) -> str:
        text = render(self, context, request)
        if self.backend.name != BEFORE and hasattr(self, "asked_for"):
            # The first rendering took the messages out of the session; the storage still has them for the second.
            used = request is not None and getattr(get_messages(request), "used", None)
            with suppress(TemplateDoesNotExist):
                pairs.append(Pair(self.asked_for, before.get_template(self.asked_for).render(context, request), text))
            if used is False and request is not None:
                get_messages(request).used = False
        return text

    with (
        mock.patch.object(DjangoTemplates, "get_template", get_named),
        mock.patch.object(Template, "render", render_both),
    ):
        yield pairs
