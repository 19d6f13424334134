"""``label_budget --benchmark B --judge J --reference R --half-width H --out DIR``: how many decisions to plan."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.planning import study_plan
from agreement.powered.powered_scores import MEASURES
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "How many responses physicians should grade for an interval of ± H, with a judge on all responses and without, "
        "and the smallest differences that so many cases will show. Writes plan.json, budget.csv, curve.csv and "
        "detectable.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--judge", required=True, help="a judge, a jury or run:ID")
        parser.add_argument("--reference", required=True, help="group:NAME[@stage], consensus[:A+B] or physician:P")
        parser.add_argument("--measure", choices=MEASURES, default="rubric_accuracy")
        parser.add_argument("--k", type=int, default=10, help="threshold of CACS@k (default 10)")
        parser.add_argument(
            "--half-width", type=float, required=True, help="in the units of the measure: 0.05, or 5 of 100"
        )
        parser.add_argument("--cases", type=int, help="cases planned, for detectable differences (default: all)")
        parser.add_argument("--other", default="", help="another judge, to plan a comparison of MF1")
        add_out_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        if not options["half_width"] > 0:
            raise CommandError("--half-width must be above 0")
        if options["k"] < 1:
            raise CommandError("--k must be 1 or more")
        cases = benchmark.cases.included().count() if options["cases"] is None else options["cases"]
        if cases < 1:
            raise CommandError("--cases must be 1 or more")
        question = study_plan.Question(
            judge=options["judge"],
            reference=options["reference"],
            measure=options["measure"],
            k=options["k"],
            half_width=options["half_width"],
            n_planned=cases,
            other=options["other"],
        )
        try:
            plan = study_plan.plan(benchmark, question)
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        files = OutFolder(out, options["overwrite"]).write(
            [
                OutTable("budget", study_plan.BUDGET_COLUMNS, plan.budget, study_plan.BUDGET_TEXT),
                OutTable("curve", study_plan.CURVE_COLUMNS, plan.curve, study_plan.CURVE_TEXT),
                OutTable("detectable", study_plan.DETECTABLE_COLUMNS, plan.detectable, study_plan.DETECTABLE_TEXT),
            ],
            {"plan": self._json(plan)},
        )
        self.stdout.write(self._summary(plan))
        for note in plan.notes:
            self.stdout.write(note)
        self.stdout.write(f"Written to {out}: {files}")

    @staticmethod
    def _json(plan: study_plan.Plan) -> dict[str, Any]:
        question = asdict(plan.question) | {"judge": plan.judge, "reference": plan.reference}
        return {
            "question": question,
            "budget": plan.budget,
            "curve": plan.curve,
            "detectable": plan.detectable,
            "notes": plan.notes,
            "input_digest": plan.digest,
        }

    def _summary(self, plan: study_plan.Plan) -> str:
        from rich.console import Console
        from rich.table import Table

        question = plan.question
        table = Table(title=f"{question.measure} to ±{question.half_width:g} by {plan.reference}", title_justify="left")
        table.add_column("candidate")
        for name in (
            "cases graded",
            "responses with judge",
            "decisions with judge",
            "responses alone",
            "decisions alone",
        ):
            table.add_column(name, justify="right")
        for row in plan.budget:
            numbers = (row[name] for name in ("responses", "decisions", "responses_alone", "decisions_alone"))
            graded = "" if row["n_labelled_cases"] is None else f"{row['n_labelled_cases']} of {row['n_cases']}"
            table.add_row(row["candidate"], graded, *("–" if number is None else f"{number:,}" for number in numbers))
        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(table)
        for row in plan.budget:
            if row["note"]:
                console.print(f"{row['candidate']}: {row['note']}", soft_wrap=True)
        return text.getvalue()
