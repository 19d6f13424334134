"""Makes the artefacts of a paper: each report is computed once, and one that is still up to date is used again."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils import translation

from agreement import services
from agreement.kinds import KINDS
from agreement.models import Replication, Report
from agreement.replication import gaps
from agreement.replication.building import State, built
from agreement.replication.choosing import Choices, lacking_slices
from agreement.replication.gaps import Gap, Lacking
from agreement.replication.manifest import Artefact, Paper
from agreement.reports.freshness import freshness_of
from consilium.core.errors import DomainError
from consilium.core.jobs import Clock, JobStatus, Progress, no_progress
from consilium.core.phrases import Phrase
from consilium.core.ratings import Reads, reading_once
from rubrics.models import Benchmark

# k of the scores comes from a calibration, so that its report is made first.
FIRST = (Report.Kind.CALIBRATION,)
# To ask whether these kinds refuse parameters, all cases would be read; the plan does not.
READ_TO_COMPLETE = (Report.Kind.COMPOSITION,)


class Maker:
    """The reports of one replication; each is made once, whatever number of artefacts it serves.

    Reports rest on the same decisions and verdicts, so that to find out whether they are up to date these are read
    once, until a report must be computed.
    """

    def __init__(self, choices: Choices, *, clock: Clock, replication: Replication | None = None) -> None:
        self.choices, self.clock, self.replication = choices, clock, replication
        self._made: dict[str, Report] = {}
        self._reads = Reads()

    def report(self, kind: str, given: Mapping[str, Any], progress: Progress) -> Report:
        """The report with these parameters; `Lacking` where they make none."""
        benchmark, options = self.choices.benchmark, self.choices.options
        try:
            parameters = KINDS[kind].complete(benchmark, given)
        except DomainError as error:
            raise Lacking(gaps.refused(error)) from error
        key = json.dumps([kind, parameters], sort_keys=True)
        if key not in self._made:
            with reading_once(self._reads):
                report = up_to_date(benchmark, kind, parameters, seed=options.seed, interval=options.interval)
            if report is None:
                self._reads.clear()
                report = self._computed(kind, parameters, progress)
            self._made[key] = report
            _give_memory_back()
        report = self._made[key]
        if report.status != JobStatus.DONE:
            raise Lacking(Gap(Phrase("The report could not be computed: %(why)s", why=report.error)))
        return report

    def close(self) -> None:
        """Let go of what was read."""
        self._reads.clear()
        _give_memory_back()

    def _computed(self, kind: str, parameters: Mapping[str, Any], progress: Progress) -> Report:
        options = self.choices.options
        report = services.create_report(
            benchmark=self.choices.benchmark,
            kind=kind,
            parameters=parameters,
            seed=options.seed,
            interval=options.interval,
            at=self.clock(),
            by=self.replication.created_by if self.replication else None,
            replication=self.replication,
        )
        report = services.computed(report=report, clock=self.clock, waiting=progress)
        if report.status != JobStatus.DONE:  # the gap says why; lists of reports are not filled with it
            Report.objects.filter(pk=report.pk).update(archived_at=self.clock())
        return report


def _give_memory_back() -> None:
    """Return freed memory to the operating system.

    The C library keeps most of what the arrays of a report took, for arrays to come. With what the renderer of the
    figures takes at the end, the process would then need 60 MiB more at its peak (`bench/replicate.py`). Only glibc has
    the call; elsewhere nothing happens.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def up_to_date(
    benchmark: Benchmark, kind: str, parameters: Mapping[str, Any], *, seed: int, interval: str
) -> Report | None:
    """The newest finished report with these parameters, rule and seed, made by this version, whose inputs are as they
    were; None where there is none.
    """
    same = Report.objects.current().filter(
        benchmark=benchmark,
        kind=kind,
        parameters=parameters,
        seed=seed,
        interval=interval,
        status=JobStatus.DONE,
        software=services.software(),
    )
    report = same.select_related("benchmark", "created_by").first()
    return report if report is not None and freshness_of(report).fresh else None


def make(
    paper: Paper, choices: Choices, *, clock: Clock, progress: Progress = no_progress, replication: Replication | None
) -> list[dict[str, Any]]:
    """Make the artefacts of a paper; of each, in the order of the paper, its key, state, gaps and reports as JSON."""
    maker = Maker(choices, clock=clock, replication=replication)
    outcomes: dict[str, dict[str, Any]] = {}
    order = sorted(paper.artefacts, key=lambda artefact: artefact.kind not in FIRST)
    with translation.override("en"):  # what is stored and what stands in files is English
        for place, artefact in enumerate(order):
            progress(place / len(order))
            outcomes[artefact.key] = _outcome(artefact, maker, partial(_at, progress, place / len(order)))
    maker.close()
    return [outcomes[artefact.key] for artefact in paper.artefacts]


