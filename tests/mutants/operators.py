"""The mutants of a module: each replaces one node of its syntax tree.

The general operators are those of other tools: boundaries, negations, `and` for `or`, numbers, statements that are
missing. Those tools know nothing of Django, and most rules of access and blinding are conditions of a queryset, so the
other operators leave out a condition, a call of ``filter`` or ``exclude``, or turn an order round.

Left out is what is easily seen: ``filter`` for ``exclude``, or ``None`` returned, which mypy reports. Not mutated:
annotations, decorators, docstrings, texts, and the numbers of enums. Nor ``select_related``, which shows in the number
of queries alone, nor what takes locks (`LOCK`), which shows in a race alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOCK = "lock"  # the operator of mutants that nobody draws
ROOT = Path(__file__).resolve().parent.parent.parent
# The name of the function that an observed module calls before each statement.
REACHED = "__mutant_reached__"

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
LOOKUPS = {"lt": "lte", "lte": "lt", "gt": "gte", "gte": "gt"}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "Min": "Max", "Max": "Min"}
QUERYSET_CALLS = {"filter", "exclude", "order_by", "distinct"}
CONDITIONS = {"filter", "exclude", "get", "get_object_or_404", "Q", "update"}
NOT_CODE = {"annotation", "returns", "decorator_list", "bases", "keywords_of_class", "format_spec", "type_params"}


@dataclass
class Mutant:
    """One change to a module, and how to make it in ``tree``."""

    module: str
    number: int
    line: int
    operator: str
    before: str
    after: str
    lines: tuple[int, ...]  # a test that reaches one of these statements runs what the mutant changes
    tree: ast.Module = field(repr=False)
    apply: Callable[[], None] = field(repr=False)

    @property
    def id(self) -> str:
        """Names the mutant as long as the module does not change."""
        return f"{self.module}#{self.number}"


def mutants_of(module: str) -> list[Mutant]:
    """All mutants of a module, given by its path from the root of the checkout; the tree is theirs together."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    rows = []
    for number, (place, operator, new) in enumerate(_changes(tree)):
        before, after = (_words(node) for node in (place.node, new))
        lines = _lines(place, tree)
        change = _applying(place, new)
        rows.append(Mutant(module, number, place.node.lineno, operator, before, after, lines, tree, change))
    return rows


def mutated(module: str, number: int) -> ast.Module:
    """The tree of a module with one of its mutants."""
    mutant = mutants_of(module)[number]
    mutant.apply()
    return ast.fix_missing_locations(mutant.tree)


