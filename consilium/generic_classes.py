"""Makes Django's classes subscriptable at run time, as their type stubs require."""

from __future__ import annotations

from typing import Any

from django.forms import BaseModelForm, BaseModelFormSet


def allow_subscripts() -> None:
    """Make ``ModelForm[User]`` mean ``ModelForm``; for querysets and managers Django does so itself."""
    for each in (BaseModelForm, BaseModelFormSet):
        if not hasattr(each, "__class_getitem__"):
            setattr(each, "__class_getitem__", classmethod(_itself))  # noqa: B010  (the stubs know no such attribute)


def _itself(cls: Any, _held: Any) -> Any:
    return cls
