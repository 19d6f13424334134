"""Checks acuity in a release: all that a row names is there, and reference sets follow from what they rest on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

from annotation.acuity.panel import AmbiguousBy, AmbiguousRule, PanelCase, panel_case
from annotation.acuity.references import CaseLabel, Reference, decide, digest_of_levels, joined_label
from annotation.acuity.selectors import panel_of_item
from annotation.models import CANNOT_TELL, FIRST_ROUND, LAST_ROUND, AcuityRuling, ReferenceItem
from consilium.core.phrases import Phrase
from releases.content import acuity_files as files
from releases.verification.acuity_content import (
    AcuityContent,
    AcuityFaults,
    Row,
    ScaleKey,
    mapped_of,
    moment,
    places_of,
    read_content,
    readings_of,
    rows_of,
    scheme_key,
    vote_levels,
)
from releases.verification.acuity_runs import RunChecks
from releases.verification.sources import Source
from rubrics.acuity.case_texts import conversation_text, text_digest
from rubrics.acuity.scales import Scale
from rubrics.acuity.schemes import How
from scoring.models import AcuityReading

# A vote as a panel has it: from low to high, both None where somebody cannot tell.
Levels = tuple[int | None, int | None]


def check_acuity(source: Source) -> AcuityFaults:
    """The faults of a release's files of acuity."""
    faults = AcuityFaults()
    content = read_content(source, faults)
    if not faults.total:  # else rows would be missing that others name
        check_content(content, faults)
    return faults


def check_content(content: AcuityContent, faults: AcuityFaults) -> None:
    """Note what does not follow from the rest; everything fits its schema."""
    _Check(content, faults).run()