def observed(module: str) -> ast.Module:
    """The tree of a module that reports each statement of its functions before it runs."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(node): node for function in functions for node in ast.walk(function)}
    for node in inside.values():
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):  # a lambda's body is none
                setattr(node, name, [each for statement in statements for each in _reported(module, statement)])
    return ast.fix_missing_locations(tree)


def _reported(module: str, statement: ast.stmt) -> list[ast.stmt]:
    if _is_docstring(statement):
        return [statement]
    place = ast.Tuple([ast.Constant(module), ast.Constant(statement.lineno)], ast.Load())
    report = ast.Expr(ast.Call(ast.Name(REACHED, ast.Load()), [place], []))
    return [ast.copy_location(report, statement), statement]


@dataclass
class _Place:
    """A node, where it hangs in the tree, and the statement that it belongs to."""

    node: ast.expr | ast.stmt
    parent: ast.AST
    name: str
    index: int | None
    statement: ast.stmt
    in_class: bool
    in_function: bool


def _applying(place: _Place, new: ast.AST) -> Callable[[], None]:
    def apply() -> None:
        ast.copy_location(new, place.node)
        if place.index is None:
            setattr(place.parent, place.name, new)
        else:
            getattr(place.parent, place.name)[place.index] = new

    return apply


def _lines(place: _Place, tree: ast.Module) -> tuple[int, ...]:
    """Lines of the statement; where it runs at the import, of the statements that use what it defines."""
    if place.in_function:
        return (place.statement.lineno,)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if isinstance(place.statement, ast.FunctionDef | ast.AsyncFunctionDef):
        functions, names = [place.statement], set()
    else:
        parts = [node for node in ast.walk(place.statement) if isinstance(node, ast.Name)]
        names = {node.id for node in parts if isinstance(node.ctx, ast.Store)}
    inside = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt)]
    using = [node for node in inside if names & set(_names_in(node))]
    return tuple(sorted({node.lineno for node in using or inside}))


def _names_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def _words(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:200]


def _changes(tree: ast.Module) -> Iterator[tuple[_Place, str, ast.expr | ast.stmt]]:
    for place in _places(tree, None, in_class=False, in_function=False):
        for operator, new in _replacements(place):
            yield place, operator, new


def _places(parent: ast.AST, statement: ast.stmt | None, *, in_class: bool, in_function: bool) -> Iterator[_Place]:
    """Every statement and expression that is code, from the top to the bottom."""
    for name, value in ast.iter_fields(parent):
        if name in NOT_CODE or (isinstance(parent, ast.ClassDef) and name == "keywords"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or (isinstance(node, ast.stmt) and _is_not_code(node)):
                continue
            of, inside, within = statement, in_class, in_function
            if isinstance(node, ast.stmt):
                of = node
                inside = isinstance(parent, ast.ClassDef)
                within = in_function or isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef)
            if of is not None and isinstance(node, ast.expr | ast.stmt):
                yield _Place(node, parent, name, index, of, inside, within)
            yield from _places(node, of, in_class=inside, in_function=within)


def _is_not_code(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if _is_docstring(node):
        return True
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replacements(place: _Place) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    node = place.node
    if isinstance(node, ast.Compare):
        yield from _compared(node)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield {ast.Not: "no not", ast.Invert: "no ~", ast.USub: "no minus"}[type(node.op)], node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text_or_type(place):
        yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "boolean", ast.Constant(not node.value)
        elif isinstance(node.value, int | float) and not (place.in_class and isinstance(place.statement, ast.Assign)):
            yield "number + 1", ast.Constant(node.value + 1)
            yield "number - 1", ast.Constant(node.value - 1)
    elif isinstance(node, ast.Call):
        yield from _called(node)
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        changed = copy.copy(node)
        changed.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        yield "condition negated", changed
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for number, generator in enumerate(node.generators):
            for index in range(len(generator.ifs)):
                changed_comprehension = copy.copy(node)
                changed_comprehension.generators = list(node.generators)
                changed_comprehension.generators[number] = copy.copy(generator)
                kept = [each for other, each in enumerate(generator.ifs) if other != index]
                changed_comprehension.generators[number].ifs = kept
                yield "no condition", changed_comprehension
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_logging(node.value):
        yield LOCK if _locks(node.value) else "no statement", ast.Pass()
    elif isinstance(node, ast.Raise):
        yield "no raise", ast.Pass()
    elif isinstance(node, ast.AugAssign):
        yield "no statement", ast.Pass()
    elif isinstance(node, ast.Break):
        yield "break, continue", ast.Continue()
    elif isinstance(node, ast.Continue):
        yield "break, continue", ast.Break()


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for index, comparison in enumerate(node.ops):
        ops = list(node.ops)
        ops[index] = COMPARISONS[type(comparison)]()
        yield "comparison", ast.Compare(node.left, ops, node.comparators)


def _called(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    attribute = node.func if isinstance(node.func, ast.Attribute) else None
    name = attribute.attr if attribute else node.func.id if isinstance(node.func, ast.Name) else ""
    if attribute and name in QUERYSET_CALLS and (node.args or node.keywords or name == "distinct"):
        yield LOCK if name == "order_by" and _locks(attribute.value) else f"no {name}", attribute.value
    if name in CONDITIONS:
        first = 1 if name == "get_object_or_404" else 0
        if len(node.args) - first + len(node.keywords) > 1:
            for index in range(first, len(node.args)):
                yield "no condition", ast.Call(node.func, _without(node.args, index), node.keywords)
            for index in range(len(node.keywords)):
                yield "no condition", ast.Call(node.func, node.args, _without(node.keywords, index))
    if name == "order_by" and node.args:
        for index, term in enumerate(node.args):
            if isinstance(term, ast.Constant) and isinstance(term.value, str):
                turned = term.value[1:] if term.value.startswith("-") else f"-{term.value}"
                terms: list[ast.expr] = [*node.args[:index], ast.Constant(turned), *node.args[index + 1 :]]
                operator = LOCK if _locks(node) else "order turned round"
                yield operator, ast.Call(node.func, terms, node.keywords)
        if len(node.args) > 1:
            yield "no last order", ast.Call(node.func, node.args[:-1], node.keywords)
    for index, keyword in enumerate(node.keywords):
        stem, _, lookup = (keyword.arg or "").rpartition("__")
        if stem and lookup in LOOKUPS:
            other_keyword = ast.keyword(f"{stem}__{LOOKUPS[lookup]}", keyword.value)
            keywords = [*node.keywords[:index], other_keyword, *node.keywords[index + 1 :]]
            yield "comparison", ast.Call(node.func, node.args, keywords)
    if isinstance(node.func, ast.Name) and name in FUNCTIONS:
        yield "function", ast.Call(ast.Name(FUNCTIONS[name], ast.Load()), node.args, node.keywords)


def _without(rows: list[Any], index: int) -> list[Any]:
    return [*rows[:index], *rows[index + 1 :]]


def _is_text_or_type(place: _Place) -> bool:
    """Whether an operation joins texts or lists, or names a union of types: another operator only raises there."""
    node = place.node
    assert isinstance(node, ast.BinOp)
    sides = (node.left, node.right)
    if any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) for side in sides):
        return True
    if any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides):
        return True
    if not isinstance(node.op, ast.BitOr):
        return False
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return any(name[0].isupper() for name in names)


def _locks(node: ast.expr) -> bool:
    names = set(_names_in(node))
    return "select_for_update" in names or any(name.startswith("lock_") for name in names)


def _is_logging(call: ast.Call) -> bool:
    function = call.func
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "log"
