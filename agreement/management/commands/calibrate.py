"""`calibrate --benchmark B --group G --candidate NAME --out DIR`: the coverage threshold k from physicians' answers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.calibrating import (
    KEYS,
    SENSITIVITY_COLUMNS,
    SENSITIVITY_TEXT,
    CalibrationTables,
    calibrate_group,
)
from consilium.lib.csvfile import write_csv
from consilium.lib.errors import DomainError
from rubrics.models import Benchmark


class Command(BaseCommand):
    help = (
        "Calibrate k of CACS@k on the responses of a candidate of the kind physician, by the decisions of an expert "
        "group (NAME, or NAME@final). Writes calibration.json and sensitivity.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--group", required=True, help="expert group, with a stage after an @ (default checked)")
        parser.add_argument("--candidate", required=True, help="candidate of the kind physician")
        parser.add_argument(
            "--include-aided", action="store_true", help="also responses written with model references shown"
        )
        parser.add_argument("--out", type=Path, required=True, help="folder for the files; made if missing")
        parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seed"] < 0:
            raise CommandError("--seed must be 0 or more")
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"There is no benchmark “{options['benchmark']}”.")
        try:
            made = calibrate_group(
                benchmark,
                group=options["group"].removeprefix("group:"),
                candidate=options["candidate"],
                include_aided=options["include_aided"],
                seed=options["seed"],
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        try:
            out.mkdir(parents=True, exist_ok=True)
            text = json.dumps({key: made.calibration[key] for key in KEYS}, indent=2) + "\n"
            (out / "calibration.json").write_text(text, encoding="utf-8")
            write_csv(out / "sensitivity.csv", SENSITIVITY_COLUMNS, made.sensitivity, text_columns=SENSITIVITY_TEXT)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}") from None
        self.stdout.write(self._summary(made))
        self.stdout.write(f"Written to {out}: calibration.json, sensitivity.csv")

    def _summary(self, made: CalibrationTables) -> str:
        from rich.console import Console
        from rich.table import Table

        row = made.calibration
        k_range = "" if row["k_low"] is None else f" ({row['k_low']}–{row['k_high']})"
        mean_range = "" if row["mean_low"] is None else f" ({row['mean_low']:.2f}–{row['mean_high']:.2f})"
        facts = Table(title=f"Calibration by {made.rater}", title_justify="left", show_header=False)
        facts.add_row("k", f"{row['k']}{k_range}")
        facts.add_row("responses", f"{row['n']:,}, with {row['n_criteria']} positive criteria each")
        facts.add_row("mean hits", f"{row['mean']:.2f}{mean_range}")
        facts.add_row("quartiles", f"{row['q1']:g}, {row['median']:g}, {row['q3']:g}")
        facts.add_row("hit rate", f"{row['hit_rate']:.2%}")
        ranks = Table(title="Ranks of the candidates against CACS at k", title_justify="left")
        for name in ("setting", "k", "Spearman", "top 3", "top 5"):
            ranks.add_column(name, justify="left" if name == "setting" else "right")
        for one in made.sensitivity:
            figures = ("–" if one[name] is None else f"{one[name]:.3f}" for name in ("spearman", "top3", "top5"))
            ranks.add_row(one["setting"], "" if one["k"] is None else str(one["k"]), *figures)
        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(facts, ranks, sep="\n")
        for note in made.notes:
            console.print(note, soft_wrap=True)
        return text.getvalue()