@dataclass
class _Check:
    content: AcuityContent
    faults: AcuityFaults
    _evidence: dict[ScaleKey, _Evidence] = field(default_factory=dict)

    def run(self) -> None:
        self._datasets()
        self._imports()
        self._cases()
        self._labels()
        checks = RunChecks(self.content, self.faults)
        checks.runs()
        checks.responses()
        self._readings(checks)
        checks.advice()
        self._votes()
        self._rulings()
        self._sets()

    def _known(self, path: str, line: int, name: str, value: Any, known: Any) -> bool:
        if value in known:
            return True
        self.faults.add(path, line, name, Phrase("The release does not contain “%(value)s”.", value=str(value)[:80]))
        return False

    def _scale(self, path: str, line: int, row: Row) -> Scale | None:
        key = row["scale"], row["scale_version"]
        return self.content.scales[key] if self._known(path, line, "scale", key, self.content.scales) else None

    def _question(self, path: str, line: int, row: Row) -> tuple[ScaleKey, Scale] | None:
        if not self._known(path, line, "question", row["question"], self.content.questions):
            return None
        question = self.content.questions[row["question"]]
        key = question["scale"], question["scale_version"]
        return key, self.content.scales[key]

    def _counts(self, path: str, line: int, row: Row) -> bool:
        """Whether the row is about a case that counts."""
        if not self._known(path, line, "case", row["case"], self.content.cases):
            return False
        if self.content.cases[row["case"]][1]["excluded"]:
            self.faults.add(path, line, "case", Phrase("This case is excluded, so no row can refer to it."))
            return False
        return True

    # Cases and labels

    def _datasets(self) -> None:
        for name, (licence, may) in self.content.datasets.items():
            if may and not licence:
                message = Phrase("No licence allows the texts of “%(name)s” to be redistributed.", name=name)
                self.faults.add(files.DATASETS, 0, "licence", message)

    def _imports(self) -> None:
        for line, row in self.content.imports.values():
            self._known(files.IMPORTS, line, "dataset", row["dataset"], self.content.datasets)
            self._known(files.IMPORTS, line, "scale", (row["scale"], row["scale_version"]), self.content.scales)
            if moment(row["imported_at"]) is None:
                self.faults.add(files.IMPORTS, line, "imported_at", Phrase("This is not a time with a time zone."))

    def _cases(self) -> None:
        for line, row in self.content.cases.values():
            may = self.content.datasets.get(row["dataset"], ("", False))[1]
            text = conversation_text(row.get("prompt", ()))
            if "prompt" in row and not may:
                message = Phrase(
                    "The dataset “%(name)s” may not be redistributed, but a text is included here.", name=row["dataset"]
                )
                self.faults.add(files.CASES, line, "prompt", message)
            elif "prompt" in row and text_digest(text) != row["digest"]:
                self.faults.add(files.CASES, line, "digest", Phrase("This is not the SHA-256 of the text."))
            if row["released"] == "true":
                if row["dataset"] and not may:
                    message = Phrase("The dataset “%(name)s” may not be redistributed.", name=row["dataset"])
                    self.faults.add(files.CASES, line, "released", message)
            elif may and row["digest"] and not row["excluded"] and "prompt" not in row:
                message = Phrase(
                    "The dataset “%(name)s” may be redistributed, but the text is missing.", name=row["dataset"]
                )
                self.faults.add(files.CASES, line, "prompt", message)
            for number in row["not_in_sets"]:
                self._known(files.CASES, line, "not_in_sets", number, self.content.sets)

    def _labels(self) -> None:
        flow: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        flags = {text: flag for flag, text in files.FLAGS.items()}
        seen: set[tuple[Any, ...]] = set()
        for line, row in self.content.labels:
            key = scheme_key(row)
            flow[row["dataset"], *key][row["how"]] += 1
            is_known = self._counts(files.LABELS, line, row)
            is_known &= self._known(files.LABELS, line, "import", row["import"], self.content.imports)
            is_known &= self._known(files.LABELS, line, "scheme", key, self.content.schemes)
            if not is_known:
                continue
            self._once(files.LABELS, line, "case", (row["case"], row["dataset"], *key), seen)
            imported = self.content.imports[row["import"]][1]
            if (imported["dataset"], scheme_key(imported)) != (row["dataset"], key):
                message = Phrase("The file that it came from belongs to a different dataset or scheme.")
                self.faults.add(files.LABELS, line, "import", message)
            scheme = self.content.schemes[key]
            mapped = mapped_of(row, scheme.scale)
            if mapped is None or mapped != scheme.mapped(row["label"]):
                message = Phrase("The scheme “%(name)s” maps this label differently.", name=scheme.name)
                self.faults.add(files.LABELS, line, "low", message)
                continue
            at = moment(imported["imported_at"])
            own = CaseLabel(mapped.how.value, mapped.low, mapped.high, flags[row["ambiguous"]])
            label = (row["dataset"], own, at)
            self._of(key[:2]).labels[row["case"]].append(label)
        self._flow(flow)

    def _flow(self, flow: dict[tuple[Any, ...], Counter[str]]) -> None:
        rows = {}
        for line, row in rows_of(self.content, files.FLOW, self.faults):
            rows[row["dataset"], *scheme_key(row)] = line, row
        for key in sorted({*rows, *flow}):
            line, row = rows.get(key, (0, {}))
            counts = {"cases": flow[key].total(), **{how.value: flow[key][how.value] for how in How}}
            for name, n in counts.items():
                if row.get(name) != n:
                    message = Phrase("source_labels.csv contains %(n)s of %(dataset)s.", n=n, dataset=key[0])
                    self.faults.add(files.FLOW, line, name, message)

    def _once(self, path: str, line: int, name: str, key: Any, seen: set[Any]) -> None:
        if key in seen:
            self.faults.add(path, line, name, Phrase("This appears twice here."))
        seen.add(key)

    def _of(self, scale: ScaleKey) -> _Evidence:
        return self._evidence.setdefault(scale, _Evidence())

    # Readings

    def _readings(self, checks: RunChecks) -> None:
        state = AcuityReading.State
        seen: set[tuple[Any, ...]] = set()
        for line, row in readings_of(self.content, self.faults):
            self._counts(files.READINGS, line, row)
            scale = self._scale(files.READINGS, line, row)
            if scale is None:
                continue
            self._level(line, row, scale)
            if row["source"] != AcuityReading.Source.IMPORTED:
                checks.reading(line, row, scale)
                continue
            if not self._known(files.READINGS, line, "import", row["import"], self.content.imports):
                continue
            checks.is_of_no_run(line, row)
            imported = self.content.imports[row["import"]][1]
            if (imported["scale"], imported["scale_version"]) != (row["scale"], row["scale_version"]):
                self.faults.add(
                    files.READINGS, line, "import", Phrase("The file that it came from uses a different scale.")
                )
            place = (row["case"], row["candidate"], row["format"], row["sample"], row["scale"], row["scale_version"])
            by_file = (row["import"],) if row["state"] == state.MISSING else ()
            self._once(files.READINGS, line, "sample", (*place, *by_file), seen)

    def _level(self, line: int, row: Row, scale: Scale) -> None:
        """The level fits the state."""
        state = AcuityReading.State
        if row["state"] == state.LEVEL and row["level"] not in scale.values:
            names = ", ".join(scale.values)
            message = Phrase("“%(value)s” is not a level of the scale: %(names)s.", value=row["level"], names=names)
            self.faults.add(files.READINGS, line, "level", message)
        elif row["state"] != state.LEVEL and row["level"] != ("" if row["state"] == state.MISSING else row["state"]):
            message = Phrase("This does not match the state “%(state)s”.", state=row["state"])
            self.faults.add(files.READINGS, line, "level", message)

    # Votes and rulings

    def _votes(self) -> None:
        seen: set[tuple[Any, ...]] = set()
        for line, row in self.content.votes:
            self._counts(files.VOTES, line, row)
            question = self._question(files.VOTES, line, row)
            self._known(files.VOTES, line, "physician", row["physician"], self.content.physicians)
            self._first_set(files.VOTES, line, row)
            if question is None:
                continue
            key, scale = question
            levels = vote_levels(row["level"], scale, CANNOT_TELL)
            if levels is None:
                message = Phrase(
                    "“%(value)s” is neither a level of the scale nor two adjacent levels.", value=row["level"]
                )
                self.faults.add(files.VOTES, line, "level", message)
                continue
            if levels[0] is None and row["certainty"] is not None:
                self.faults.add(files.VOTES, line, "certainty", Phrase("Certainty is not allowed with cannot tell."))
            if levels[0] is not None and row["reason"]:
                self.faults.add(files.VOTES, line, "reason", Phrase("A reason is allowed only with cannot tell."))
            voter = row["question"], row["case"], row["physician"]
            self._once(files.VOTES, line, "physician", (*voter, row["round"]), seen)
            if row["round"] > FIRST_ROUND and (*voter, FIRST_ROUND) not in seen:
                self.faults.add(files.VOTES, line, "round", Phrase("No vote of round 1 precedes this one."))
            vote = _Vote(row["physician"], row["round"], levels, row["certainty"], row["first_set"])
            self._of(key).votes[row["case"]].append(vote)

    def _first_set(self, path: str, line: int, row: Row) -> None:
        if row["first_set"] is not None:
            self._known(path, line, "first_set", row["first_set"], self.content.sets)

    def _rulings(self) -> None:
        voters = {(row["case"], row["physician"]) for _line, row in self.content.votes}
        seen: set[tuple[Any, ...]] = set()
        for line, row in self.content.rulings:
            self._counts(files.RULINGS, line, row)
            question = self._question(files.RULINGS, line, row)
            self._known(files.RULINGS, line, "adjudicator", row["adjudicator"], self.content.physicians)
            self._first_set(files.RULINGS, line, row)
            self._once(files.RULINGS, line, "case", (row["question"], row["case"]), seen)
            if (row["case"], row["adjudicator"]) in voters:
                message = Phrase("A physician who voted on the case cannot rule on it.")
                self.faults.add(files.RULINGS, line, "adjudicator", message)
            if question is None:
                continue
            key, scale = question
            places = places_of(row, scale)
            low, high = places or (None, None)
            is_wide = low is not None and high is not None and high - low not in (0, 1)
            if places is None or is_wide:
                message = Phrase("The levels are not on the scale or are not adjacent.")
                self.faults.add(files.RULINGS, line, "low", message)
                continue
            self._of(key).rulings[row["case"]].append((places, row["first_set"]))

    # Reference sets

    def _sets(self) -> None:
        for number in sorted({*self.content.items} - {*self.content.sets}):
            line = self.content.items[number][0][0]
            self._known(files.REFERENCE, line, "set", number, self.content.sets)
        for number, (line, row) in self.content.sets.items():
            scale = self._scale(files.SETS, line, row)
            rule = _rule_of(row)
            if rule is None:
                self.faults.add(files.SETS, line, "ambiguous_rule", Phrase("This rule does not exist."))
            at = moment(row["signed_at"])
            if at is None:
                self.faults.add(files.SETS, line, "signed_at", Phrase("This is not a time with a time zone."))
            if scale is None or rule is None or at is None:
                continue
            key = row["scale"], row["scale_version"]
            items = self.content.items.get(number, [])
            references = [
                reference for item_line, item in items if (reference := self._item(item_line, item, scale)) is not None
            ]
            if len(references) < len(items):
                continue
            ordered = sorted(references, key=lambda reference: reference.case)
            if digest_of_levels(self.content.levels[key], ordered) != row["digest"]:
                message = Phrase("This is not the digest of the items of set %(number)s.", number=number)
                self.faults.add(files.SETS, line, "digest", message)
            evidence = self._of(key).until(number, at, row["datasets"].split())
            for (item_line, item), reference in zip(items, references, strict=True):
                self._follows(item_line, item, reference, row, rule, evidence, scale)
            self._complete(line, row, {reference.case for reference in references}, evidence)

    def _item(self, line: int, row: Row, scale: Scale) -> Reference | None:
        """An item as it was signed; None where it is none."""
        if not self._known(files.REFERENCE, line, "case", row["case"], self.content.cases):
            return None
        places = places_of(row, scale)
        votes = _whole(row["votes"], 2 * len(scale))
        later = _whole(row["later_votes"], 2 * len(scale))
        if places is None or votes is None or later is None:
            name = "low" if places is None else "votes" if votes is None else "later_votes"
            self.faults.add(files.REFERENCE, line, name, Phrase("This does not name any levels of the scale."))
            return None
        certainty = None if row["certainty"] is None else float(row["certainty"])
        return signed_item(row, places, votes, later, certainty)

    def _follows(
        self, line: int, row: Row, item: Reference, own: Row, rule: AmbiguousRule, evidence: _Until, scale: Scale
    ) -> None:
        """The item follows from votes, labels and rulings, its figures from its votes."""
        panel = panel_of_item(item.case, item.votes, item.n_cannot_tell, len(scale))
        has_votes = bool(item.votes)
        figures = {
            "m": len(item.votes),
            "dispersion": None if isnan(panel.dispersion) else panel.dispersion,
            "entropy": panel.entropy if has_votes else None,
            "q": files.numbers(panel.q.tolist()) if has_votes else "",
        }
        for name, value in figures.items():
            if row[name] != value:
                message = Phrase("According to the votes it is %(value)s.", value="" if value is None else str(value))
                self.faults.add(files.REFERENCE, line, name, message)
        if own["imported_from"] or self.content.cases[item.case][1]["excluded"]:
            return  # what it rests on is elsewhere, or in no release
        expected = self._expected(item, own, rule, evidence, scale)
        if expected is None:
            return
        names = ("status", "source", "low", "high", "votes", "n_cannot_tell", "certainty", "later_votes")
        for name in names:
            value, signed = getattr(expected, name), getattr(item, name)
            if value == signed or (name == "certainty" and not evidence.has_certainty):
                continue
            shown = _shown(name, value, scale)
            message = Phrase("According to votes, labels and rulings it is “%(value)s”.", value=shown)
            self.faults.add(files.REFERENCE, line, name, message)

    def _expected(
        self, item: Reference, own: Row, rule: AmbiguousRule, evidence: _Until, scale: Scale
    ) -> Reference | None:
        labels = list(evidence.labels.get(item.case, {}).values())
        label = joined_label(labels) if labels else None
        if labels and label is None:
            message = Phrase("Two datasets label %(case)s differently.", case=item.case)
            self.faults.add(files.LABELS, 0, "label", message)
            return None
        later = None
        if self.content.has_votes:
            panel, certainties = evidence.panel(item.case, FIRST_ROUND, len(scale))
            if own["round"] == LAST_ROUND:
                later, _certainties = evidence.panel(item.case, LAST_ROUND, len(scale))
            levels = evidence.rulings.get(item.case)
            ruling = None if levels is None else AcuityRuling(low=levels[0], high=levels[1])
        else:
            if item.source == ReferenceItem.Source.RULING:
                return None  # the ruling is not in the release
            panel, certainties, ruling = _frozen_panel(item, item.votes, scale), [], None
            later = _frozen_panel(replace(item, n_cannot_tell=0), item.later_votes, scale)
        expected = decide(
            0, item.case, label=label, panel=panel, later=later, ruling=ruling,
            certainties=certainties, ambiguous=rule, minimum=own["minimum_votes"],
        )  # fmt: skip
        if not self.content.has_votes and item.status == ReferenceItem.Status.AMBIGUOUS:
            # A ruling by which a case stays ambiguous is not in the release either.
            expected = replace(expected, status=item.status) if expected.low is not None else expected
        return expected

    def _complete(self, line: int, row: Row, cases: set[str], evidence: _Until) -> None:
        """Every case with a vote or a label that counts is in the set, unless it was excluded then."""
        if row["imported_from"]:
            return
        for case in sorted({*evidence.labels, *evidence.votes} - cases):
            if row["set"] not in self.content.cases[case][1]["not_in_sets"]:
                message = Phrase("Set %(number)s lacks %(case)s.", number=row["set"], case=case)
                self.faults.add(files.SETS, line, "set", message)


