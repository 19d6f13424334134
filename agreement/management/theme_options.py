"""``--themes`` and ``--minimum-pairs`` of `agreement_file`: tables by theme, and percentiles of judges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError, CommandParser

from consilium.core.out_folder import OutTable
from consilium.management.refusals import refusals_of

if TYPE_CHECKING:
    from agreement.label_files.reading import JudgeFile, LabelFile
    from consilium.statistics.intervals import IntervalRule


def add_theme_arguments(parser: CommandParser) -> None:
    """A map of clusters to themes, and from how many pairs on a physician counts."""
    parser.add_argument(
        "--themes",
        nargs="?",
        const="",
        metavar="MAP.csv",
        help="also write themes.csv and percentiles.csv; the map has the columns cluster, theme (default: the theme "
        "that the name of a cluster begins with, as in HealthBench)",
    )
    parser.add_argument(
        "--minimum-pairs", type=int, metavar="N", help="pairs of a physician in a theme that count (default 10)"
    )


def theme_files(
    labels: LabelFile, judges: Mapping[str, JudgeFile], options: Mapping[str, Any], rule: IntervalRule
) -> list[OutTable]:
    """The tables by theme where ``--themes`` asks for them; ``judges`` by name."""
    from agreement.label_files import theme_tables
    from agreement.label_files.theme_file import read_themes

    given, minimum = options.get("themes"), options.get("minimum_pairs")
    if given is None:
        if minimum is not None:
            raise CommandError("--minimum-pairs is about the percentiles of --themes")
        return []
    if not judges:
        raise CommandError("--themes needs a judge: it places the judge among the physicians")
    if minimum is not None and minimum < 1:
        raise CommandError("--minimum-pairs must be 1 or more")
    themes: dict[str, str] = {}
    if given:
        with refusals_of(Path(given)):
            themes = read_themes(Path(given))
    tables = theme_tables.theme_tables(labels, judges, themes, minimum=minimum or theme_tables.MINIMUM_PAIRS, rule=rule)
    return [
        OutTable("themes", theme_tables.THEMES_COLUMNS, tables.themes, theme_tables.TEXT_COLUMNS),
        OutTable("percentiles", theme_tables.PERCENTILES_COLUMNS, tables.percentiles, theme_tables.TEXT_COLUMNS),
    ]
