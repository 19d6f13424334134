"""Labels, readings, scales and schemes of a benchmark for pages, endpoints and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from rubrics.acuity.scales import FOUR, STARTERS, Scale
from rubrics.acuity.schemes import SCHEMES, NoScheme, Scheme, scheme_of
from rubrics.acuity.shown import ShownLevel, shown_mapping
from rubrics.acuity.stored import scale_of
from rubrics.acuity.stored import scheme_of as stored_scheme
from rubrics.models import (
    AcuityDataset,
    AcuityImport,
    AcuityScale,
    Benchmark,
    Candidate,
    HowMapped,
    LabelScheme,
    SourceLabel,
)
from scoring.models import AcuityReading, JudgeRun
from scoring.susceptibility.level_texts import with_level_text

State = AcuityReading.State
CHUNK = 2000

FLOW_COLUMNS = (
    *("dataset", "scheme", "version", "scale", "scale_version", "cases", "direct", "boundary", "panel", "exclude"),
)
LABEL_COLUMNS = ("dataset", "scheme", "version", "label", "how", "low", "high", "cases")
SOURCE_LABEL_COLUMNS = (
    *("case", "dataset", "source_id", "label", "scheme", "version", "how", "low", "high", "file", "digest", "line"),
    "ambiguous",
)
SERIES_COLUMNS = (
    *("scale", "version", "candidate", "format", "source", "cases", "readings", "usable"),
    *("refused", "no_level", "several", "invalid", "missing"),
)
READING_COLUMNS = ("case", "candidate", "format", "sample", "level", "confidence")
JUDGED_COLUMNS = (
    *("case", "candidate", "format", "sample", "replicate", "level", "escalation", "condition"),
    *("quote", "quote_start", "quote_end", "explanation", "answer", "response"),
)
JUDGED_TEXT = ("case", "candidate", "condition", "quote", "explanation", "answer")
UNUSABLE_COLUMNS = ("candidate", "format", "case", "sample", "state", "text", "file", "line")
IMPORT_COLUMNS = (
    *("file", "digest", "shape", "dataset", "scheme", "version", "candidate", "reading_format", "imported_at", "by"),
    *("licence", "may_redistribute"),
)
LEVEL_COLUMNS = (*("scale", "version", "letter", "value", "label_en", "label_zh", "definition_en", "definition_zh"),)
RULE_COLUMNS = ("scale", "scale_version", "scheme", "version", "source_label", "how", "low", "high")
TEXT_COLUMNS = (
    *("candidate", "case", "dataset", "source_id", "source_label", "label", "scheme", "scale", "file", "text", "by"),
    "licence",
    *("value", "label_en", "label_zh", "definition_en", "definition_zh", "low", "high", "level"),
)


@dataclass(frozen=True, slots=True)
class FlowRow:
    """What became of the labelled cases of a dataset by a scheme."""

    dataset: str
    scheme: LabelScheme
    cases: int
    direct: int
    boundary: int
    panel: int
    exclude: int


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A source label of a dataset, what a scheme makes of it, and how many cases have it."""

    dataset: str
    scheme: LabelScheme
    label: str
    how: str
    how_label: str
    becomes: str  # its levels as pages show them; empty for panel and exclude
    low: str
    high: str
    cases: int


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """The readings of a candidate in one format from one source; ``cases`` are those it was asked about.

    ``missing`` counts what files say was not given; None for readings of runs, whose pages count it.
    """

    scale: AcuityScale
    candidate: Candidate
    format: str
    format_label: str
    source: str
    source_label: str
    cases: int
    readings: int
    usable: int
    refused: int
    no_level: int
    several: int
    invalid: int
    missing: int | None


# Labels --------------------------------------------------------------------------------------------------------------


def _labels_of(benchmark: Benchmark) -> QuerySet[SourceLabel]:
    return SourceLabel.objects.filter(scheme__scale__benchmark=benchmark)


def _schemes_by_id(benchmark: Benchmark) -> dict[int, LabelScheme]:
    rows = LabelScheme.objects.filter(scale__benchmark=benchmark).select_related("scale")
    return {scheme.pk: scheme for scheme in rows}