# What sets rest on ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Vote:
    physician: str
    round: int
    levels: Levels
    certainty: int | None
    first_set: int | None


@dataclass
class _Evidence:
    """Labels, votes and rulings on one scale by case, in the order in which they came."""

    labels: dict[str, list[tuple[str, CaseLabel, Any]]] = field(default_factory=lambda: defaultdict(list))
    votes: dict[str, list[_Vote]] = field(default_factory=lambda: defaultdict(list))
    rulings: dict[str, list[tuple[Levels, int | None]]] = field(default_factory=lambda: defaultdict(list))

    def until(self, number: int, at: Any, datasets: Sequence[str]) -> _Until:
        """What was there when a set was signed: the last label in each dataset, the last vote in each round."""
        until = _Until()
        for case, labels in self.labels.items():
            for dataset, label, imported_at in labels:
                if dataset in datasets and imported_at is not None and imported_at <= at:
                    until.labels.setdefault(case, {})[dataset] = label
        for case, votes in self.votes.items():
            for vote in votes:
                if vote.first_set is not None and vote.first_set <= number:
                    own = until.votes.setdefault(case, {})
                    own[vote.physician, vote.round] = vote
                    until.has_certainty |= vote.certainty is not None
        for case, rulings in self.rulings.items():
            for levels, first_set in rulings:
                if first_set is not None and first_set <= number:
                    until.rulings[case] = levels
        return until


