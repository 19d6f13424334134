"""Draws made-up physicians' decisions on the composed responses, whose truth is known.

A physician reads how strongly a response satisfies a criterion and decides *met* above their own threshold:

    reading = signal + group's view + own scatter - strictness,     met where reading > 0

The signal is +1 where the satisfying sentence stands, a little below 0 for a near miss and -1 where nothing is said.
The group's view is drawn once for each (group, response, criterion) and shared by its physicians: colleagues who
discuss guidelines agree more with each other than with the other group. Ambiguous criteria scatter more in both.

Every draw comes from a generator seeded with the names of what is drawn, so a decision does not depend on which others
were drawn before it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from consilium.statistics.outcomes import Outcome
from demo import DemoPerson
from demo.cases import DemoCase
from demo.responses import DemoResponse, Span

MET, NOT_MET, CANNOT_ASSESS = Outcome.MET.word, Outcome.NOT_MET.word, Outcome.CANNOT_ASSESS.word

SIGNAL_MET, SIGNAL_NEAR_MISS, SIGNAL_ABSENT = 1.05, -0.4, -1.4
GROUP_SCATTER = 0.84  # of the group's view, times the criterion's ambiguity
BORDERLINE_BAND = 0.12  # a reading this close to the threshold may be marked borderline
CANNOT_ASSESS_RATE = 0.006
NOTE_RATE = 0.04  # of decisions, in addition to those that need a note
EVIDENCE_RATE = 0.45  # of met decisions that rest on a sentence

_NOTES = {
    "en": {
        MET: ("Stated clearly.", "All parts are covered.", "Worded differently, but the meaning is there."),
        NOT_MET: ("Not mentioned.", "Only touched on; the required part is missing.", "Too vague to count as met."),
        CANNOT_ASSESS: (
            "The criterion leaves open which situation it means.",
            "Outside my field; I cannot judge whether this is correct.",
        ),
        "borderline": ("Close call: one part is only implied.", "Could be read either way."),
        "amend met": ("The response does say this.", "The meaning is there, in other words."),
        "amend not_met": (
            "The rule sheet asks for all parts of the criterion.",
            "A hint is not enough under the rule sheet.",
        ),
        "return": ("Please look again at the last criteria: several seem to have been answered too quickly.",),
        "ruling": ("Read together with the rule sheet on compound criteria.", "The wording in the response decides."),
    },
    "zh": {
        MET: ("表述明确。", "各要点均已涵盖。", "措辞不同，但意思一致。"),
        NOT_MET: ("未提及。", "只是一带而过，缺少关键内容。", "过于笼统，不能算满足。"),
        CANNOT_ASSESS: ("标准所指的情形不够明确。", "超出我的专业范围，无法判断对错。"),
        "borderline": ("处于两可之间，有一部分只是暗示。", "两种理解都说得通。"),
        "amend met": ("回答中确有这一内容。", "意思已经表达，只是措辞不同。"),
        "amend not_met": ("按评分规则，复合标准的各部分都要满足。", "仅有暗示，按规则不算满足。"),
        "return": ("请再看一下最后几条标准，有几条似乎判断得过快。",),
        "ruling": ("按复合标准的评分规则判断。", "以回答中的原文为准。"),
    },
}


@dataclass(frozen=True)
class Grading:
    """One physician's decision on one criterion, before it is stored."""

    outcome: str
    borderline: bool = False
    note: str = ""
    evidence: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Correction:
    """A checker's other outcome for the criterion at ``position`` (from 0), with the reason."""

    position: int
    outcome: str
    reason: str


