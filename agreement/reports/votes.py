"""What each physician of a group decided on a pair, under pseudonyms, as exports of decisions give it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.models import ExpertGroup, Physician
from annotation.selectors.ratings import rulings_behind, votes_behind
from consilium.core.labels import OUTCOME_LABELS
from rubrics.models import Benchmark

Pair = tuple[int, int]  # ids of a response and a criterion
GROUP = "group:"


@dataclass(frozen=True)
class Vote:
    """A physician's own decision, and what the check changed it to, where it did."""

    physician: str
    outcome: str
    amended: str = ""

    @property
    def in_words(self) -> str:
        """For a line below the outcome of the group."""
        words = {"physician": self.physician, "outcome": OUTCOME_LABELS.get(self.outcome, self.outcome)}
        if not self.amended:
            return _("%(physician)s: %(outcome)s") % words
        amended = OUTCOME_LABELS.get(self.amended, self.amended)
        return _("%(physician)s: %(outcome)s, after the check: %(amended)s") % {**words, "amended": amended}


@dataclass(frozen=True)
class Ruled:
    """What the group's adjudicator ruled, which counts in place of the votes."""

    outcome: str

    @property
    def in_words(self) -> str:
        """For a line below the votes."""
        return _("Adjudicator: %(outcome)s") % {"outcome": OUTCOME_LABELS.get(self.outcome, self.outcome)}


def votes_of(benchmark: Benchmark, rater: str, pairs: Iterable[Pair]) -> dict[Pair, list[Vote | Ruled]]:
    """The votes that the outcomes of the group ``rater`` at its stage come from, and the ruling after them, by pair.

    Empty for a judge. In a fixed number of queries.
    """
    if not rater.startswith(GROUP):
        return {}
    name, stage = rater.removeprefix(GROUP), ""
    if "@" in name:
        name, _at, stage = name.rpartition("@")
    group = ExpertGroup.objects.filter(benchmark=benchmark, name=name).first()
    if group is None:
        return {}
    chosen_pairs = set(pairs)
    responses = {response for response, _criterion in chosen_pairs}
    votes = votes_behind(group, stage, responses)
    people = Physician.objects.filter(benchmark=benchmark, user__in={vote.annotator for vote in votes})
    names = dict(people.values_list("user", "pseudonym"))
    lines: dict[Pair, list[Vote | Ruled]] = {}
    for vote in sorted(votes, key=lambda vote: names.get(vote.annotator, "–")):
        if (vote.response, vote.criterion) in chosen_pairs:
            amended = vote.outcome if vote.outcome != vote.own else ""
            own = Vote(names.get(vote.annotator, "–"), vote.own, amended)
            lines.setdefault((vote.response, vote.criterion), []).append(own)
    for pair, outcome in (rulings_behind(group, responses) if stage == "final" else {}).items():
        if pair in lines:
            lines[pair].append(Ruled(outcome))
    return lines
