"""Scales, schemes, datasets, files, cases, labels and readings of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from psycopg.types.json import Jsonb

from consilium.core.errors import DomainError
from consilium.core.identifiers import new_public_id
from releases.acuity_import.importing import AcuityImporting, checked_moment
from releases.acuity_import.runs import OF_NO_RUN, RUN_COLUMNS, RunReadings, write_responses, write_runs
from releases.content import acuity_files as files
from releases.verification.acuity_content import Row, mapped_of, readings_of, scheme_key
from rubrics.acuity import services
from rubrics.acuity.case_texts import conversation_text, text_digest
from rubrics.imports.bulk import chunks, copy_rows, reserve_ids
from rubrics.models import AcuityDataset, AcuityImport, Candidate, Case, SourceLabel
from scoring.acuity.importing import CASE_COLUMNS, LABEL_COLUMNS, READING_COLUMNS
from scoring.models import AcuityReading

LOOKUP = 5_000
_MISSING = AcuityReading.State.MISSING.value


def write_cases_and_readings(importing: AcuityImporting) -> None:
    """Write what is not there yet; what is there otherwise is a fault."""
    _scales(importing)
    importing.refuse_if_any()
    _datasets(importing)
    _imports(importing)
    _cases(importing)
    importing.refuse_if_any()
    _labels(importing)
    write_responses(importing)
    importing.refuse_if_any()
    write_runs(importing)
    importing.refuse_if_any()
    _readings(importing)
    importing.refuse_if_any()


def _scales(importing: AcuityImporting) -> None:
    given: dict[str, Any] = {"by": importing.by, "at": importing.at}
    for key, scale in importing.content.scales.items():
        try:
            row, created = services.restore_scale(benchmark=importing.benchmark, scale=scale, version=key[1], **given)
        except DomainError as error:
            importing.faults.add(files.SCALE, 0, scale.name, str(error))
            continue
        importing.scales[key] = row
        importing.count("scales", created=created, unchanged=not created)
    importing.refuse_if_any()
    for scheme_of, scheme in importing.content.schemes.items():
        try:
            scheme_row, created = services.restore_scheme(
                scale=importing.scales[scheme_of[:2]], scheme=scheme, version=scheme_of[3], **given
            )
        except DomainError as error:
            importing.faults.add(files.SCHEMES, 0, scheme.name, str(error))
            continue
        importing.schemes[scheme_of] = scheme_row
        importing.count("schemes", created=created, unchanged=not created)


def _datasets(importing: AcuityImporting) -> None:
    """A licence that the benchmark has for a dataset stays; another one is a fault."""
    rows = AcuityDataset.objects.filter(benchmark=importing.benchmark)
    stored = {name: (licence, may) for name, licence, may in rows.values_list("name", "licence", "may_redistribute")}
    for name, (licence, may) in importing.content.datasets.items():
        if name in stored and stored[name] != (licence, may) and (licence or may):
            message = _("The dataset “%(name)s” has a different licence in this benchmark.")
            importing.faults.add(files.DATASETS, 0, "licence", message % {"name": name[:80]})
        elif name not in stored and (licence or may):
            try:
                services.set_dataset_licence(
                    benchmark=importing.benchmark, name=name, licence=licence, may_redistribute=may,
                    by=importing.by, at=importing.at,
                )  # fmt: skip
            except DomainError as error:
                importing.faults.add(files.DATASETS, 0, name[:80], str(error))


def _imports(importing: AcuityImporting) -> None:
    """The files that labels and readings came from, as they were imported there."""
    stored: dict[tuple[Any, ...], list[AcuityImport]] = {}
    for row in AcuityImport.objects.filter(benchmark=importing.benchmark).order_by("pk"):
        stored.setdefault(_import_key(row), []).append(row)
    for number, (line, record) in importing.content.imports.items():
        scheme = importing.schemes.get(scheme_key(record))
        if scheme is None:
            message = _("The release does not contain “%(value)s”.")
            importing.faults.add(files.IMPORTS, line, "scheme", message % {"value": record["scheme"][:80]})
            continue
        new = AcuityImport(
            benchmark=importing.benchmark,
            dataset=record["dataset"],
            scheme=scheme,
            file_name=record["file"],
            file_digest=record["digest"],
            shape=record["shape"],
            options={name: record[name] for name in ("candidate", "reading_format")},
            created_by=None,
            created_at=checked_moment(record["imported_at"]),
        )
        same = stored.get(_import_key(new), [])
        if same:
            importing.imports[number] = same.pop(0)
        else:
            new.save()
            importing.imports[number] = new


def _import_key(row: AcuityImport) -> tuple[Any, ...]:
    options = (row.options.get("candidate", ""), row.options.get("reading_format", ""))
    return row.dataset, row.scheme_id, row.file_name, row.file_digest, row.shape, *options, row.created_at


# Cases ----------------------------------------------------------------------------------------------------------------


def _cases(importing: AcuityImporting) -> None:
    """Cases by their keys: those that are missing are made, stubs without a text, and stubs get the text that is here.

    A case that the release has with its rubric is imported with it, before.
    """
    rows = importing.content.cases
    known: dict[str, Case] = {}
    for some in chunks(rows, LOOKUP):
        cases = Case.with_stubs.filter(benchmark=importing.benchmark, key__in=some)
        known.update(
            (case.key, case) for case in cases.only("key", "conversation", "is_stub", "metadata", "excluded_at")
        )
    new: list[Row] = []
    filled: list[Case] = []
    included = 0
    for key, (line, row) in rows.items():
        case = known.get(key)
        if case is None:
            if row["released"] == "true":
                message = _("The case “%(key)s” is not in this benchmark: import the cases of the release first.")
                importing.faults.add(files.CASES, line, "case", message % {"key": key[:80]})
            new.append(row)
            continue
        included += bool(row["excluded"]) and case.excluded_at is None
        stored = text_digest(conversation_text(case.conversation))
        if stored and row["digest"] and stored != row["digest"]:
            message = _("The case “%(key)s” is stored with a different text (SHA-256 %(stored)s…, here %(here)s…).")
            given = {"key": key[:80], "stored": stored[:12], "here": row["digest"][:12]}
            importing.faults.add(files.CASES, line, "digest", message % given)
        elif case.is_stub and row.get("prompt"):
            case.conversation, case.is_stub = row["prompt"], False
            case.metadata = {**case.metadata, **_metadata(row)}
            filled.append(case)
    if included:
        message = _("Cases that the release excludes but this benchmark does not: %(n)s. Reports here include them.")
        importing.warnings.append(message % {"n": included})
    importing.refuse_if_any()
    ids = reserve_ids(Case, len(new))
    copy_rows(Case, CASE_COLUMNS, (_case_row(importing, pk, row) for pk, row in zip(ids, new, strict=True)))
    Case.with_stubs.bulk_update(filled, ["conversation", "is_stub", "metadata"], batch_size=500)
    excluded: dict[str, list[int]] = {}
    for pk, row in zip(ids, new, strict=True):
        if row["excluded"]:
            kind = row["excluded"] if row["excluded"] in Case.Exclusion.values else Case.Exclusion.DECISION.value
            excluded.setdefault(kind, []).append(pk)
    for kind, pks in excluded.items():
        Case.with_stubs.filter(pk__in=pks).update(
            excluded_at=importing.at, exclusion=kind, exclusion_reason=_("Excluded where the release was made.")
        )
    importing.cases = {row["case"]: pk for pk, row in zip(ids, new, strict=True)} | {
        key: case.pk for key, case in known.items()
    }
    stubs = sum("prompt" not in row for row in new)
    with_text = len(new) - stubs + len(filled)
    importing.count(
        "cases", created=with_text, unchanged=sum(not case.is_stub for case in known.values()) - len(filled)
    )
    importing.count("stubs", created=stubs, unchanged=sum(case.is_stub for case in known.values()))


def _metadata(row: Row) -> dict[str, dict[str, str]]:
    return {"acuity": {"dataset": row["dataset"]}} if row["dataset"] else {}


def _case_row(importing: AcuityImporting, pk: int, row: Row) -> tuple[Any, ...]:
    conversation = [{"role": turn["role"], "content": turn["content"]} for turn in row.get("prompt", ())]
    return (
        *(pk, new_public_id(), importing.benchmark.pk, row["case"], Jsonb(conversation), "", "", "", "", "{}", "{}"),
        *(Jsonb(_metadata(row)), importing.at, not conversation),
    )


# Labels and readings --------------------------------------------------------------------------------------------------


def _labels(importing: AcuityImporting) -> None:
    rows = SourceLabel.objects.filter(case__benchmark=importing.benchmark)
    stored = {
        (case, dataset, scheme): (label, source_id, files.FLAGS[flag])
        for case, dataset, scheme, label, source_id, flag in rows.values_list(
            "case_id", "dataset", "scheme_id", "label", "source_id", "is_flagged"
        )
    }
    flags = {text: flag for flag, text in files.FLAGS.items()}
    new: list[tuple[Any, ...]] = []
    for line, row in importing.content.labels:
        scheme = importing.schemes[scheme_key(row)]
        case = importing.cases[row["case"]]
        before = stored.get((case, row["dataset"], scheme.pk))
        if before is None:
            mapped = mapped_of(row, importing.content.schemes[scheme_key(row)].scale)
            assert mapped is not None  # checked
            new.append(
                (
                    *(case, row["dataset"], row["source_id"], row["label"], scheme.pk, mapped.how.value),
                    *(mapped.low, mapped.high, importing.imports[row["import"]].pk, row["line"]),
                    flags[row["ambiguous"]],
                )
            )
        elif before != (row["label"], row["source_id"], row["ambiguous"]):
            message = _("The case “%(key)s” already has a different label in this dataset: “%(label)s”.")
            given = {"key": row["case"][:80], "label": before[0][:80]}
            importing.faults.add(files.LABELS, line, "label", message % given)
    importing.refuse_if_any()
    copy_rows(SourceLabel, LABEL_COLUMNS, new)
    importing.count("labels", created=len(new), unchanged=len(importing.content.labels) - len(new))


def _readings(importing: AcuityImporting) -> None:
    candidates = importing.candidates
    # Before the COPY: as long as it runs, the connection takes no other statement.
    names = dict.fromkeys(row["candidate"] for _line, row in readings_of(importing.content, importing.faults))
    ids = {name: candidates.get(name, Candidate.Kind.MODEL).pk for name in names}
    of_runs = RunReadings(importing)
    of_runs.write_places()
    importing.refuse_if_any()
    stored = _stored_readings(importing)
    counts = {"readings": [0, 0], "missing readings": [0, 0]}  # created, unchanged

    def new_rows() -> Iterator[tuple[Any, ...]]:
        for line, row in readings_of(importing.content, importing.faults):
            scale = row["scale"], row["scale_version"]
            levels = importing.content.scales[scale].values
            level = levels.index(row["level"]) if row["state"] == AcuityReading.State.LEVEL else None
            candidate, case = ids[row["candidate"]], importing.cases[row["case"]]
            place = (importing.scales[scale].pk, case, candidate, row["format"], row["sample"])
            is_missing = row["state"] == _MISSING
            if row["source"] != AcuityReading.Source.IMPORTED:
                if is_missing:
                    continue  # its step or item says so
                rest, is_new = of_runs.reading(line, row, level, levels)
                counts["readings"][not is_new] += 1
                if is_new:
                    given = (row["state"], level, row["confidence"], row["text"])
                    yield (*place, row["source"], None, None, *given, *rest)
                continue
            imported = importing.imports[row["import"]].pk
            before = stored.get((*place, imported if is_missing else 0))
            counts["missing readings" if is_missing else "readings"][before is not None] += 1
            if before is None:
                yield (
                    *(*place, row["source"], imported, row["line"], row["state"], level),
                    *(row["confidence"], row["text"], *OF_NO_RUN),
                )
            elif not _is_same(before, row, level):
                message = _("“%(candidate)s” already has a different answer in this sample.")
                importing.faults.add(files.READINGS, line, "level", message % {"candidate": row["candidate"][:80]})

    copy_rows(AcuityReading, (*READING_COLUMNS, *RUN_COLUMNS), new_rows())
    importing.count("candidates", created=candidates.created, unchanged=candidates.unchanged)
    for name, (created, unchanged) in counts.items():
        importing.count(name, created=created, unchanged=unchanged)


def _stored_readings(importing: AcuityImporting) -> Mapping[tuple[Any, ...], tuple[Any, ...]]:
    scales = [scale.pk for scale in importing.scales.values()]
    rows = AcuityReading.objects.filter(scale__in=scales, source=AcuityReading.Source.IMPORTED)
    columns = ("scale_id", "case_id", "candidate_id", "format", "sample", "acuity_import_id")
    stored = {}
    for *place, imported, state, level, confidence, text in rows.values_list(
        *columns, "state", "level", "confidence", "text"
    ).iterator(LOOKUP):
        stored[(*place, imported if state == _MISSING else 0)] = (state, level, confidence, text)
    return stored


def _is_same(before: tuple[Any, ...], row: Row, level: int | None) -> bool:
    """Whether an answer is the stored one; a release without the words of readings says nothing of them."""
    state, stored_level, confidence, text = before
    if (state, stored_level, confidence) != (row["state"], level, row["confidence"]):
        return False
    return row["text"] in ("", text)
