"""Compiled queries: Django writes their SQL once in a process, then they run with new values.

Only these queries are compiled: those that every page of a benchmark runs, those of the lists of cases and of the
authors' dashboard, and that of an autosave. Any other query is an ordinary one. `bench/fast_paths.py` measures what
compiling saves: CPU milliseconds of Python + of PostgreSQL for one request, here on a busy machine.

========================  ============  ===============  ==============
route                     compiled      ordinary         no kept plans
========================  ============  ===============  ==============
autosave of one decision  6.9 + 2.9     8.4 + 3.3        6.6 + 3.3
list of cases             17.2 + 2.7    25.0 + 4.8       17.0 + 4.5
overview                  31.2 + 9.4    36.1 + 10.6      31.0 + 10.5
batches                   39.8 + 8.7    44.3 + 9.7       39.9 + 9.4
a case                    25.2 + 3.6    31.3 + 5.3       25.1 + 5.0
authors' dashboard        19.4 + 3.3    36.1 + 6.8       19.6 + 6.7
========================  ============  ===============  ==============

An ordinary query takes 0.6 to 3.2 ms of Python, however simple it is, and a compiled one 0.1 to 0.9 ms. So fewer or
plainer ordinary queries do not reach these figures: a benchmark page runs five of them before it shows anything.
Connections of web processes keep the plans, too, which halves PostgreSQL's share of the two lists.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Expression, Model, QuerySet

Row = TypeVar("Row", bound=Model)


class _Connection(Protocol):
    """What the database backend of this project offers beside Django's."""

    def prepared_cursor(self) -> AbstractContextManager[Any]:
        """A cursor whose statements the server keeps with their plans."""


class Parameter(Expression):
    """Takes the place of a value in a query that is compiled."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @property
    def pk(self) -> Self:
        """The parameter itself, so that it can stand for a row where a query needs only the primary key."""
        return self

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """A placeholder, with the parameter in the place of its value."""
        return "%s", (self,)


class CompiledQuery(Generic[Row]):
    """A query by named values: ``CompiledQuery(lambda user: BenchmarkRole.objects.filter(user=user))``.

    ``build`` is called once, with a `Parameter` for each of its arguments, and returns the query. A parameter may stand
    wherever Django takes an expression; ``related__in`` takes none in its list. Values are numbers or text.
    """

    def __init__(self, build: Callable[..., QuerySet[Row, Any]]) -> None:
        self._build = build
        self._names = tuple(inspect.signature(build).parameters)
        self._compiled: tuple[Any, str, list[Any]] | None = None

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query of ``values_list``."""
        compiler, sql, parameters = self._statement(values)
        return list(_converted(fetch_prepared(sql, parameters), compiler))

    def column(self, **values: Any) -> list[Any]:
        """The first column of `rows`."""
        return [row[0] for row in self.rows(**values)]

    def objects(self, **values: Any) -> list[Row]:
        """The instances of a query of models, with annotations; ValueError for one with `select_related`."""
        compiler = self._statement(values)[0]
        info = compiler.klass_info
        if info.get("related_klass_infos"):
            raise ValueError("a compiled query does not support select_related")
        names = [compiler.select[index][0].target.attname for index in info["select_fields"]]
        begin = info["select_fields"][0]
        instances = []
        for row in self.rows(**values):
            instance = info["model"].from_db(DEFAULT_DB_ALIAS, names, row[begin : begin + len(names)])
            for name, index in compiler.annotation_col_map.items():
                setattr(instance, name, row[index])
            instances.append(instance)
        return instances

    def first(self, **values: Any) -> Row | None:
        """The first of `objects`, or None; it reads all of them."""
        return next(iter(self.objects(**values)), None)

    def count(self, **values: Any) -> int:
        """The number of rows."""
        return int(self._scalar("SELECT count(*) FROM ({}) AS counted", values))

    def exists(self, **values: Any) -> bool:
        """Whether there is a row."""
        return bool(self._scalar("SELECT EXISTS ({})", values))

    def _scalar(self, template: str, values: dict[str, Any]) -> Any:
        _compiler, sql, parameters = self._statement(values)
        return fetch_prepared(template.format(sql), parameters)[0][0]

    def _statement(self, values: dict[str, Any]) -> tuple[Any, str, list[Any]]:
        """The compiler (it describes the columns), the SQL, and its parameters with ``values`` filled in."""
        if self._compiled is None:
            self._compiled = self._compile()
        compiler, sql, parameters = self._compiled
        if values.keys() != set(self._names):
            raise TypeError(f"called with {sorted(values)}, compiled for {sorted(self._names)}")
        return compiler, sql, [values[each.name] if isinstance(each, Parameter) else each for each in parameters]

    def _compile(self) -> tuple[Any, str, list[Any]]:
        compiler = self._build(*map(Parameter, self._names)).query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        if not sql.startswith("SELECT"):  # a union: the audit trail would put a statement before it
            sql = f"SELECT * FROM ({sql}) AS united"
        return compiler, sql, list(parameters)


def fetch_prepared(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of ``sql``, which begins with SELECT and is the same text each time; the connection keeps its plan."""
    if not sql.startswith("SELECT"):  # the audit trail would put a statement before it
        raise ValueError(f"does not begin with SELECT: {sql[:40]}")
    with cast(_Connection, connection).prepared_cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def _converted(rows: Sequence[tuple[Any, ...]], compiler: Any) -> Iterator[tuple[Any, ...]]:
    """``rows`` after Django's conversions of values, such as JSON."""
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    if not converters:
        return iter(rows)

    def converted(row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for index, (steps, expression) in converters.items():
            for step in steps:
                values[index] = step(values[index], expression, connection)
        return tuple(values)

    return map(converted, rows)
