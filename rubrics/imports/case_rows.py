"""Stores imported cases and rubrics: new ones by COPY; known ones are compared and never changed."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Func
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from psycopg.types.json import Jsonb

from consilium.core.identifiers import new_public_id
from rubrics import cited
from rubrics.editor.citation import Citation, citation_rows
from rubrics.imports.bulk import array_literal, copy_rows, reference_checked_later, reserve_ids
from rubrics.models import Benchmark, Case, Criterion, Register, Rubric, RubricItem
from rubrics.parsing import as_imported
from rubrics.parsing.cases import CaseRecord, CriterionRecord
from rubrics.parsing.faults import Faults

CASE_COLUMNS = (
    *("id", "public_id", "benchmark", "key", "conversation", "reference_answer", "difficulty", "register"),
    *("language", "language_detected", "tags", "label_tags", "metadata", "created_at"),
)
NOTHING_CITED = "[]"  # as JSON: most criteria cite nothing, and dumping a list for every row is slow
REGISTERS = frozenset(Register.values)
MAX_REPEATED = 10
RUBRIC_COLUMNS = ("id", "case", "track", "version", "status", "criterion_count", "provenance", "published_at")
ITEM_COLUMNS = (
    *("rubric", "criterion", "position", "points", "tags"),
    *("source_note", "case_element", "expectation", "bank_item", "citations", "suggestion"),
)


def register_of(user_role: str, mapped: dict[str, str]) -> str:
    """The register of a case: by the benchmark's map; a role that is itself the name of a register needs none."""
    register = mapped.get(user_role) or user_role.strip().lower()
    return register if register in REGISTERS else ""