def label_rows(benchmark: Benchmark) -> list[LabelRow]:
    """A row for each dataset, scheme and source label, by the urgency of what it becomes."""
    schemes = _schemes_by_id(benchmark)
    counts = (_labels_of(benchmark).order_by().values("dataset", "scheme_id", "label", "how", "low", "high")).annotate(
        cases=Count("pk")
    )
    rows = []
    for count in counts:
        scheme = schemes[count["scheme_id"]]
        scale = scale_of(scheme.scale)
        low, high = count["low"], count["high"]
        rows.append(
            LabelRow(
                dataset=count["dataset"],
                scheme=scheme,
                label=count["label"],
                how=count["how"],
                how_label=str(HowMapped(count["how"]).label),
                becomes=shown_mapping(scale, low, high),
                low="" if low is None else scale.values[low],
                high="" if high is None else scale.values[high],
                cases=count["cases"],
            )
        )
    return sorted(rows, key=lambda row: (row.dataset, row.scheme.name, -row.scheme.version, -row.cases, row.label))


def flow_rows(labels: list[LabelRow]) -> list[FlowRow]:
    """A row for each dataset and scheme, from the rows of `label_rows`."""
    cases: dict[tuple[str, int], Counter[str]] = {}
    schemes = {row.scheme.pk: row.scheme for row in labels}
    for row in labels:
        cases.setdefault((row.dataset, row.scheme.pk), Counter())[row.how] += row.cases
    return [
        FlowRow(
            dataset=dataset,
            scheme=schemes[scheme],
            cases=own.total(),
            direct=own["direct"],
            boundary=own["boundary"],
            panel=own["panel"],
            exclude=own["exclude"],
        )
        for (dataset, scheme), own in cases.items()
    ]


def flow_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``flow.csv``."""
    for row in flow_rows(label_rows(benchmark)):
        scheme = row.scheme
        yield (
            *(row.dataset, scheme.name, scheme.version, scheme.scale.name, scheme.scale.version),
            *(row.cases, row.direct, row.boundary, row.panel, row.exclude),
        )


def labels_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``labels.csv``."""
    for row in label_rows(benchmark):
        yield row.dataset, row.scheme.name, row.scheme.version, row.label, row.how, row.low, row.high, row.cases


def source_labels(benchmark: Benchmark) -> QuerySet[SourceLabel]:
    """Every label of every case, in the order in which they came."""
    rows = _labels_of(benchmark).select_related("case", "scheme__scale", "acuity_import").order_by("pk")
    return rows.only(
        *("dataset", "source_id", "label", "how", "low", "high", "line", "is_flagged", "case__key"),
        "case__benchmark_id",
        *("scheme__name", "scheme__version", "scheme__scale__name", "scheme__scale__levels"),
        *("acuity_import__file_name", "acuity_import__file_digest"),
    )


def source_labels_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``source_labels.csv``."""
    for row in source_labels(benchmark).iterator(chunk_size=CHUNK):
        values = [level["value"] for level in row.scheme.scale.levels]
        yield (
            *(row.case.key, row.dataset, row.source_id, row.label, row.scheme.name, row.scheme.version, row.how),
            *("" if place is None else values[place] for place in (row.low, row.high)),
            *(row.acuity_import.file_name, row.acuity_import.file_digest, row.line),
            {True: "true", False: "false", None: ""}[row.is_flagged],
        )


# Readings ------------------------------------------------------------------------------------------------------------


def readings(benchmark: Benchmark) -> QuerySet[AcuityReading]:
    """Every reading of what was said as it stands, also where nothing was, in the order in which they came."""
    rows = AcuityReading.objects.filter(scale__benchmark=benchmark).exclude(source=AcuityReading.Source.EDITED)
    return rows.order_by("pk").select_related(
        "scale", "case", "candidate", "acuity_import", "judge_run", "pipeline_run", "response"
    )


def _imported() -> QuerySet[AcuityReading]:
    """Readings that files brought; those of a judge are of its run (`judged_readings`)."""
    return AcuityReading.objects.filter(source=AcuityReading.Source.IMPORTED)


def judged_readings(run: JudgeRun, *, state: str = "", candidate: str = "") -> QuerySet[AcuityReading]:
    """The readings of a run of a judge, narrowed by state and by a candidate's public id, response by response."""
    rows = AcuityReading.objects.filter(judge_run=run)
    if state:
        rows = rows.filter(state=state)
    if candidate:
        rows = rows.filter(candidate__public_id=candidate)
    return rows.order_by("case__key", "candidate__name", "sample", "replicate")


