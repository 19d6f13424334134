"""Compiled queries: built once, then run again with new values.

Django writes the SQL of a query anew each time, which takes longer than PostgreSQL needs to answer a small one. That
in turn is mostly planning, so web processes have their connections keep the plans as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, Generic, Protocol, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
# In the place of each value while the query is put together; nothing else in a query looks like them.
_NUMBER, _TEXT = 2_147_400_000, "\ue000value {}\ue000"


class _Connection(Protocol):
    """What the database backend of this project offers beside Django's."""

    def kept_cursor(self) -> AbstractContextManager[Any]:
        """A cursor whose statements the server keeps with their plans."""


class Prepared(Generic[Row]):
    """A query by values of fixed kinds: ``Prepared(lambda user: Role.objects.filter(user=user), user=int)``.

    ``build`` is called once, with one argument for each name in ``kinds`` (``int`` or ``str``), and returns the query.
    Each value must go to the database as it is, compared with a column, not as a list or a part of a pattern:
    ValueError where it does not.
    """

    def __init__(self, build: Callable[..., QuerySet[Row, Any]], **kinds: type) -> None:
        self._build = build
        self._marks: dict[str, Any] = {
            name: _NUMBER + place if kind is int else _TEXT.format(place)
            for place, (name, kind) in enumerate(kinds.items())
        }
        self._compiled: tuple[Any, str, list[tuple[bool, Any]]] | None = None

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """What a query of ``values_list`` finds."""
        compiler, sql, parameters = self._statement(values)
        return list(_converted(kept(sql, parameters), compiler))

    def column(self, **values: Any) -> list[Any]:
        """The first column of `rows`."""
        return [row[0] for row in self.rows(**values)]

    def objects(self, **values: Any) -> list[Row]:
        """What a query of whole rows finds, with what it annotates; ValueError for one with `select_related`."""
        compiler = self._statement(values)[0]
        info = compiler.klass_info
        if info.get("related_klass_infos"):
            raise ValueError("rows that come along with others are not read")
        names = [compiler.select[place][0].target.attname for place in info["select_fields"]]
        begin = info["select_fields"][0]
        instances = []
        for row in self.rows(**values):
            instance = info["model"].from_db(DEFAULT_DB_ALIAS, names, row[begin : begin + len(names)])
            for name, place in compiler.annotation_col_map.items():
                setattr(instance, name, row[place])
            instances.append(instance)
        return instances

    def first(self, **values: Any) -> Row | None:
        """The first of `objects`, if there is any; the query limits how many it reads."""
        return next(iter(self.objects(**values)), None)

    def count(self, **values: Any) -> int:
        """How many rows it finds."""
        return int(self._scalar("SELECT count(*) FROM ({}) AS found", values))

    def exists(self, **values: Any) -> bool:
        """Whether it finds a row."""
        return bool(self._scalar("SELECT EXISTS ({})", values))

    def _scalar(self, around: str, values: dict[str, Any]) -> Any:
        _compiler, sql, parameters = self._statement(values)
        return kept(around.format(sql), parameters)[0][0]

    def _statement(self, values: dict[str, Any]) -> tuple[Any, str, list[Any]]:
        if self._compiled is None:
            self._compiled = self._put_together()
        compiler, sql, places = self._compiled
        if values.keys() != self._marks.keys():
            raise TypeError(f"asked with {sorted(values)}, made for {sorted(self._marks)}")
        return compiler, sql, [values[each] if given else each for given, each in places]

    def _put_together(self) -> tuple[Any, str, list[tuple[bool, Any]]]:
        """The compiler (for the columns), its SQL, and for each parameter whether it is a value's name, and which."""
        compiler = self._build(**self._marks).query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        if not sql.startswith("SELECT"):  # a union: the audit trail puts its setting before all but plain reading
            sql = f"SELECT * FROM ({sql}) AS found"
        places = []
        for each in parameters:
            name = next((name for name, mark in self._marks.items() if each == mark), None)
            places.append((name is not None, each if name is None else name))
        if missing := self._marks.keys() - {name for given, name in places if given}:
            raise ValueError(f"not compared as they are: {', '.join(sorted(missing))}")
        return compiler, sql, places


def kept(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What ``sql``, always the same text that begins with SELECT, finds; the connection keeps its plan."""
    if not sql.startswith("SELECT"):  # the audit trail would put a statement before it
        raise ValueError(f"does not begin with SELECT: {sql[:40]}")
    with cast(_Connection, connection).kept_cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def keyed(key: Any) -> Any:
    """Stands for a row while a query is put together that asks it for its primary key alone."""
    return SimpleNamespace(pk=key)


def _converted(rows: Sequence[tuple[Any, ...]], compiler: Any) -> Iterator[tuple[Any, ...]]:
    """``rows`` with what a column of another kind than the database's is read as, such as JSON."""
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    if not converters:
        return iter(rows)

    def converted(row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for place, (steps, expression) in converters.items():
            for step in steps:
                values[place] = step(values[place], expression, connection)
        return tuple(values)

    return map(converted, rows)
