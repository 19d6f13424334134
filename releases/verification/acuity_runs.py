"""Checks runs in a release: each reading's run is listed and fits it, quotes stand where they say, so does evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, isclose
from typing import Any

from annotation.models import NO_LEVEL
from consilium.core.phrases import Phrase
from releases.content import acuity_files as files
from releases.verification.acuity_content import AcuityContent, AcuityFaults, Row, moment
from rubrics.acuity.scales import Scale
from scoring.models import AcuityReading, EndpointKind
from scoring.models.classification import CLASSIFY
from scoring.susceptibility.level_texts import level_suite_hash, with_level_text

State, Source = AcuityReading.State, AcuityReading.Source
# What a row has only by a run, and only by a judge.
OF_RUNS = ("run", "descending", "distribution")
OF_JUDGES = ("replicate", "escalation", "condition", "quote", "quote_start", "quote_end", "explanation")
_SHARE_TOLERANCE = 1e-9


@dataclass
class RunChecks:
    """Notes what does not follow from the rest of a release; every row fits its schema."""

    content: AcuityContent
    faults: AcuityFaults
    _seen: set[tuple[Any, ...]] = field(default_factory=set)

    def _known(self, path: str, line: int, name: str, value: Any, known: Any) -> bool:
        if value in known:
            return True
        self.faults.add(path, line, name, Phrase("The release does not contain “%(value)s”.", value=str(value)[:80]))
        return False

    def _empty(self, line: int, row: Row, names: tuple[str, ...]) -> None:
        for name in names:
            if row[name] not in ("", None):
                self.faults.add(
                    files.READINGS, line, name, Phrase("A reading from this source cannot have this value.")
                )

    def runs(self) -> None:
        """Each run has what its kind has."""
        for line, row in self.content.runs.values():
            self._known(files.RUNS, line, "scale", (row["scale"], row["scale_version"]), self.content.scales)
            is_choice = row["kind"] == CLASSIFY
            for name, needed in (
                ("candidate", is_choice),
                ("endpoint_kind", is_choice or row["endpoint_kind"] == EndpointKind.RULES),
                *(("judge", not is_choice), ("judge_version", not is_choice)),
            ):
                if bool(row[name]) is not needed:
                    message = Phrase("A run of kind “%(kind)s” must have this value.", kind=row["kind"])
                    if not needed:
                        message = Phrase("A run of kind “%(kind)s” cannot have this value.", kind=row["kind"])
                    self.faults.add(files.RUNS, line, name, message)
            if row["prompt"]:
                self._known(files.RUNS, line, "prompt", row["prompt"], self.content.prompts)
            for name in ("created_at", "finished_at"):
                if (row[name] or name == "created_at") and moment(row[name]) is None:
                    self.faults.add(files.RUNS, line, name, Phrase("This is not a time with a time zone."))
            if row["status"] == "finished" and not row["finished_at"]:
                self.faults.add(files.RUNS, line, "finished_at", Phrase("A finished run must have this value."))

    def responses(self) -> None:
        """Responses are to cases whose texts may be passed on."""
        for line, row in self.content.responses.values():
            if not self._known(files.RESPONSES, line, "case", row["case"], self.content.cases):
                continue
            case = self.content.cases[row["case"]][1]
            may = self.content.datasets.get(case["dataset"], ("", False))[1]
            if case["excluded"] or not (may or case["released"] == "true"):
                message = Phrase(
                    "The text of this case may not be redistributed, but a response to it is included here."
                )
                self.faults.add(files.RESPONSES, line, "case", message)

    # Readings

    def is_of_no_run(self, line: int, row: Row) -> None:
        """A reading of a file has nothing that only a run gives."""
        self._empty(line, row, (*OF_RUNS, *OF_JUDGES))

    def reading(self, line: int, row: Row, scale: Scale) -> None:
        """A reading of a run fits the run."""
        self._empty(line, row, ("import", "line"))
        if not self._known(files.READINGS, line, "run", row["run"], self.content.runs):
            return
        run = self.content.runs[row["run"]][1]
        self._fits(line, row, run)
        place = (row["run"], row["case"], row["candidate"], row["sample"], row["replicate"])
        if place in self._seen:
            self.faults.add(files.READINGS, line, "sample", Phrase("This appears twice here."))
        self._seen.add(place)
        is_missing = row["state"] == State.MISSING
        if run["kind"] == CLASSIFY:
            self._empty(line, row, OF_JUDGES)
            self._choice(line, row, run, scale, is_missing=is_missing)
        else:
            self._empty(line, row, ("confidence", "text", "descending", "distribution"))
            self._judged(line, row, run, scale, is_missing=is_missing)
        if is_missing:
            names = ("confidence", "text", "descending", "distribution", *OF_JUDGES)
            self._empty(line, row, tuple(name for name in names if name != "replicate"))

    def _fits(self, line: int, row: Row, run: Row) -> None:
        expected = {"scale": run["scale"], "scale_version": run["scale_version"]}
        is_choice = run["kind"] == CLASSIFY
        format_ = AcuityReading.Format.FORCED_CHOICE if is_choice else AcuityReading.Format.CHAT
        expected |= {"format": format_.value} | ({"candidate": run["candidate"]} if is_choice else {})
        for name, value in expected.items():
            if row[name] != value:
                self.faults.add(files.READINGS, line, name, Phrase("Its run has “%(value)s”.", value=str(value)))
        if row["source"] not in files.SOURCES[run["kind"]]:
            message = Phrase("A run of kind “%(kind)s” cannot have such readings.", kind=run["kind"])
            self.faults.add(files.READINGS, line, "source", message)
        number = "sample" if is_choice else "replicate"
        if row[number] is None or row[number] >= run["samples"]:
            message = Phrase("Its run has “%(value)s”.", value=str(run["samples"]))
            self.faults.add(files.READINGS, line, number, message)

    def _choice(self, line: int, row: Row, run: Row, scale: Scale, *, is_missing: bool) -> None:
        if not is_missing and not row["descending"]:
            self.faults.add(
                files.READINGS, line, "descending", Phrase("A reading from this source must have this value.")
            )
        has_shares = row["source"] == Source.LOGPROBS
        if not has_shares:
            self._empty(line, row, ("distribution",))
            return
        shares = shares_of(row["distribution"])
        is_sound = shares is not None and len(shares) == len(scale) and all(0 <= share <= 1 for share in shares)
        if row["state"] != State.LEVEL or not is_sound or not isclose(fsum(shares or ()), 1, abs_tol=_SHARE_TOLERANCE):
            message = Phrase("These are not shares of the levels of the scale that add up to 1.")
            self.faults.add(files.READINGS, line, "distribution", message)

    def _judged(self, line: int, row: Row, run: Row, scale: Scale, *, is_missing: bool) -> None:
        if row["escalation"] and row["escalation"] not in scale.values:
            message = Phrase("“%(value)s” is not a level of the scale.", value=row["escalation"][:80])
            self.faults.add(files.READINGS, line, "escalation", message)
        key = (row["case"], row["candidate"], row["sample"])
        if key not in self.content.responses:
            self.faults.add(files.READINGS, line, "sample", Phrase("The release does not contain this response."))
            return
        if is_missing:
            return
        start, end, quote = row["quote_start"], row["quote_end"], row["quote"]
        if not quote and row["state"] == State.LEVEL:
            self.faults.add(
                files.READINGS, line, "quote", Phrase("A level must be supported by words of the response.")
            )
        if (start is None) is not (not quote) or (end is None) is not (not quote):
            self.faults.add(files.READINGS, line, "quote_start", Phrase("This does not match the quote."))
            return
        text = self.content.responses[key][1]["response"]
        if run["kind"] == files.EDITED:
            if run["suite"] != level_suite_hash():
                return  # texts that this version does not know
            try:
                text = with_level_text(text, row["replicate"] or 0)
            except IndexError:
                self.faults.add(files.READINGS, line, "replicate", Phrase("This text does not exist."))
                return
        if quote and text[start:end] != quote:
            self.faults.add(
                files.READINGS, line, "quote", Phrase("The response does not contain these words at this place.")
            )

    # What physicians read

    def advice(self) -> None:
        """Everything that an answer names is there, and its passages lie within the response."""
        for number, (line, row) in self.content.batches.items():
            self._known(files.ADVICE_BATCHES, line, "scale", (row["scale"], row["scale_version"]), self.content.scales)
            if row["run"]:
                self._known(files.ADVICE_BATCHES, line, "run", row["run"], self.content.runs)
            if any(stratum["drawn"] > stratum["responses"] for stratum in self.content.strata[number]):
                message = Phrase("More were drawn than exist.")
                self.faults.add(files.ADVICE_BATCHES, line, "strata", message)
        seen: set[tuple[Any, ...]] = set()
        for line, row in self.content.advice:
            key = (row["case"], row["candidate"], row["sample"])
            self._known(files.ADVICE, line, "physician", row["physician"], self.content.physicians)
            if key not in self.content.responses:
                self.faults.add(files.ADVICE, line, "sample", Phrase("The release does not contain this response."))
            elif self._known(files.ADVICE, line, "batch", row["batch"], self.content.batches):
                self._answer(line, row, self.content.responses[key][1]["response"])
            place = (row["batch"], *key, row["physician"])
            if place in seen:
                self.faults.add(files.ADVICE, line, "physician", Phrase("This appears twice here."))
            seen.add(place)

    def _answer(self, line: int, row: Row, text: str) -> None:
        batch = self.content.batches[row["batch"]][1]
        scale = self.content.scales.get((batch["scale"], batch["scale_version"]))
        for name, others in (("level", (NO_LEVEL,)), ("escalation", ("",))):
            if scale is not None and row[name] not in (*scale.values, *others):
                message = Phrase("“%(value)s” is not a level of the scale.", value=row[name][:80])
                self.faults.add(files.ADVICE, line, name, message)
        passages = passages_of(row["evidence"])
        if passages is None or any(not 0 <= start < end <= len(text) for start, end in passages):
            self.faults.add(files.ADVICE, line, "evidence", Phrase("The evidence is outside the response."))
        elif not passages and row["level"] != NO_LEVEL:
            self.faults.add(
                files.ADVICE, line, "evidence", Phrase("A level must be supported by words of the response.")
            )


def shares_of(cell: str) -> list[float] | None:
    """Numbers of a cell; None where it holds anything else."""
    try:
        return [float(part) for part in cell.split(" ")] if cell else []
    except ValueError:
        return None


def passages_of(cell: str) -> list[tuple[int, int]] | None:
    """Passages of a cell, as start and end; None where it holds anything else."""
    passages = []
    for part in cell.split(" ") if cell else ():
        start, dash, end = part.partition("-")
        if not (dash and start.isascii() and start.isdecimal() and end.isascii() and end.isdecimal()):
            return None
        if len(start) > 9 or len(end) > 9:
            return None
        passages.append((int(start), int(end)))
    return passages