def _at(progress: Progress, share: float, _amount: float) -> None:
    """Progress that stays at a share while another worker computes a report."""
    progress(share)


def _outcome(artefact: Artefact, maker: Maker, progress: Progress) -> dict[str, Any]:
    if not artefact.is_made_here:
        return as_outcome(artefact, State.NOT_FROM_DATA, [artefact.why_not_made])
    assert artefact.choose is not None
    reports: list[Report] = []
    refused: list[Gap] = []
    try:
        for given in artefact.choose(maker.choices):
            try:
                reports.append(maker.report(artefact.kind, given, progress))
            except Lacking as lacking:  # one judge of several may share no pair with the groups
                refused.append(_refused(artefact, lacking.gap))
    except Lacking as lacking:
        return as_outcome(artefact, State.LACKS_DATA, [lacking.gap])
    if not reports:
        return as_outcome(artefact, State.LACKS_DATA, refused)
    result = built(artefact, reports)
    own = [*refused, *_left_out(artefact, maker.choices), *result.gaps]
    if artefact.needs_k and result.state != State.LACKS_DATA and maker.choices.k_is_default:
        own.append(gaps.THRESHOLD)
    state = State.IN_PART if own and result.state == State.MADE else result.state
    return as_outcome(artefact, state, own, reports)


def _left_out(artefact: Artefact, choices: Choices) -> list[Gap]:
    """Whom the parameters of an artefact had no place for."""
    return artefact.leaves_out(choices) if artefact.leaves_out else []


def _refused(artefact: Artefact, gap: Gap) -> Gap:
    """Why a report of an artefact is not there, with the next step."""
    return (artefact.refused or artefact.step).about(gap.what)


def as_outcome(artefact: Artefact, state: State, own: list[Gap], reports: list[Report] | None = None) -> dict[str, Any]:
    """What became of an artefact, as JSON."""
    return {
        "artefact": artefact.key,
        "state": str(state),
        "gaps": [gap.as_json() for gap in dict.fromkeys(own)],
        "reports": [report.public_id for report in reports or []],
    }


def planned(paper: Paper, choices: Choices) -> Iterator[dict[str, Any]]:
    """The same before anything is computed: what can be made, what of it in part only, and what lacks data.

    In part is what lacks one of the artefact's needs; what only a report shows, such as an interval, is not known yet.
    """
    known: dict[Any, Foreseen] = {}
    first = [artefact for artefact in paper.artefacts if artefact.kind in FIRST]
    calibrates = any(_foreseen(artefact, choices).is_possible for artefact in first)
    no_threshold = [gaps.THRESHOLD] if choices.k_is_default and not calibrates else []
    for artefact in paper.artefacts:
        if not artefact.is_made_here:
            yield as_outcome(artefact, State.NOT_FROM_DATA, [artefact.why_not_made])
            continue
        if artefact.choose not in known:
            known[artefact.choose] = _foreseen(artefact, choices)
        foreseen = known[artefact.choose]
        refused = [_refused(artefact, gap) for gap in foreseen.refused]
        gap = foreseen.lacking or lacking_slices(artefact, choices)
        if gap or not foreseen.is_possible:
            yield as_outcome(artefact, State.LACKS_DATA, [gap] if gap else refused)
            continue
        own = [*refused, *_left_out(artefact, choices)]
        own += [gap for need in artefact.needs if need.beforehand for gap in need.beforehand(choices)]
        own += [*artefact.partly, *(no_threshold if artefact.needs_k else [])]
        yield as_outcome(artefact, State.IN_PART if own else State.CAN_BE_MADE, own)


@dataclass(frozen=True)
class Foreseen:
    """What is known of the reports of an artefact before they are computed: why none can be, or why their kind refuses
    those before the first that it takes. Whether it takes the later ones is not asked: that costs queries for each.
    """

    lacking: Gap | None = None
    refused: tuple[Gap, ...] = ()
    is_possible: bool = True


def _foreseen(artefact: Artefact, choices: Choices) -> Foreseen:
    assert artefact.choose is not None
    try:
        parameters = artefact.choose(choices)
    except Lacking as lacking:
        return Foreseen(lacking.gap, is_possible=False)
    if artefact.kind in READ_TO_COMPLETE:
        return Foreseen()
    refused: list[Gap] = []
    for given in parameters:
        # Nothing is refused because of the other raters that a report of scores chooses itself; each takes queries.
        named = {"also": [], **given} if artefact.kind == Report.Kind.SCORES else given
        refusal = choices.refusal(artefact.kind, named)
        if refusal is None:
            return Foreseen(refused=tuple(refused))
        refused.append(refusal)
    return Foreseen(refused=tuple(refused), is_possible=False)