class CaseWriter:
    """Writes chunks of cases with their rubrics, which arrive published."""

    def __init__(self, benchmark: Benchmark, faults: Faults, at: datetime, *, provenance: str) -> None:
        self.benchmark = benchmark
        self.faults = faults
        self.provenance = provenance
        self._at_text = at.isoformat()  # written once, not for every row
        self.cases: Counter[str] = Counter(created=0, unchanged=0)
        self.criteria: Counter[str] = Counter(created=0, unchanged=0)
        self.unknown_roles: Counter[str] = Counter()
        self.unknown_citations = 0  # of documents that the benchmark does not have
        self._citations: dict[str, Citation] = {}
        self.repeated: list[tuple[int, str]] = []  # line (of the second) and text of criteria that a new case has twice
        self.without_score: list[int] = []  # lines of cases whose criteria are all negative
        self._registers: dict[str, str] = benchmark.maps.get("register", {})
        self._may_exist = Case.with_stubs.filter(benchmark=benchmark).exists()
        self._has_stubs = Case.with_stubs.filter(benchmark=benchmark, is_stub=True).exists()

    def write(self, records: Sequence[CaseRecord]) -> dict[str, int]:
        """Write the new cases among ``records``, compare the others; the ids of all of them by key."""
        known, rubrics = self._known(records) if self._may_exist else ({}, {})
        for record in records:
            if record.key in known:
                case = known[record.key]
                self._compare(record, case, rubrics.get(case.pk, []))
        ids = {key: case.pk for key, case in known.items()}
        if self._has_stubs:
            self._refuse_stubs(records)
        self._refuse_twins([record for record in records if not record.key.isascii()])
        if self.faults.total:  # nothing will be stored: the rest of the file is read only to report its faults
            return ids
        new = [record for record in records if record.key not in known]
        for record in new:
            self._note_repeated(record)
        locators = (name for record in new for criterion in record.criteria for name in criterion.citations)
        self._citations = cited.resolve(self.benchmark, locators)
        case_ids = reserve_ids(Case, len(new))
        rubric_ids = reserve_ids(Rubric, len(new))
        texts = [
            (case, criterion.text) for case, record in zip(case_ids, new, strict=True) for criterion in record.criteria
        ]
        criterion_ids = reserve_ids(Criterion, len(texts))
        copy_rows(Case, CASE_COLUMNS, (self._case(pk, record) for pk, record in zip(case_ids, new, strict=True)))
        copy_rows(Criterion, ("id", "case", "text"), ((pk, *row) for pk, row in zip(criterion_ids, texts, strict=True)))
        self._write_rubrics(rubric_ids, case_ids, criterion_ids, new)
        self.without_score += [
            record.line for record in new if all(criterion.points < 0 for criterion in record.criteria)
        ]
        self.cases["created"] += len(new)
        self.criteria["created"] += len(texts)
        ids.update((record.key, pk) for pk, record in zip(case_ids, new, strict=True))
        return ids

    def _note_repeated(self, record: CaseRecord) -> None:
        """Note the criteria that the case has more than once, in a table at the row of the second."""
        occurrences = Counter[str]()
        for index, criterion in enumerate(record.criteria):
            occurrences[criterion.text] += 1
            if occurrences[criterion.text] == 2:
                locate = self.faults.locate
                line = locate(record.line, f"rubrics[{index}]")[0] if locate else record.line
                self.repeated.append((line, criterion.text[:120]))

    def _refuse_stubs(self, records: Sequence[CaseRecord]) -> None:
        """Refuse the keys of stubs, whose texts an import of acuity alone fills in."""
        keys = [record.key for record in records]
        rows = Case.with_stubs.filter(benchmark=self.benchmark, is_stub=True, key__in=keys)
        stubs = set(rows.values_list("key", flat=True))
        for record in records:
            if record.key in stubs:
                message = _(
                    "The case “%(key)s” was created without a text by an acuity import. Add its text with that import."
                )
                self.faults.add(record.line, record.key_field, message % {"key": record.key[:80]})

    def _refuse_twins(self, records: Sequence[CaseRecord]) -> None:
        """Refuse each key that differs from another one only in how its characters are composed (NFC).

        Nobody could tell the two apart on a screen. The keys of earlier chunks are in the database by now.
        """
        if not records:
            return
        spelled: dict[str, str] = {}
        normal = {record.key: unicodedata.normalize("NFC", record.key) for record in records}
        stored = Case.with_stubs.filter(benchmark=self.benchmark).annotate(normal=Func(F("key"), function="normalize"))
        for key, form in stored.filter(normal__in=set(normal.values())).values_list("key", "normal"):
            spelled[form] = key
        for record in records:
            other = spelled.setdefault(normal[record.key], record.key)
            if other != record.key:
                message = _("A case “%(key)s” already exists that differs only in composed characters.")
                self.faults.add(record.line, record.key_field, message % {"key": other[:80]})

    def _write_rubrics(
        self, rubrics: Sequence[int], cases: Sequence[int], criteria: Sequence[int], records: Sequence[CaseRecord]
    ) -> None:
        """The rubrics of ``records``, published, with their items.

        No item can be added to a published rubric, so the items are written before their rubrics. Drafts that are
        published afterwards would cost an UPDATE and an event for every rubric.
        """
        with reference_checked_later(RubricItem, "rubric"):
            copy_rows(RubricItem, ITEM_COLUMNS, self._items(rubrics, iter(criteria), records))
            copy_rows(
                Rubric,
                RUBRIC_COLUMNS,
                (
                    (pk, case, "gold", 1, "published", len(record.criteria), self.provenance, self._at_text)
                    for pk, case, record in zip(rubrics, cases, records, strict=True)
                ),
            )

    def _case(self, pk: int, record: CaseRecord) -> tuple[Any, ...]:
        register = register_of(record.user_role, self._registers)
        if record.user_role and not register:
            self.unknown_roles[record.user_role] += 1
        return (
            *(pk, new_public_id(), self.benchmark.pk, record.key, Jsonb(record.conversation), record.reference_answer),
            *(record.difficulty, register, record.language, record.language_detected),
            *(array_literal(record.tags), "{}", Jsonb(record.metadata), self._at_text),
        )

    def _items(
        self, rubric_ids: Sequence[int], criterion_ids: Iterator[int], records: Sequence[CaseRecord]
    ) -> Iterator[tuple[Any, ...]]:
        for rubric, record in zip(rubric_ids, records, strict=True):
            for position, criterion in enumerate(record.criteria, start=1):
                yield (
                    *(rubric, next(criterion_ids), position, criterion.points, array_literal(criterion.tags)),
                    *(criterion.source, criterion.element, criterion.expectation, criterion.bank),
                    *(Jsonb(self._cited(criterion)) if criterion.citations else NOTHING_CITED, criterion.suggestion),
                )

    def _cited(self, criterion: CriterionRecord) -> list[dict[str, Any]]:
        """The citations that the locators of a criterion stand for; those of other documents are counted."""
        citations = [self._citations[name] for name in criterion.citations if name in self._citations]
        self.unknown_citations += len(criterion.citations) - len(citations)
        return citation_rows(dict.fromkeys(citations))

    def _known(
        self, records: Sequence[CaseRecord]
    ) -> tuple[dict[str, Case], dict[int, list[tuple[str, int, list[str]]]]]:
        """The cases that exist already, and the first gold rubric of each."""
        keys = [record.key for record in records]
        cases = {case.key: case for case in Case.objects.filter(benchmark=self.benchmark, key__in=keys)}
        rubrics: dict[int, list[tuple[str, int, list[str]]]] = defaultdict(list)
        # Version 1 came from a file; later versions were made here.
        items = RubricItem.objects.filter(rubric__case__in=cases.values(), rubric__track="gold", rubric__version=1)
        columns = ("rubric__case_id", "criterion__text", "points", "tags")
        for case, text, points, tags in items.order_by("position").values_list(*columns):
            rubrics[case].append((text, points, tags))
        return cases, rubrics

    def _compare(self, record: CaseRecord, case: Case, rubric: list[tuple[str, int, list[str]]]) -> None:
        """Count an unchanged case; a fault names the first field that differs from the stored case."""
        metadata = record.metadata
        if as_imported.KEY not in case.metadata:  # imported before it was kept
            metadata = {name: value for name, value in metadata.items() if name != as_imported.KEY}
        incoming = {
            record.conversation_field: (record.conversation, case.conversation),
            "reference_answer": (record.reference_answer, case.reference_answer),
            "difficulty": (record.difficulty, case.difficulty),
            record.criteria_field: ([(each.text, each.points, list(each.tags)) for each in record.criteria], rubric),
            "tags": (list(record.tags), case.tags),
            "metadata": (metadata, case.metadata),
        }
        for name, (new, stored) in incoming.items():
            if new != stored:
                message = _(
                    "The case “%(key)s” already exists with different content. Imported cases never change: edit the "
                    "case on its own page, or give this one another short name."
                )
                self.faults.add(
                    record.line, self._differing(record, name, new, stored), message % {"key": record.key[:80]}
                )
                return
        self.cases["unchanged"] += 1
        self.criteria["unchanged"] += len(rubric)

    @staticmethod
    def _differing(record: CaseRecord, name: str, new: Any, stored: Any) -> str:
        """The name of the field that differs, as the file calls it."""
        if name == "metadata":
            return next((key for key in {**new, **stored} if new.get(key) != stored.get(key)), name)
        if name == record.criteria_field and len(new) == len(stored):
            return next(f"{name}[{i}]" for i, pair in enumerate(zip(new, stored, strict=True)) if pair[0] != pair[1])
        return name

    def warnings(self) -> list[str]:
        """Warnings: repeated criteria, user roles without a register, rubrics by which nothing can be scored."""
        messages = []
        for line, text in self.repeated[:MAX_REPEATED]:
            message = (
                _("Row %(line)s: the case has the criterion “%(text)s” more than once.")
                if self.faults.locate
                else _("Line %(line)s: the case has the criterion “%(text)s” more than once.")
            )
            messages.append(message % {"line": line, "text": text})
        if len(self.repeated) > MAX_REPEATED:
            more = len(self.repeated) - MAX_REPEATED
            message = ngettext(
                "%(n)d more criterion is repeated within its case.",
                "%(n)d more criteria are repeated within their cases.",
                more,
            )
            messages.append(message % {"n": more})
        if self.without_score:
            count, lines = len(self.without_score), ", ".join(map(str, self.without_score[:10]))
            message = (
                ngettext(
                    "Row %(lines)s, rubrics: no criterion has positive points, so this case has no score.",
                    "Rows %(lines)s%(more)s, rubrics: no criterion has positive points, so these cases have no score.",
                    count,
                )
                if self.faults.locate
                else ngettext(
                    "Line %(lines)s, rubrics: no criterion has positive points, so this case has no score.",
                    "Lines %(lines)s%(more)s, rubrics: no criterion has positive points, so these cases have no score.",
                    count,
                )
            )
            messages.append(message % {"lines": lines, "more": " …" if count > 10 else ""})
        if self.unknown_roles:
            messages.append(self._unknown_roles())
        if self.unknown_citations:
            message = ngettext(
                "%(n)d citation refers to a passage that this benchmark does not have. It is kept only in releases.",
                "%(n)d citations refer to passages that this benchmark does not have. They are kept only in releases.",
                self.unknown_citations,
            )
            messages.append(message % {"n": self.unknown_citations})
        return messages

    def _unknown_roles(self) -> str:
        roles = ", ".join(f"{role} ({count})" for role, count in self.unknown_roles.most_common(10))
        count = self.unknown_roles.total()
        message = ngettext(
            "%(n)d case has no register: the benchmark’s map does not include its user role: %(roles)s.",
            "%(n)d cases have no register: the benchmark’s map does not include their user roles: %(roles)s.",
            count,
        )
        return message % {"n": count, "roles": roles}
