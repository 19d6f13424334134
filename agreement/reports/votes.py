"""What each physician of a group decided on a pair, under pseudonyms, as exports of decisions give it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.models import Amendment, Assignment, Decision, Physician
from consilium.core.labels import OUTCOME_LABELS
from rubrics.models import Benchmark

Pair = tuple[int, int]  # ids of a response and a criterion
GROUP = "group:"


@dataclass(frozen=True)
class Vote:
    """A physician's own decision, and what a finished check changed it to, where it did."""

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


def votes_of(benchmark: Benchmark, rater: str, pairs: Iterable[Pair]) -> dict[Pair, list[Vote]]:
    """The votes of the group ``rater`` on some pairs, by pair; empty for a judge. In three queries."""
    if not rater.startswith(GROUP):
        return {}
    name, stage = rater.removeprefix(GROUP), ""
    if "@" in name:
        name, _at, stage = name.rpartition("@")
    chosen_pairs = set(pairs)
    work = Assignment.objects.filter(
        batch__group__benchmark=benchmark,
        batch__group__name=name,
        purpose=Assignment.Purpose.WORK,
        submitted_at__isnull=False,
        response__in={response for response, _criterion in chosen_pairs},
    ).exclude(status=Assignment.Status.RELEASED)
    criteria = {criterion for _response, criterion in chosen_pairs}
    decisions = list(
        Decision.objects.filter(assignment__in=work, criterion__in=criteria).values_list(
            "assignment", "assignment__response", "criterion", "assignment__annotator", "outcome"
        )
    )
    changes = Amendment.objects.filter(
        check_row__assignment__in=work, check_row__finished_at__isnull=False, criterion__in=criteria
    ).exclude(outcome="")
    amended = {
        (assignment, criterion): outcome
        for assignment, criterion, outcome in changes.order_by("check_row__round").values_list(
            "check_row__assignment", "criterion", "outcome"
        )
        if stage != "first"
    }
    people = {annotator for _assignment, _response, _criterion, annotator, _outcome in decisions}
    names = dict(Physician.objects.filter(benchmark=benchmark, user__in=people).values_list("user", "pseudonym"))
    votes: dict[Pair, list[Vote]] = {}
    for assignment, response, criterion, annotator, outcome in decisions:
        if (response, criterion) in chosen_pairs and outcome:
            own = Vote(names.get(annotator, "–"), outcome, amended.get((assignment, criterion), ""))
            votes.setdefault((response, criterion), []).append(own)
    return {pair: sorted(own, key=lambda vote: vote.physician) for pair, own in votes.items()}
