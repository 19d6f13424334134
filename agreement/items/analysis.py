"""Computes the four parts of an item analysis from its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agreement.items.criteria import criteria_table
from agreement.items.disagreement_sources import disagreement_source_tables
from agreement.items.inputs import Items
from agreement.items.physicians import physicians_table
from agreement.items.tail import DIGITS, tail_table
from agreement.reports.tables import Row, Table
from consilium.statistics.intervals import IntervalRule

LOW_AGREEMENT = 0.6


@dataclass(frozen=True)
class Analysis:
    """Tables by name, in the order of the page, the counts of its headline, and the effective cases behind the rate of
    disagreement.
    """

    tables: dict[str, Table]
    facts: Row
    effective: float | None


def analyse(
    items: Items, *, rule: IntervalRule, seed: int = 0, progress: Callable[[float], None] = lambda share: None
) -> Analysis:
    """Everything about two raters' items; ``progress`` is called with the share that is done."""
    where, effective = disagreement_source_tables(items, rule=rule, seed=seed)
    progress(0.5)
    criteria = criteria_table(items)
    progress(0.7)
    physicians = physicians_table(items, rule=rule)
    progress(0.9)
    tail = tail_table(items)
    mf1 = [row["mf1"] for row in tail.dicts() if row["mf1"] is not None]
    raw = [row["raw"] for row in criteria.dicts() if row["raw"] is not None]
    facts = {
        "n_responses": len(mf1),
        "n_low": sum(round(value, DIGITS) < LOW_AGREEMENT for value in mf1),
        "below": LOW_AGREEMENT,
        "n_criteria": len(raw),
        "n_criteria_apart": sum(value <= 0.5 for value in raw),
        "n_negative_a": _negative(criteria, "discrimination_a"),
        "n_negative_b": _negative(criteria, "discrimination_b"),
        "n_physicians": len(physicians.rows),
        "groups": sorted(items.groups.values()),
    }
    tables = {**where, "criteria": criteria, "physicians": physicians, "tail": tail}
    return Analysis(tables, facts, effective)


def _negative(criteria: Table, name: str) -> Row:
    """How many criteria have a discrimination, and of how many it is below 0."""
    values = [row[name] for row in criteria.dicts() if row[name] is not None]
    return {"n": len(values), "negative": sum(value < 0 for value in values)}
