"""`acuity_file FILES… --out DIR`: figures of acuity from files alone. Needs no database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.management.acuity_options import add_acuity_arguments
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of

MAX_RATIO, MAX_GAMMA = 1000, 10
# Written only with votes, or with both formats.
OPTIONAL = ("uncertainty", "uncertainty_cases", "panel", "panel_cases", "formats", "joint", "tests")
SHAPES = ("vignettes-jsonl", "results-jsonl", "long-csv", "wide-csv", "matrix-csv")


class Command(BaseCommand):
    help = (
        "Compare the urgency that candidates advise with reference labels and with physicians' votes, from files. "
        "Writes acuity.csv and its tables; with votes also those of where physicians disagree."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", help="labels and readings, JSONL or CSV")
        parser.add_argument(
            "--format", choices=SHAPES, default="", help="shape of the files (default: by how each begins)"
        )
        parser.add_argument("--candidate", default="", help="candidate of all files, which are then its samples")
        parser.add_argument(
            "--scheme",
            default="direct",
            help="what source labels become: direct (default), em-ne-sc, portal-1-6, letters, emergency-department, "
            "healthbench-emergencies, or a JSON file",
        )
        parser.add_argument(
            "--scale",
            default="",
            help="three, four, five, or a JSON file (default: four, and three for the scheme em-ne-sc)",
        )
        parser.add_argument("--raters", default="", help="columns of candidates in a wide CSV, by commas")
        parser.add_argument("--votes", type=Path, help="CSV of physicians' votes")
        parser.add_argument(
            "--ambiguous",
            default="dispersion:0.75",
            help="when a case is ambiguous: dispersion:X (above X), entropy:X (X or more), majority:X (no level has "
            "the share X of the votes) or flag (the column “ambiguous” says so); default dispersion:0.75",
        )
        parser.add_argument(
            "--asked", choices=("qa", "chat"), default="qa", help="format of readings without one (default qa)"
        )
        add_acuity_arguments(parser, slices="reference level, and how the case was labelled")
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap, and of pairs of votes where there are too many")

    def handle(self, *args: Any, **options: Any) -> None:
        from agreement.acuity import uncertainty_tables as uncertainty
        from agreement.acuity.case_slices import slices_in_files
        from agreement.acuity.measures import Price
        from agreement.acuity.readings import data_of
        from agreement.acuity.report_tables import report_tables
        from agreement.acuity.summary import leading_figures
        from agreement.acuity.unusable_table import unusable_of
        from rubrics.acuity.scheme_files import WrongFile, scale_named, scheme_named
        from rubrics.acuity.schemes import NoScheme
        from rubrics.parsing.acuity_files import AcuityReader

        rule, ambiguous = rule_of(options), _ambiguous(options["ambiguous"])
        for name, most in (("ratio", MAX_RATIO), ("gamma", MAX_GAMMA)):
            if not 0 <= options[name] <= most:  # nan is neither
                raise CommandError(f"--{name} must be a number from 0 to {most}")
        candidate = options["candidate"].strip()
        if candidate == "all" or candidate.encode("utf-8", "ignore").decode() != candidate:
            raise CommandError("--candidate: no candidate can have that name")
        try:
            scale = scale_named(options["scale"] or ("three" if options["scheme"] == "em-ne-sc" else "four"))
            scheme = scheme_named(options["scheme"], scale)
        except (WrongFile, NoScheme) as error:
            raise CommandError(str(error)) from None

        raters = tuple(filter(None, map(str.strip, options["raters"].split(","))))
        reader = AcuityReader(
            scale,
            scheme,
            candidate=candidate,
            default_format=options["asked"],
            raters=raters,
            reads_escalations=True,
        )
        for path in options["files"]:
            with refusals_of(path):
                reader.read(path, options["format"]).refuse_if_any()
        if options["votes"] is not None:
            with refusals_of(options["votes"]):
                reader.read_votes(options["votes"]).refuse_if_any()
        if ambiguous.by == "flag" and not reader.records.flags:
            raise CommandError("--ambiguous flag: no file says in a column “ambiguous” which cases are")
        data = data_of(reader.records, scale, ambiguous)
        data = replace(data, counts_boundary=options["boundary"] == "include")
        if options["slices"]:
            data = slices_in_files(data, reader.records)
        if not data.series_names and not data.panel:
            raise CommandError("no file holds a reading or a vote: nothing was written")

        price = Price(options["ratio"], options["gamma"])
        files = report_tables(data, unusable_of(reader.records), price=price, rule=rule)
        if data.panel:
            spread = uncertainty.uncertainty_tables(data, ambiguous, ratio=options["ratio"], seed=options["seed"])
            text, columns = uncertainty.TEXT_COLUMNS, uncertainty.panel_case_columns(data)
            files += [
                OutTable("uncertainty", uncertainty.UNCERTAINTY_COLUMNS, spread.uncertainty, text),
                OutTable("uncertainty_cases", uncertainty.CASE_COLUMNS, spread.cases, text),
                OutTable("panel", uncertainty.PANEL_COLUMNS, spread.panel, text),
                OutTable("panel_cases", columns, spread.panel_cases, text),
            ]
        settings = {
            "scale": {"name": scale.name, "levels": list(scale.values)},
            "scheme": scheme.name,
            "ambiguous": ambiguous.in_words,
            "ratio": price.ratio,
            "gamma": price.exponent,
            "boundary": options["boundary"],
            "slices": options["slices"],
            "interval": rule.key,
            "seed": options["seed"],
            "files": [path.name for path in options["files"]],
            "votes": options["votes"].name if options["votes"] else None,
        }
        out: Path = options["out"]
        left = [name for name in OPTIONAL if (out / f"{name}.csv").exists() and name not in {own.name for own in files}]
        written = OutFolder(out, options["overwrite"]).write(files, {"settings": settings})
        self.stdout.write(leading_figures(files[0].rows, rule.in_words))
        self.stdout.write(_counted(data, reader.records))
        if reader.records.unused:
            self.stdout.write(f"Columns that were not read: {', '.join(sorted(reader.records.unused))}")
        if left:
            self.stdout.write(f"From an earlier run, not written now: {', '.join(f'{name}.csv' for name in left)}")
        self.stdout.write(f"Written to {out}: {written}")


def _ambiguous(text: str) -> Any:
    from annotation.acuity.panel import AmbiguousRule

    try:
        return AmbiguousRule.of(text)
    except ValueError as error:
        raise CommandError(f"--ambiguous: {error}") from None


def _counted(data: Any, records: Any) -> str:
    """How many cases count, and why others do not."""
    from agreement.acuity.readings import CaseStatus

    words = {
        CaseStatus.CLEAR: "with a clear reference, in the main figures",
        CaseStatus.BOUNDARY: f"between two levels, in boundary.csv{' and the main figures' * data.counts_boundary}",
        CaseStatus.AMBIGUOUS: "ambiguous, in uncertainty.csv",
        CaseStatus.SET_ASIDE: "set aside: more than half cannot tell",
        CaseStatus.WITHOUT_REFERENCE: "without a reference: too few votes, and no label that gives a level",
        CaseStatus.EXCLUDED: "excluded by the scheme",
    }
    numbers = {status: int((data.status == int(status)).sum()) for status in CaseStatus}
    lines = [f"{n} {'case' if n == 1 else 'cases'} {words[status]}" for status, n in numbers.items() if n]
    unread = int((~data.is_asked.any(axis=1)).sum())
    if unread and data.series_names:
        is_one = unread == 1
        lines.append(f"{unread} {'case is' if is_one else 'cases are'} in no file of readings; nobody was asked there")
    if data.overruled:
        lines.append(f"The panel gives {data.overruled} of the labelled cases another reference than the label")
    if records.contradictions:
        first = ", ".join(map(str, records.first_contradictions[:10]))
        lines.append(f"{records.contradictions} stored flags contradict label and level (lines {first}); none was used")
    return "\n".join(lines)
