"""The files of a replication: an overview, a table of all artefacts, and of each its table and its figures.

They are the same bytes for the same replication, whoever asks: their words are English.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

from django.utils import translation

from agreement.calibration.thresholds import threshold_in_force
from agreement.judged.training_overlap import learned_candidates
from agreement.models import Replication, Report
from agreement.replication.building import Built, State, built
from agreement.replication.gaps import Gap
from agreement.replication.manifest import Artefact
from agreement.replication.papers import PAPERS
from agreement.replication.published import OUT_COLUMNS, OUT_TEXT, all_published, compared
from agreement.reports import files as report_files
from agreement.reports import sentences
from agreement.reports.endpoint_facts import is_by_rules
from agreement.reports.tables import Row, Table
from agreement.writers.archive import Content, write_archive
from agreement.writers.latex import stream_latex
from agreement.writers.markdown import escaped, stream_markdown
from consilium.figures.render import Drawing, pdf_of, svg_file
from consilium.figures.style import with_footnote
from scoring.models import JudgeRun

ARTEFACT_COLUMNS = (
    *("paper", "artefact", "place", "form", "title", "state", "kind", "reports", "missing", "next_step", "files"),
)
ARTEFACT_TEXT = ARTEFACT_COLUMNS
TABLE_ENDINGS = ("csv", "tex", "md")
FIGURE_ENDINGS = ("svg", "pdf")
MARK = "replication.json"
BETWEEN = "; "


@dataclass(frozen=True)
class ArtefactStatus:
    """What became of one artefact: its state, its gaps, and the reports that it is made of."""

    artefact: Artefact
    state: State
    gaps: list[Gap]
    reports: list[Report] = field(default_factory=list)

    @cached_property
    def built(self) -> Built | None:
        """Its table and figures; None where there are no reports."""
        return built(self.artefact, self.reports) if self.reports else None

    @property
    def table(self) -> Table | None:
        """Its table, if that has rows."""
        return self.built.table if self.built and self.built.table.rows else None

    @property
    def figures(self) -> list[str]:
        """The names of the files of its figures, without their endings."""
        if self.built is None:
            return []
        several = len({report.pk for report, _figure in self.built.figures}) > 1
        return [
            f"{figure.name}-{report.public_id}" if several else figure.name for report, figure in self.built.figures
        ]

    @property
    def file_names(self) -> list[str]:
        """The files of the artefact in the folder of a replication."""
        key = self.artefact.key
        tables = [f"{key}/{key}.{ending}" for ending in TABLE_ENDINGS] if self.table else []
        return [*tables, *(f"{key}/{name}.{ending}" for name in self.figures for ending in FIGURE_ENDINGS)]


def made_of(replication: Replication) -> list[ArtefactStatus]:
    """What became of each artefact, in the order of the paper; the reports are read in one query."""
    paper = PAPERS[replication.paper]
    ids = {public_id for outcome in replication.result for public_id in outcome["reports"]}
    rows = Report.objects.filter(benchmark=replication.benchmark_id, public_id__in=ids)
    reports = {report.public_id: report for report in rows.select_related("benchmark", "created_by")}
    return [
        ArtefactStatus(
            artefact,
            # An earlier version said that what is not made from data lacks data.
            State.NOT_FROM_DATA if artefact.not_data else State(outcome["state"]),
            [artefact.why_not_made] if artefact.not_data else [Gap.of_json(gap) for gap in outcome["gaps"]],
            [reports[public_id] for public_id in outcome["reports"] if public_id in reports],
        )
        for outcome in replication.result
        # An artefact of another version of Consilium may have another name by now.
        if (artefact := paper.artefact(outcome["artefact"])) is not None
    ]


def artefact_rows(replication: Replication, statuses: list[ArtefactStatus]) -> Iterator[Row]:
    """The rows of ``artefacts.csv``."""
    slug = replication.benchmark.slug
    for status in statuses:
        yield {
            "paper": replication.paper,
            "artefact": status.artefact.key,
            "place": status.artefact.place,
            "form": status.artefact.form,
            "title": str(status.artefact.title),
            "state": str(status.state),
            "kind": status.artefact.kind,
            "reports": " ".join(report.public_id for report in status.reports),
            "missing": BETWEEN.join(str(gap.what) for gap in status.gaps),
            "next_step": BETWEEN.join(dict.fromkeys(filter(None, (gap.step(slug) for gap in status.gaps)))),
            "files": " ".join(status.file_names),
        }


def artefacts_table(replication: Replication, statuses: list[ArtefactStatus]) -> Table:
    """``artefacts.csv``."""
    return Table.of(ARTEFACT_COLUMNS, list(artefact_rows(replication, statuses)), ARTEFACT_TEXT)


def published_table(replication: Replication, statuses: list[ArtefactStatus]) -> Table:
    """``published.csv``: values of the paper beside those made here."""
    values = all_published(replication.paper, replication.published)
    tables = {
        status.artefact.key: (status.table, " ".join(report.public_id for report in status.reports))
        for status in statuses
        if status.table is not None
    }
    return Table.of(OUT_COLUMNS, list(compared(PAPERS[replication.paper], values, tables)), OUT_TEXT)


def replication_files(replication: Replication) -> Iterator[tuple[str, Content]]:
    """All files by their names, in their order."""
    with translation.override("en"):
        statuses = made_of(replication)
        artefacts = artefacts_table(replication, statuses)
        names = [
            "README.md",
            "artefacts.csv",
            "published.csv",
            *(name for status in statuses for name in status.file_names),
        ]
        yield MARK, description(replication, statuses, names).encode()
        yield "README.md", readme(replication, statuses).encode()
        yield "artefacts.csv", artefacts.csv()
        yield "published.csv", published_table(replication, statuses).csv()
        for status in statuses:
            yield from _files_of(replication, status)


def packed(replication: Replication) -> IO[bytes]:
    """All files as one ZIP, read from the start."""
    return report_files.put_together(lambda file: write_archive(file, replication_files(replication)))


def _files_of(replication: Replication, status: ArtefactStatus) -> Iterator[tuple[str, Content]]:
    key, table = status.artefact.key, status.table
    if table is None or status.built is None:
        return
    for ending in TABLE_ENDINGS:
        yield f"{key}/{key}.{ending}", table_text(replication, status, table, ending)
    for name, (report, figure) in zip(status.figures, status.built.figures, strict=True):
        svg = svg_file(_with_source_of_k(status.artefact, report, figure.drawing))
        yield f"{key}/{name}.svg", svg.encode()
        yield f"{key}/{name}.pdf", pdf_of(svg)


def table_text(replication: Replication, status: ArtefactStatus, table: Table, ending: str) -> Iterator[str]:
    """The table of an artefact in one of `TABLE_ENDINGS`; LaTeX and Markdown have a caption and notes."""
    if ending == "csv":
        return table.csv()
    caption, notes = caption_of(replication, status), notes_of(status)
    if ending == "tex":
        label = f"tab:{replication.paper}-{status.artefact.key}"
        return stream_latex(table, caption=caption, label=label, notes=notes)
    return stream_markdown(table, caption=caption, notes=notes)


def caption_of(replication: Replication, status: ArtefactStatus) -> str:
    """The caption of a table: what it is of the paper, of which benchmark, and by which rule its intervals are."""
    place = f" ({status.artefact.place})" if status.artefact.place else ""
    rules = {
        report_files.interval_words(report, status.artefact.table, status.table)
        for report in status.reports
        if status.table
    }
    paper = PAPERS[replication.paper]
    title = f"{status.artefact.title}, as in {paper.citation}{place}: {replication.benchmark.title}"
    return title + " ".join(sorted(rules))


def notes_of(status: ArtefactStatus) -> list[str]:
    """The notes under a table: who is who, what is left out, where k is from, what a judge learned from, that rules
    answered, and the reports it is from.
    """
    notes = [
        note for report in status.reports if status.table for note in report_files.notes_under(report, status.table)
    ]
    for report in status.reports:
        notes += [*_source_of_k(status.artefact, report), *_learned(report)]
    if any(is_by_rules(report) for report in status.reports):
        notes.append("Made with rules in place of a language model")
    notes.append("From " + ", ".join(f"report {report.public_id}" for report in status.reports))
    notes += [str(gap.what).removesuffix(".") for gap in status.gaps]
    return list(dict.fromkeys(notes))


def _source_of_k(artefact: Artefact, report: Report) -> list[str]:
    """Where the threshold of a table that uses it is from."""
    k = report.parameters.get("k")
    return [sentences.threshold(report, k).removesuffix(".")] if artefact.needs_k and k else []


def _with_source_of_k(artefact: Artefact, report: Report, drawing: Drawing) -> Drawing:
    """The drawing with the same below it, in few words."""
    k = report.parameters.get("k")
    if not artefact.needs_k or not k:
        return drawing
    signed = threshold_in_force(report.benchmark, report.created_at)
    is_signed = signed is not None and signed.k == k
    source = f"signed on {signed.signed_at:%Y-%m-%d}" if signed and is_signed else "set for this report, not signed"
    return with_footnote(drawing, f"k = {k}, {source}.")


def _learned(report: Report) -> list[str]:
    """The candidates by whose decisions judges of the report were fitted, judge by judge."""
    runs = JudgeRun.objects.filter(benchmark=report.benchmark, public_id__in=report.result["facts"].get("runs") or [])
    runs_by_judge: dict[str, list[str]] = {}
    for judge, run in runs.order_by("judge__name").values_list("judge__name", "public_id"):
        runs_by_judge.setdefault(judge, []).append(run)
    learned = {judge: learned_candidates(report.benchmark, own) for judge, own in runs_by_judge.items()}
    return [
        f"{judge} was fitted to physicians’ decisions on {sentences.listed(names)}: figures on those are not held out"
        for judge, names in learned.items()
        if names
    ]


def description(replication: Replication, statuses: list[ArtefactStatus], files: list[str]) -> str:
    """``replication.json``: all that is needed to make the same again, and the list of files."""
    reports = {report.public_id: report for status in statuses for report in status.reports}
    document: dict[str, Any] = {
        "replication": replication.public_id,
        "paper": replication.paper,
        "benchmark": {"slug": replication.benchmark.slug, "title": replication.benchmark.title},
        "options": replication.options,
        "software": replication.software,
        "made_at": replication.finished_at.isoformat() if replication.finished_at else None,
        "artefacts": {status.artefact.key: str(status.state) for status in statuses},
        "reports": {
            public_id: {
                "kind": report.kind,
                "parameters": report.parameters,
                "seed": report.seed,
                "interval": report.interval or None,
                "input_digest": report.input_digest,
            }
            for public_id, report in sorted(reports.items())
        },
        "files": files,
    }
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def counts_of(statuses: Sequence[ArtefactStatus]) -> dict[State, int]:
    """How many artefacts have each state; 0 for none."""
    return {state: sum(status.state == state for status in statuses) for state in State}


def readme(replication: Replication, statuses: list[ArtefactStatus]) -> str:
    """``README.md``: the overview."""
    paper = PAPERS[replication.paper]
    counts = counts_of(statuses)
    from_data = [status for status in statuses if status.state != State.NOT_FROM_DATA]
    others = [status for status in statuses if status.state == State.NOT_FROM_DATA]
    lines = [
        f"# {escaped(paper.title)}",
        "",
        f"{paper.citation}, from the benchmark “{escaped(replication.benchmark.title)}”.",
        "",
        f"Of {len(from_data)} tables and figures, {counts[State.MADE]} are made, {counts[State.IN_PART]} in part, and "
        f"{counts[State.LACKS_DATA]} lack data. `artefacts.csv` has the same list, `published.csv` the values of the "
        "paper beside those made here, and `replication.json` what it takes to make the same again.",
        "",
        "| artefact | in the paper | state | missing, and the next step | files |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row, status in zip(artefact_rows(replication, from_data), from_data, strict=True):
        files = " ".join(f"[{name.rpartition('/')[2]}]({name})" for name in status.file_names)
        missing = " ".join(filter(None, [row["missing"], row["next_step"]]))
        place = ", ".join(filter(None, [status.artefact.form, status.artefact.place]))
        lines.append(f"| {escaped(status.artefact.title)} | {place} | {row['state']} | {escaped(missing)} | {files} |")
    if others:
        lines += ["", "Not made from data, and not counted:", ""]
        lines += [f"- {escaped(status.artefact.title)}: {escaped(str(status.gaps[0].what))}" for status in others]
    return "\n".join(lines) + "\n"