@dataclass(frozen=True, slots=True)
class ShownReading:
    """A judge's reading beside its response: the text before the quote, the quote, and the text behind it."""

    reading: AcuityReading
    level: ShownLevel | None
    escalation: ShownLevel | None
    before: str
    quote: str
    after: str


def shown_reading(reading: AcuityReading, levels: Sequence[ShownLevel], *, edited: bool = False) -> ShownReading:
    """A reading for a page. ``edited``: of the response with the text of the replicate in it."""
    assert reading.response is not None
    text = reading.response.text
    if edited:
        text = with_level_text(text, reading.replicate)
    start, end = reading.quote_start or 0, reading.quote_end or 0
    return ShownReading(
        reading,
        None if reading.level is None else levels[reading.level],
        None if reading.escalation is None else levels[reading.escalation],
        *(text[:start], text[start:end], text[end:]),
    )


def judged_csv(rows: QuerySet[AcuityReading]) -> Iterator[tuple[Any, ...]]:
    """Rows of the file of a judge's readings, in `JUDGED_COLUMNS`."""
    columns = ("case__key", "candidate__name", "sample", "replicate", "state", "level", "escalation", "condition")
    more = ("quote", "quote_start", "quote_end", "explanation", "call__raw", "scale__levels", "response__public_id")
    for *place, state, level, escalation, condition, quote, start, end, why, raw, levels, response in rows.values_list(
        *columns, *more
    ).iterator(chunk_size=CHUNK):
        values = [entry["value"] for entry in levels]
        yield (
            *(place[0], place[1], "chat", place[2], place[3], state if level is None else values[level]),
            *("" if escalation is None else values[escalation], condition, quote, start, end, why),
            *(raw or "" if state == State.INVALID else "", response),
        )


def _still_missing(rows: QuerySet[AcuityReading]) -> QuerySet[AcuityReading]:
    """Of ``rows`` those that give an answer, and those of answers that no other row gives."""
    places = {name: OuterRef(name) for name in ("scale", "candidate", "case", "format", "sample")}
    given = _imported().filter(**places).exclude(state=State.MISSING)
    return rows.filter(~Q(state=State.MISSING) | ~Exists(given))


def series_rows(benchmark: Benchmark) -> list[SeriesRow]:
    """A row for each scale, candidate, format and source; of a judge's replicates the first counts."""
    own = AcuityReading.objects.filter(scale__benchmark=benchmark, replicate=0).order_by()
    own = own.exclude(source=AcuityReading.Source.EDITED)
    names = ("scale_id", "candidate_id", "format", "source")
    counts = own.values(*names).annotate(
        cases=Count("case", distinct=True),
        readings=Count("pk", filter=~Q(state=State.MISSING)),
        **{f"n_{state.name.lower()}": Count("pk", filter=Q(state=state)) for state in State},
    )
    gaps = _still_missing(own.filter(state=State.MISSING)).values_list(*names, "case_id", "sample").distinct()
    missing = Counter(tuple(gap[:4]) for gap in gaps.iterator(chunk_size=CHUNK))
    scales = AcuityScale.objects.filter(benchmark=benchmark).in_bulk()
    candidates = Candidate.objects.filter(benchmark=benchmark).in_bulk()
    formats, sources = AcuityReading.Format, AcuityReading.Source
    rows = [
        SeriesRow(
            scale=scales[count["scale_id"]],
            candidate=candidates[count["candidate_id"]],
            format=count["format"],
            format_label=str(formats(count["format"]).label),
            source=count["source"],
            source_label=str(sources(count["source"]).label),
            cases=count["cases"],
            readings=count["readings"],
            usable=count["n_level"],
            refused=count["n_refused"],
            no_level=count["n_no_level"],
            several=count["n_several"],
            invalid=count["n_invalid"],
            missing=missing[tuple(count[name] for name in names)] if count["source"] == sources.IMPORTED else None,
        )
        for count in counts
    ]
    order = {formats.FORCED_CHOICE.value: 0, formats.CHAT.value: 1}
    return sorted(
        rows,
        key=lambda row: (row.scale.name, -row.scale.version, row.candidate.name, order.get(row.format, 2), row.source),
    )


