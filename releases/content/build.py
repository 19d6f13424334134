"""Write a release into a folder: the same content, options, version and date give the same bytes.

One pass over the cases writes both forms, the table of criteria and the splits; nothing grows with the number of
decisions. The files that describe the others (Croissant, card, release.json, SHA256SUMS) are written last.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from agreement.models import NamedSlice
from annotation.contributions import acknowledged_names
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.version import VERSION
from releases.content import acuity, attributes, failure_codes, later_decisions, optional_content
from releases.content.card import CardFacts, data_card
from releases.content.cases import cases_to_release, released_cases, withheld_cases
from releases.content.citation import Cited, bibtex, cff, one_line
from releases.content.citations import (
    CITATION_COLUMNS,
    CITATION_TEXT,
    DOCUMENT_COLUMNS,
    DOCUMENT_TEXT,
    CitedDocuments,
    citation_rows,
    cited_places,
)
from releases.content.clinconsensus import clinconsensus
from releases.content.croissant import croissant
from releases.content.folder import Folder, OpenFile
from releases.content.healthbench import healthbench
from releases.content.healthbench_professional import PATH as PROFESSIONAL
from releases.content.healthbench_professional import healthbench_professional
from releases.content.later_decisions import LaterDecisions
from releases.content.licences import licence_text
from releases.content.options import ReleaseOptions
from releases.content.process import process_facts
from releases.content.prompts import judge_prompts
from releases.content.record import CitedPlace, ReleasedCase
from releases.content.schemas import SCHEMAS, schema_of
from releases.content.suggestions import (
    FACT_COLUMNS,
    FACT_TEXT,
    SUGGESTION_COLUMNS,
    SUGGESTION_TEXT,
    SuggestedPlace,
    check_no_rules,
    fact_rows,
    suggestion_rows,
)
from releases.content.tables import (
    RUBRIC_COLUMNS,
    RUBRIC_TEXT,
    SLICE_COLUMNS,
    Slices,
    rubric_rows,
    splits_of,
)
from rubrics.models import Benchmark

# The version of the format of a release, for programs that read it. From 2 on `documents.csv` has the documents on
# which facts rest.
FORM = 2
_REPORTED = 50  # cases between two reports of progress
# The approximate share of a release's time that the cases take; the optional content takes the rest.
_SHARE_OF_CASES = 0.6


@dataclass(frozen=True, slots=True)
class ReleaseOrder:
    """What is released. ``date`` is the day of the release; no other clock is read."""

    benchmark: Benchmark
    version: str
    date: date
    notes: str
    options: ReleaseOptions


@dataclass(frozen=True, slots=True)
class Built:
    """``digest`` is the SHA-256 of SHA256SUMS, which names every file; ``facts`` go into the row of the release."""

    digest: str
    facts: dict[str, Any]


def check(benchmark: Benchmark, options: ReleaseOptions) -> None:
    """Check the order; `DomainError` where such a release could never be made."""
    if not benchmark.licence.strip() and not options.no_licence:
        raise DomainError(
            _("The benchmark has no licence. Enter one in its settings, or explicitly release it without one.")
        )
    acuity.check(benchmark, options)
    failure_codes.check(benchmark, options)
    check_no_rules(benchmark)
    if not options.acuity and not cases_to_release(benchmark).exists():
        if acuity.has_acuity(benchmark):
            raise DomainError(_("No case has a published rubric yet. Include acuity, which needs no rubric."))
        raise DomainError(_("No case has a published rubric yet, so there is nothing to release."))
    optional_content.check_names(benchmark, options)


def build(spec: ReleaseOrder, root: Path, progress: Progress = no_progress) -> Built:
    """Write the release into ``root``, an empty folder."""
    check(spec.benchmark, spec.options)
    folder = Folder(root)
    left_out: Counter[str] = Counter()
    counts: Counter[str] = Counter(cases=0, criteria=0)
    slices = Slices()
    places: list[CitedPlace] = []
    suggested: list[SuggestedPlace] = []
    keys = _write_cases(spec, folder, counts, left_out, slices, (places, suggested), progress)
    documents = CitedDocuments({})
    if suggested:
        _write_suggestions(spec.benchmark, folder, counts, suggested, documents)
    if places or documents.documents:
        _write_citations(spec.benchmark, folder, counts, places, documents)
    left_out["cases_of_datasets_not_passed_on"] = withheld_cases(spec.benchmark).count()
    folder.csv("slices.csv", SLICE_COLUMNS, slices.rows(), text_columns=("slice",))
    _write_work(spec, folder, keys, counts, left_out)
    progress(0.95)
    _write_about(spec, folder, counts, left_out, slices)
    digest = folder.seal()
    facts = {
        "counts": dict(counts),
        "files": [asdict(folder.files[path]) for path in sorted(folder.files)],
        "left_out": {name: count for name, count in left_out.items() if count},
        "citation": {"line": one_line(cited(spec)), "bibtex": bibtex(cited(spec))},
    }
    return Built(digest, facts)


# Cases ----------------------------------------------------------------------------------------------------------------


def _write_cases(
    spec: ReleaseOrder,
    folder: Folder,
    counts: Counter[str],
    left_out: Counter[str],
    slices: Slices,
    noted: tuple[list[CitedPlace], list[SuggestedPlace]],
    progress: Progress,
) -> set[str]:
    """Write the forms, the criteria and the splits; return the keys of the cases.

    ``noted`` takes what the criteria cite, and the suggestions that they began as.
    """
    places, suggested = noted
    total = cases_to_release(spec.benchmark).count()
    named = _named_slices(spec.benchmark)
    keys: set[str] = set()
    # Files that are there only if a case belongs into them, by path.
    on_demand: dict[str, OpenFile] = {}

    def line(path: str, record: dict[str, Any]) -> None:
        if path not in on_demand:
            on_demand[path] = folder.open(path)
        on_demand[path].line(record)

    def split(name: str, case: ReleasedCase, part: str) -> None:
        line(f"splits/{name}.jsonl", {"case": case.key, "split": part})

    def rows() -> Any:
        for number, (case, subsets) in enumerate(_with_slices(spec.benchmark, named), start=1):
            keys.add(case.key)
            first.line(healthbench(case, spec.benchmark.canary))
            other = clinconsensus(case, reference_answer=spec.options.reference_answers, left_out=left_out)
            if other is not None:
                second.line(other)
            if case.is_professional:
                line(PROFESSIONAL, healthbench_professional(case))
            for name, part in splits_of(case):
                split(name, case, part)
            for subset in subsets:
                split("subset", case, subset)
            slices.add(case, subsets)
            places.extend(cited_places(case))
            suggested.extend(
                SuggestedPlace(case.key, each.position, each.suggestion) for each in case.criteria if each.suggestion
            )
            _count(case, counts)
            yield from rubric_rows(case)
            if number % _REPORTED == 0:
                progress(_SHARE_OF_CASES * number / max(total, 1))

    with ExitStack() as closing:
        first, second = folder.open("cases/healthbench.jsonl"), folder.open("cases/clinconsensus.jsonl")
        closing.callback(first.close)
        closing.callback(second.close)
        folder.csv("rubrics.csv", RUBRIC_COLUMNS, rows(), text_columns=RUBRIC_TEXT)
        for file in on_demand.values():
            file.close()
    counts["clinconsensus_cases"] = folder.files["cases/clinconsensus.jsonl"].rows or 0
    if PROFESSIONAL in folder.files:
        counts["professional_cases"] = folder.files[PROFESSIONAL].rows or 0
    return keys


def _write_citations(
    benchmark: Benchmark, folder: Folder, counts: Counter[str], places: list[CitedPlace], documents: CitedDocuments
) -> None:
    rows = citation_rows(benchmark, places, documents)
    counts["citations"] = folder.csv("citations.csv", CITATION_COLUMNS, rows, text_columns=CITATION_TEXT)
    counts["documents"] = folder.csv("documents.csv", DOCUMENT_COLUMNS, documents.rows(), text_columns=DOCUMENT_TEXT)


def _write_suggestions(
    benchmark: Benchmark,
    folder: Folder,
    counts: Counter[str],
    places: list[SuggestedPlace],
    documents: CitedDocuments,
) -> None:
    rows = suggestion_rows(benchmark, places, documents)
    counts["suggestions"] = folder.csv("suggestions.csv", SUGGESTION_COLUMNS, rows, text_columns=SUGGESTION_TEXT)
    facts = fact_rows(benchmark, places, documents)
    counts["facts"] = folder.csv("facts.csv", FACT_COLUMNS, facts, text_columns=FACT_TEXT)


def _named_slices(benchmark: Benchmark) -> dict[str, set[int]]:
    rows = NamedSlice.objects.filter(benchmark=benchmark, retired_at=None).order_by("slug")
    return {slug: set(ids) for slug, ids in rows.values_list("slug", "case_ids")}


def _with_slices(benchmark: Benchmark, named: dict[str, set[int]]) -> Any:
    """Each case with the named slices that it is in."""
    ids = cases_to_release(benchmark).values_list("pk", flat=True).iterator() if named else None
    for case in released_cases(benchmark):
        pk = next(ids) if ids is not None else 0
        yield case, [slug for slug, members in named.items() if pk in members]


def _count(case: ReleasedCase, counts: Counter[str]) -> None:
    positive = sum(each.points > 0 for each in case.criteria)
    counts["cases"] += 1
    counts["criteria"] += len(case.criteria)
    counts["positive_criteria"] += positive
    counts["negative_criteria"] += len(case.criteria) - positive
    counts["turns"] += len(case.conversation)
    counts["ideal_completions"] += bool(case.completions.ideal)
    counts["reference_completions"] += len(case.completions.references)


# What was asked for ---------------------------------------------------------------------------------------------------


def _write_work(
    spec: ReleaseOrder, folder: Folder, keys: set[str], counts: Counter[str], left_out: Counter[str]
) -> None:
    benchmark, options = spec.benchmark, spec.options
    for name, prompt in judge_prompts(benchmark):
        folder.json(name, prompt)
        counts["prompts"] += 1
    if benchmark.rule_sheet.strip():
        folder.text("prompts/rule_sheet.md", benchmark.rule_sheet.rstrip() + "\n")
    if options.responses:
        counts["responses"] = folder.jsonl("responses.jsonl", optional_content.response_rows(benchmark, options))
    if options.decisions:
        counts["decisions"] = folder.csv(
            "decisions.csv",
            optional_content.decision_columns(benchmark),
            optional_content.decision_rows(benchmark, options, keys, left_out),
            text_columns=optional_content.DECISION_TEXT,
        )
    if later_decisions.has_later_decisions(options):
        _write_later_decisions(spec, folder, counts, left_out)
    if options.verdicts:
        counts["verdicts"] = folder.csv(
            "verdicts.csv",
            optional_content.verdict_columns(benchmark),
            optional_content.verdict_rows(benchmark, options, left_out),
            text_columns=optional_content.VERDICT_TEXT,
        )
    if options.codes:
        counts.update(failure_codes.write_codes(benchmark, options, folder, left_out))
    if attributes.names_candidates(options) and (n := attributes.write_attributes(benchmark, options, folder)):
        counts["attributes"] = n
    if options.acuity:
        counts.update(acuity.write_acuity(benchmark, options, folder, keys, left_out))


def _write_later_decisions(spec: ReleaseOrder, folder: Folder, counts: Counter[str], left_out: Counter[str]) -> None:
    """Write the amendments and the rulings, each file only where there are any."""
    later = LaterDecisions(spec.benchmark, spec.options, left_out)
    for name, rows, of_file in (
        (later_decisions.AMENDMENTS, later.amendments(), later_decisions.OF_AMENDMENTS),
        (later_decisions.RULINGS, later.rulings(), later_decisions.OF_RULINGS),
    ):
        first = next(rows, None)
        if first is not None:
            columns = later.columns(of_file)
            count = folder.csv(name, columns, chain([first], rows), text_columns=later_decisions.LATER_TEXT)
            counts[later_decisions.COUNTED[name]] = count


# Metadata -------------------------------------------------------------------------------------------------------------


def cited(spec: ReleaseOrder) -> Cited:
    """The data that a citation of the release names."""
    benchmark = spec.benchmark
    return Cited(
        slug=benchmark.slug,
        title=benchmark.title,
        version=spec.version,
        date=spec.date.isoformat(),
        licence=benchmark.licence.strip(),
        url=spec.options.url,
    )


def _write_about(
    spec: ReleaseOrder, folder: Folder, counts: Counter[str], left_out: Counter[str], slices: Slices
) -> None:
    benchmark, about = spec.benchmark, cited(spec)
    used = {schema_of(path) for path in folder.files} - {""}
    for name in sorted(used):
        folder.json(f"schema/{name}.schema.json", SCHEMAS[name])
    folder.text("LICENSE", licence_text(benchmark.title, benchmark.licence))
    folder.text("CITATION.cff", cff(about))
    folder.json("croissant.json", croissant(about, benchmark.description.strip(), list(folder.files.values())))
    facts = CardFacts(
        cited=about,
        description=benchmark.description.strip(),
        notes=spec.notes.strip(),
        options=spec.options,
        counts=counts,
        left_out=left_out,
        process=process_facts(benchmark),
        canary=benchmark.canary,
        made_up=benchmark.is_demo,
        slices=list(slices.rows()),
        names=acknowledged_names(benchmark) if spec.options.names else [],
        judges_without=optional_content.judges_without(benchmark, spec.options),
    )
    folder.text("DATA_CARD.md", data_card(facts))
    folder.json(
        "release.json",
        {
            "form": FORM,
            "benchmark": benchmark.slug,
            "title": benchmark.title,
            "version": spec.version,
            "date": spec.date.isoformat(),
            "licence": benchmark.licence.strip(),
            "canary": benchmark.canary,
            "software": f"consilium {VERSION}",
            "options": spec.options.as_json(),
            "counts": {name: counts[name] for name in sorted(counts)},
            "left_out": {name: left_out[name] for name in sorted(left_out) if left_out[name]},
            "files": [asdict(folder.files[path]) for path in sorted(folder.files)],
        },
    )
