"""Which judge's readings of responses a report on acuity takes, and how far physicians have checked that judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from agreement.acuity.judge_tables import ENOUGH_READ
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted
from annotation.labels.advice import ReadAnswer, read_answers
from annotation.models import ReferenceItem, ReferenceSet
from scoring.models import AcuityReading, JudgeRun, JudgeRunItem
from scoring.runs.selectors import level_runs


@dataclass(frozen=True, slots=True)
class LevelJudge:
    """A judge with its run that counts: ``n_read`` of the ``n_responses`` that it read were read by physicians too.

    ``run`` is the id that files name it by, ``address`` the one in addresses here; a run of a release has two.
    ``answers`` are all that physicians marked on responses on its scale.
    """

    judge: str
    version: int
    run: str
    n_responses: int
    n_read: int
    address: str
    answers: Sequence[ReadAnswer] = field(repr=False)

    @property
    def identity(self) -> tuple[str, int, str, int, int]:
        """What a digest covers, the same wherever a release takes the run."""
        return self.judge, self.version, self.run, self.n_responses, self.n_read

    @property
    def facts(self) -> dict[str, Any]:
        """What a report keeps of it, and the run for what has changed since."""
        names = {"judge": self.judge, "version": self.version, "run": self.run, "address": self.address}
        counts = {"n_responses": self.n_responses, "n_read": self.n_read, "needed": ENOUGH_READ}
        return {"level_judge": {**names, **counts, "is_checked": self.n_read >= ENOUGH_READ}, "runs": [self.address]}


def runs_on(reference_set: ReferenceSet) -> list[JudgeRun]:
    """The runs that count of the judges that were asked about a case of the set, the last to finish first."""
    runs = level_runs(reference_set.scale)
    cases = ReferenceItem.objects.filter(reference_set=reference_set, case__excluded_at=None).values("case")
    items = JudgeRunItem.objects.filter(run__in=runs, response__case__in=cases)
    own = set(items.values_list("run", flat=True).distinct())
    return [run for run in runs if run.pk in own]


def run_on(reference_set: ReferenceSet, judge: str) -> JudgeRun | None:
    """The run of the judge of this name; None without a name, `WrongParameters` where it has none on these cases."""
    if not judge:
        return None
    runs = {run.judge.name: run for run in runs_on(reference_set)}
    if judge not in runs:
        raise WrongParameters(
            _(
                "No judge called “%(judge)s” has read responses to the cases of reference set %(number)s. "
                "Available: %(known)s."
            )
            % {"judge": judge, "number": reference_set.number, "known": ", ".join(sorted(runs)) or _("none")},
            field="parameters.judge",
        )
    return runs[judge]


def chosen_judge(reference_set: ReferenceSet, given: Any) -> dict[str, str]:
    """The parameter ``judge``: by default the judge whose run finished last; without the key where no judge read."""
    if given in (None, ""):
        newest = next(iter(runs_on(reference_set)), None)
        return {"judge": newest.judge.name} if newest else {}
    if not isinstance(given, str):
        raise WrongParameters(_("“judge” must be the name of a judge that reads levels."), field="parameters.judge")
    run_on(reference_set, given)
    return {"judge": given}


def level_judge(run: JudgeRun) -> LevelJudge:
    """The judge of a run, with how many of its responses physicians have read."""
    assert run.judge.scale is not None
    answers = read_answers(run.judge.scale)
    readings = AcuityReading.objects.filter(judge_run=run, case__excluded_at=None)
    judged = set(readings.values_list("response", flat=True).distinct())
    n_read = len(judged & {answer.response for answer in answers})
    return LevelJudge(run.judge.name, run.judge.version, run.lasting_id, len(judged), n_read, run.public_id, answers)


def judge_methods(facts: Mapping[str, Any]) -> list[str]:
    """What the methods say of it; nothing where no judge's readings are in the report."""
    own = facts.get("level_judge")
    if own is None:
        return []
    checked = f"physicians read {own['n_read']:,} of them"
    if not own["is_checked"]:
        checked += f", fewer than the {own['needed']} that it takes to check a judge"
    return [
        f"Levels advised to a patient were read out of {counted(own['n_responses'], 'response')} by the judge "
        f"{own['judge']}, version {own['version']} (run {own['run']}, of several replicates the first); {checked}. "
        "Its errors are in the figures of these readings."
    ]
