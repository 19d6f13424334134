"""Django's ``migrate``, quicker: an empty database takes some fifty migrations with four hundred operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db.migrations import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.operations.fields import AddField
from django.db.migrations.operations.models import CreateModel, IndexOperation
from django.db.migrations.state import ProjectState

_apply = Migration.apply


class Command(migrate.Command):
    """Does the same as Django's command."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate."""
        with _in_place_of(Migration, "apply", _apply_with_fewer_models):
            super().handle(*args, **options)


@contextmanager
def _in_place_of(target: Any, name: str, value: Any) -> Iterator[None]:
    """``target`` has ``value`` under ``name`` within the block."""
    own = vars(target).get(name, _in_place_of)
    setattr(target, name, value)
    try:
        yield
    finally:
        if own is _in_place_of:  # it was inherited from the class
            delattr(target, name)
        else:
            setattr(target, name, own)


def _apply_with_fewer_models(
    self: Migration, project_state: ProjectState, schema_editor: Any, collect_sql: bool = False
) -> ProjectState:
    with _in_place_of(self, "operations", _sparing(self.operations, project_state)):
        return _apply(self, project_state, schema_editor, collect_sql)


def _sparing(operations: Iterable[Operation], state: ProjectState) -> Iterator[Operation]:
    """``operations``; those that only add something make no more model classes than they need.

    After each operation Django makes the classes of its model and of all related models again, here up to a hundred. A
    new column or table needs only the class of its own model; an index, a constraint or a trigger needs no new class.
    All other classes are made before the next operation of another kind, so that it finds them as usual. After the last
    operation they are made when they are first used, as after any operation that Django itself delays (``is_delayed``).
    """
    waiting: set[tuple[str, str]] = vars(state).setdefault("_changed_models", set())

    def none(app_label: str, model_name: str, delay: bool = False) -> None:
        waiting.add((app_label, model_name.lower()))
        state.is_delayed = True

    def its_own(app_label: str, model_name: str, delay: bool = False) -> None:
        none(app_label, model_name)
        with state.apps.bulk_update():
            state.apps.unregister_model(app_label, model_name.lower())
            state.models[app_label, model_name.lower()].render(state.apps)

    for operation in operations:
        if isinstance(operation, IndexOperation):  # includes the operations of pgtrigger
            with _in_place_of(state, "reload_model", none):
                yield operation
        elif isinstance(operation, CreateModel | AddField):
            with _in_place_of(state, "reload_model", its_own):
                yield operation
        else:
            if waiting:
                state.reload_models(list(waiting), delay=False)
                waiting.clear()
            yield operation