@dataclass(frozen=True)
class Simulator:
    """Draws decisions, checks and rulings. The same seed gives the same results, whatever the order of calls."""

    seed: int
    _ambiguity: dict[tuple[str, int], float] = field(default_factory=dict, compare=False, repr=False)

    def _rng(self, *names: object) -> random.Random:
        return random.Random("\x1f".join(str(name) for name in (self.seed, *names)))

    def ambiguity(self, case: DemoCase, position: int) -> float:
        """How ambiguous a criterion is: about 1 on average, higher where near misses are possible."""
        ambiguity = self._ambiguity.get((case.key, position))
        if ambiguity is None:
            base = 1.15 if case.criteria[position].near_miss else 0.85
            ambiguity = base * self._rng("ambiguity", case.key, position).uniform(0.55, 1.45)
            self._ambiguity[case.key, position] = ambiguity
        return ambiguity

    def reading(self, case: DemoCase, response: DemoResponse, position: int, person: DemoPerson) -> float:
        """How strongly ``person`` finds the criterion satisfied; above 0 is met."""
        if response.met_spans[position] is not None:
            signal = SIGNAL_MET
        elif response.near_spans[position] is not None:
            signal = SIGNAL_NEAR_MISS
        else:
            signal = SIGNAL_ABSENT
        spread = self.ambiguity(case, position)
        view = self._rng("view", person.group, response.key, position).gauss(0, GROUP_SCATTER * spread)
        scatter = self._rng("scatter", person.email, response.key, position).gauss(0, person.noise * spread)
        return signal + view + scatter - person.strictness

    def grade(self, case: DemoCase, response: DemoResponse, person: DemoPerson) -> list[Grading]:
        """``person``'s decisions on every criterion of the case, in order."""
        return [self._grading(case, response, position, person) for position in range(len(case.criteria))]

    def _grading(self, case: DemoCase, response: DemoResponse, position: int, person: DemoPerson) -> Grading:
        rng = self._rng("grading", person.email, response.key, position)
        if rng.random() < CANNOT_ASSESS_RATE:
            return Grading(CANNOT_ASSESS, note=self.phrase(case, CANNOT_ASSESS, rng))
        reading = self.reading(case, response, position, person)
        outcome = MET if reading > 0 else NOT_MET
        borderline = abs(reading) < BORDERLINE_BAND and rng.random() < 0.7
        note = ""
        if rng.random() < (0.4 if borderline else NOTE_RATE):
            note = self.phrase(case, "borderline" if borderline else outcome, rng)
        span = response.met_spans[position] or response.near_spans[position]
        marked = outcome == MET and span is not None and rng.random() < EVIDENCE_RATE
        return Grading(outcome, borderline, note, (span,) if marked and span is not None else ())

    def check(
        self, case: DemoCase, response: DemoResponse, gradings: Sequence[Grading], checker: DemoPerson
    ) -> list[Correction]:
        """What ``checker`` amends. A checker reads the response too, and amends more often the surer the reading is."""
        corrections = []
        for position, grading in enumerate(gradings):
            reading = self.reading(case, response, position, checker)
            outcome = MET if reading > 0 else NOT_MET
            if outcome == grading.outcome:
                continue
            rng = self._rng("check", checker.email, response.key, position)
            if rng.random() < min(0.8, 0.75 * abs(reading)):
                corrections.append(Correction(position, outcome, self.phrase(case, f"amend {outcome}", rng)))
        return corrections

    def rule(self, case: DemoCase, response: DemoResponse, position: int, adjudicator: DemoPerson) -> tuple[str, str]:
        """The adjudicator's outcome for one conflict, and the reason (often empty)."""
        rng = self._rng("rule", adjudicator.email, response.key, position)
        outcome = MET if self.reading(case, response, position, adjudicator) > 0 else NOT_MET
        return outcome, self.phrase(case, "ruling", rng) if rng.random() < 0.3 else ""

    def phrase(self, case: DemoCase, kind: str, rng: random.Random) -> str:
        """A sentence in the language of the case: for an outcome, ``borderline``, ``return``, ``ruling``, and for an
        amendment to an outcome, as ``amend met``.
        """
        return rng.choice(_NOTES["zh" if case.language.startswith("zh") else "en"][kind])