def series_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``candidates.csv``."""
    for row in series_rows(benchmark):
        yield (
            *(row.scale.name, row.scale.version, row.candidate.name, row.format, row.source),
            *(row.cases, row.readings, row.usable, row.refused, row.no_level, row.several, row.invalid),
            "" if row.missing is None else row.missing,
        )


def scales_with_readings(benchmark: Benchmark) -> list[AcuityScale]:
    """The scales that imported readings are on, that of the newest reading first."""
    rows = _imported().filter(scale__benchmark=benchmark).order_by()
    newest = dict(rows.values_list("scale").annotate(newest=Max("pk")))
    scales = AcuityScale.objects.in_bulk(newest)
    return sorted(scales.values(), key=lambda scale: newest[scale.pk], reverse=True)


def readings_csv(scale: AcuityScale) -> Iterator[tuple[Any, ...]]:
    """Rows of ``readings.csv``, which `import_acuity` reads as long-csv; a missing answer has no level."""
    values = [level["value"] for level in scale.levels]
    rows = _still_missing(_imported().filter(scale=scale)).order_by(
        # The forced choice (qa) before chat.
        *("candidate__name", "-format", "case__key", "sample", "pk")
    )
    columns = ("case__key", "candidate__name", "format", "sample", "state", "level", "confidence")
    before: tuple[Any, ...] = ()
    for *place, state, level, confidence in rows.values_list(*columns).iterator(chunk_size=CHUNK):
        if tuple(place) == before:
            continue  # left out by several files
        before = tuple(place)
        text = "" if state == State.MISSING else state if level is None else values[level]
        yield (*place, text, confidence)


def unusable_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``unusable.csv``: readings that say no one level, word for word."""
    rows = _imported().filter(scale__benchmark=benchmark).exclude(state__in=(State.LEVEL, State.MISSING))
    columns = ("candidate__name", "format", "case__key", "sample", "state", "text", "acuity_import__file_name", "line")
    ordered = rows.order_by("candidate__name", "-format", "case__key", "sample", "pk")
    yield from ordered.values_list(*columns).iterator(chunk_size=CHUNK)


# Imports, scales and schemes -----------------------------------------------------------------------------------------


def imports(benchmark: Benchmark) -> QuerySet[Any]:
    """What was imported, the newest first, with ``licence`` and ``may_redistribute`` of its dataset."""
    own = AcuityDataset.objects.filter(benchmark=benchmark, name=OuterRef("dataset"))
    rows = AcuityImport.objects.filter(benchmark=benchmark).select_related("scheme__scale", "created_by")
    rows = rows.annotate(
        licence=Coalesce(Subquery(own.values("licence")), Value("")),
        may_redistribute=Exists(own.filter(may_redistribute=True)),
    )
    return rows.order_by("-created_at", "-pk")


def imports_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``imports.csv``."""
    for row in imports(benchmark).iterator(chunk_size=CHUNK):
        yield (
            *(row.file_name, row.file_digest, row.shape, row.dataset, row.scheme.name, row.scheme.version),
            *(row.options.get("candidate", ""), row.options.get("reading_format", ""), row.created_at.isoformat()),
            *(str(row.created_by or ""), row.licence, row.may_redistribute),
        )


def datasets(benchmark: Benchmark) -> list[str]:
    """The names of datasets that something was imported of."""
    rows = AcuityImport.objects.filter(benchmark=benchmark).order_by()
    return sorted(rows.values_list("dataset", flat=True).distinct())


def labelled_datasets(benchmark: Benchmark) -> list[str]:
    """The names of datasets that have labels."""
    return sorted(_labels_of(benchmark).order_by().values_list("dataset", flat=True).distinct())


def scales(benchmark: Benchmark) -> QuerySet[AcuityScale]:
    """The scales of a benchmark with their schemes and rules, the newest version first."""
    rows = AcuityScale.objects.filter(benchmark=benchmark).order_by("name", "-version")
    return rows.prefetch_related("schemes__rules")


def schemes(benchmark: Benchmark) -> QuerySet[LabelScheme]:
    """The schemes of a benchmark with their rules."""
    rows = LabelScheme.objects.filter(scale__benchmark=benchmark).select_related("scale")
    return rows.prefetch_related("rules").order_by("scale__name", "-scale__version", "name", "-version")


def levels_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``scales.csv``."""
    for row in scales(benchmark):
        scale = scale_of(row)
        for letter, level in zip(scale.letters, scale.levels, strict=True):
            yield (
                *(row.name, row.version, letter, level.value, level.label_en, level.label_zh),
                *(level.definition_en, level.definition_zh),
            )