@dataclass
class _Until:
    labels: dict[str, dict[str, CaseLabel]] = field(default_factory=dict)
    votes: dict[str, dict[tuple[str, int], _Vote]] = field(default_factory=dict)
    rulings: dict[str, Levels] = field(default_factory=dict)
    has_certainty: bool = False  # else the release has none

    def panel(self, case: str, number: int, n_levels: int) -> tuple[PanelCase | None, list[int]]:
        """The panel of a case in one round, None without a vote, and the certainty of its votes."""
        votes = [vote for vote in self.votes.get(case, {}).values() if vote.round == number]
        certainties = [vote.certainty for vote in votes if vote.certainty is not None]
        return (panel_case(case, [vote.levels for vote in votes], n_levels) if votes else None), certainties


def _frozen_panel(item: Reference, votes: Sequence[int], scale: Scale) -> PanelCase | None:
    """The panel of votes that an item froze; None without a vote."""
    if not votes and not item.n_cannot_tell:
        return None
    return panel_of_item(item.case, votes, item.n_cannot_tell, len(scale))


def _rule_of(row: Row) -> AmbiguousRule | None:
    if row["ambiguous_rule"] not in {*AmbiguousBy}:
        return None
    rule = AmbiguousRule(AmbiguousBy(row["ambiguous_rule"]), float(row["ambiguous_threshold"]))
    return rule if rule.threshold <= rule.by.most else None


def _whole(text: str, below: int) -> tuple[int, ...] | None:
    """Whole numbers from 0 in ascending order; None where the cell holds anything else."""
    parts = text.split(" ") if text else []
    if not all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts):
        return None
    places = tuple(map(int, parts))
    return places if [*places] == sorted(places) and all(place < below - 1 for place in places) else None


def signed_item(
    row: Row, places: Levels, votes: tuple[int, ...], later: tuple[int, ...], certainty: float | None
) -> Reference:
    """The reference of a case as its set froze it."""
    return Reference(
        0, row["case"], row["status"], row["source"], *places,
        votes=votes, n_cannot_tell=row["n_cannot_tell"], certainty=certainty, later_votes=later,
    )  # fmt: skip


def _shown(name: str, value: Any, scale: Scale) -> str:
    if name in ("low", "high"):
        return "" if value is None else scale.values[value]
    return files.numbers(value) if isinstance(value, tuple) else "" if value is None else str(value)