def rules_csv(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Rows of ``rules.csv``."""
    for scheme in schemes(benchmark):
        values = [level["value"] for level in scheme.scale.levels]
        for rule in scheme.rules.all():
            yield (
                *(scheme.scale.name, scheme.scale.version, scheme.name, scheme.version, rule.source_label, rule.how),
                *("" if place is None else values[place] for place in (rule.low, rule.high)),
            )


def newest_scale(benchmark: Benchmark, name: str) -> AcuityScale | None:
    """The newest version of a scale."""
    return AcuityScale.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()


def newest_scheme(scale: AcuityScale, name: str) -> LabelScheme | None:
    """The newest version of a scheme on a scale."""
    return LabelScheme.objects.filter(scale=scale, name=name).select_related("scale").order_by("-version").first()


def scale_called(benchmark: Benchmark, name: str) -> Scale | None:
    """The newest version of a scale of that name, else the starter."""
    row = newest_scale(benchmark, name)
    return scale_of(row) if row is not None else STARTERS.get(name)


def scheme_called(benchmark: Benchmark, scale: str, name: str) -> Scheme | None:
    """The newest version of a scheme of that name on the newest version of the scale, else the starter."""
    row = newest_scale(benchmark, scale)
    stored = newest_scheme(row, name) if row is not None else None
    if stored is not None:
        return stored_scheme(stored)
    own = scale_called(benchmark, scale)
    try:
        return scheme_of(name, own) if own is not None and name in SCHEMES else None
    except NoScheme:
        return None


def scales_on_offer(benchmark: Benchmark) -> dict[str, Scale]:
    """By name the newest version of each scale: the starters, then the benchmark's own. One query."""
    own = {row.name: scale_of(row) for row in AcuityScale.objects.filter(benchmark=benchmark).order_by("version")}
    names = [*STARTERS, *sorted(set(own) - set(STARTERS))]
    return {name: own[name] if name in own else STARTERS[name] for name in names}


def schemes_on_offer(benchmark: Benchmark) -> list[Scheme]:
    """The newest version of each scheme on the newest version of each scale that it has rules for. Three queries.

    Scales that readings or labels are on already come first, then that of four levels; on a scale the starters come
    before the benchmark's own.
    """
    newest = {row.name: row for row in AcuityScale.objects.filter(benchmark=benchmark).order_by("version")}
    stored: dict[str, dict[str, Scheme]] = {}
    rows = LabelScheme.objects.filter(scale__in=newest.values()).select_related("scale").prefetch_related("rules")
    for row in rows.order_by("version"):
        stored.setdefault(row.scale.name, {})[row.name] = stored_scheme(row)
    scales = {name: scale_of(newest[name]) if name in newest else STARTERS[name] for name in [*newest, *STARTERS]}
    schemes = []
    for name in sorted(scales, key=lambda name: (name not in newest, name != FOUR.name)):
        own = stored.get(name, {})
        for scheme in [*SCHEMES, *sorted(set(own) - set(SCHEMES))]:
            try:
                schemes.append(own[scheme] if scheme in own else scheme_of(scheme, scales[name]))
            except NoScheme:
                continue
    return schemes


def scale_names(benchmark: Benchmark) -> list[str]:
    """The starters, then the benchmark's own."""
    own = AcuityScale.objects.filter(benchmark=benchmark).order_by().values_list("name", flat=True).distinct()
    return [*STARTERS, *sorted(set(own) - set(STARTERS))]


def scheme_names(benchmark: Benchmark) -> list[str]:
    """The starters, then the benchmark's own."""
    rows = LabelScheme.objects.filter(scale__benchmark=benchmark).order_by()
    own = rows.values_list("name", flat=True).distinct()
    return [*SCHEMES, *sorted(set(own) - set(SCHEMES))]
