"""Which groups, judges, candidates, reference set and threshold of a benchmark become the parameters of reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Count, F, Func
from django.utils.translation import gettext as _

from agreement.acuity.inputs import missing_inputs
from agreement.acuity.judge_inputs import run_of_judge
from agreement.acuity.level_judges import level_judge
from agreement.calibration.thresholds import suggested_k, threshold_in_force
from agreement.composition.dimensions import Dimension
from agreement.composition.inputs import read_dimensions
from agreement.drafted.inputs import read_drafted
from agreement.failures.inputs import FINAL, JUDGE, book_called, most_in_common, rater_labels
from agreement.judged.fidelity import MAX_JUDGES
from agreement.kinds import KINDS
from agreement.kinds.acuity_uncertainty import sets_with_votes
from agreement.kinds.meta_evaluation import MAX_JUDGES as MAX_PLACED
from agreement.kinds.scores import MAX_OTHER_RATERS
from agreement.models import NamedSlice, Report
from agreement.replication import gaps
from agreement.replication.gaps import Gap, Lacking
from agreement.replication.manifest import Artefact
from agreement.reports.parameters import WrongParameters, checked_k
from agreement.scoreboard.case_sets import FIRST, named_slices
from agreement.scoreboard.consensus import has_consensus_criteria
from agreement.selectors.rater_choices import judge_choices, physician_candidates
from annotation.contributions.counted_work import people_behind
from annotation.contributions.credentials import credential_tables, language_counts
from annotation.models import Decision
from annotation.selectors.ratings import groups_with_decisions, rated_work
from consilium.core.errors import DomainError, field_named
from consilium.core.jobs import JobStatus
from consilium.core.phrases import Phrase
from rubrics.bank.themes import CLUSTER, MAP, theme_of
from rubrics.models import Benchmark, Candidate, CodeBook, Response, Rubric, RubricItem
from scoring.models import JudgeRun, JudgeRunItem
from scoring.runs.selectors import coverage, run_sets
from scoring.scores.sheet import AXIS
from scoring.selectors.raters import require_verdicts, resolve_rater
from validation.models import CoverageRun, RefinementRun, TrialRun

STAGE = "checked"
MISSING_FOR_ACUITY = {"labels": gaps.LABELS, "reference-set": gaps.REFERENCE_SET, "readings": gaps.READINGS}
FINISHED = "finished"
# Judges are compared with each other on the responses of all of them. None comes in with whom fewer than this share of
# the responses of the judge with the most would be left: else a small run empties the table of all others.
MIN_IN_COMMON = 0.5
Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for in place of the usual choice; ``k`` is 0 and the others are empty where nothing was."""

    judges: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    candidate: str = ""
    k: int = 0
    seed: int = 0
    interval: str = Report.Interval.JACKKNIFE

    def as_json(self) -> dict[str, Any]:
        """For the row of a replication."""
        return {
            "judges": list(self.judges),
            "groups": list(self.groups),
            "candidate": self.candidate,
            "k": self.k,
            "seed": self.seed,
            "interval": str(self.interval),
        }

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> Options:
        """The options that `as_json` was made of."""
        return cls(**{**kept, "judges": tuple(kept["judges"]), "groups": tuple(kept["groups"])})


def check_options(benchmark: Benchmark, options: Options) -> None:
    """`DomainError`, which names the field, where an option names what the benchmark does not have."""
    for judge in options.judges:
        with field_named("judges"):
            rater = resolve_rater(benchmark, judge)
            require_verdicts(rater)
            if not rater.is_judge:
                raise WrongParameters(_("“%(name)s” is not a judge.") % {"name": judge})
    for group in options.groups:
        with field_named("groups"):
            resolve_rater(benchmark, _group_label(group))
    if options.k:
        try:
            checked_k(options.k)
        except WrongParameters as error:
            raise WrongParameters(str(error), field="k") from None
    if options.candidate:
        with field_named("candidate"):
            candidate = Candidate.objects.filter(benchmark=benchmark, name=options.candidate).first()
            if candidate is None or candidate.kind != Candidate.Kind.PHYSICIAN:
                raise WrongParameters(
                    _("“%(name)s” is not a candidate of the kind physician.") % {"name": options.candidate}
                )


def _group_label(name: str) -> str:
    name = name.removeprefix("group:")
    return f"group:{name}" if "@" in name else f"group:{name}@{STAGE}"


@dataclass(frozen=True, slots=True)
class Together:
    """The judges of one report, which compares them on the responses that all of them were to judge.

    ``apart`` are judges with too few of these in common, ``too_many`` those beyond the most that a report takes.
    ``n_common`` are the responses that are left, ``n_most`` those of the judge with the most.
    """

    judges: list[str]
    apart: list[str] = field(default_factory=list)
    too_many: list[str] = field(default_factory=list)
    n_common: int = 0
    n_most: int = 0


class Choices:
    """What a benchmark offers to the reports of a paper, looked up once."""

    def __init__(self, benchmark: Benchmark, options: Options) -> None:
        self.benchmark, self.options = benchmark, options
        self._refusals: dict[str, Gap | None] = {}

    @cached_property
    def groups(self) -> list[str]:
        """The expert groups as raters, those with the most decisions first."""
        if self.options.groups:
            return [_group_label(name) for name in self.options.groups]
        groups = groups_with_decisions(self.benchmark)
        if len(groups) > 1:
            work = Decision.objects.filter(assignment__in=rated_work(self.benchmark)).order_by()
            counts = dict(work.values_list("assignment__batch__group").annotate(n=Count("pk")))
            groups.sort(key=lambda group: -counts.get(group.pk, 0))
        return [f"group:{group.name}@{STAGE}" for group in groups]

    @cached_property
    def judges(self) -> list[str]:
        """The judges and juries with finished runs, those that read the most responses first."""
        if self.options.judges:
            return list(self.options.judges)
        names = [choice.rater for choice in judge_choices(self.benchmark)]
        runs = run_sets(self.benchmark)
        covered = coverage(self.benchmark, runs.values())
        return sorted(names, key=lambda name: -covered[name].n_responses if name in covered else 0)

    def group(self) -> str:
        """The group with the most decisions."""
        if not self.groups:
            raise Lacking(gaps.GROUP)
        return self.groups[0]

    def two_groups(self) -> tuple[str, str]:
        """The two groups with the most decisions."""
        first = self.group()
        if len(self.groups) < 2:
            raise Lacking(gaps.SECOND_GROUP)
        return first, self.groups[1]

    def judge(self) -> str:
        """The judge that read the most."""
        if not self.judges:
            raise Lacking(gaps.JUDGE)
        return self.judges[0]

    def rater(self) -> str:
        """Whose decisions scores are made of: the judge that read the most, else the group with the most decisions."""
        if not (self.judges or self.groups):
            raise Lacking(gaps.RATER)
        return (self.judges or self.groups)[0]

    def written(self) -> str:
        """The candidate of the kind physician with the most responses."""
        if self.options.candidate:
            return self.options.candidate
        candidates = Candidate.objects.filter(benchmark=self.benchmark, kind=Candidate.Kind.PHYSICIAN)
        most = candidates.annotate(n=Count("responses")).filter(n__gt=0).order_by("-n", "name").first()
        if most is None:
            raise Lacking(gaps.WRITTEN)
        return most.name

    @cached_property
    def together(self) -> Together:
        """The judges that are compared with each other on the responses that both groups decided."""
        return _together(self)

    @property
    def k(self) -> int:
        """The threshold: as asked for, else signed, else of the newest calibration, else 10."""
        return self.options.k or suggested_k(self.benchmark)[0]

    @property
    def k_is_default(self) -> bool:
        """Whether nobody has asked for, signed or calibrated a threshold."""
        calibrated = Report.objects.current().filter(
            benchmark=self.benchmark, kind=Report.Kind.CALIBRATION, status=JobStatus.DONE
        )
        return not (self.options.k or threshold_in_force(self.benchmark) or calibrated.exists())

    def refusal(self, kind: str, given: Parameters) -> Gap | None:
        """Why a kind of report refuses these parameters; None where it takes them. Each is looked up once."""
        key = json.dumps([kind, given], sort_keys=True)
        if key not in self._refusals:
            try:
                KINDS[kind].complete(self.benchmark, given)
            except DomainError as error:
                self._refusals[key] = gaps.refused(error)
            else:
                self._refusals[key] = None
        return self._refusals[key]

    # What is seen in the stored data at little cost, before anything is computed ----------------------------------

    @cached_property
    def criterion_tags(self) -> set[str]:
        """The tags of all criteria of published gold rubrics."""
        items = RubricItem.objects.filter(
            rubric__case__benchmark=self.benchmark, rubric__track="gold", rubric__status=Rubric.Status.PUBLISHED
        )
        tags = items.order_by().annotate(tag=Func(F("tags"), function="unnest")).values_list("tag", flat=True)
        return set(tags.distinct())

    @cached_property
    def criterion_kinds(self) -> set[str]:
        """The kinds of these tags, as in ``axis:NAME``."""
        return {tag.partition(":")[0] for tag in self.criterion_tags}

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """The labels of cases, by kind."""
        return read_dimensions(self.benchmark, None)

    @cached_property
    def slice_kinds(self) -> set[str]:
        """The kinds of slices that the cases and criteria have, as in ``theme:NAME``; named slices are ``subset``, and
        axes within them ``subset_axis``.
        """
        own = self.criterion_kinds | set(self.dimensions)
        if not named_slices(self.benchmark).exists():
            return own
        return own | ({"subset", "subset_axis"} if self.has_axes else {"subset"})

    @cached_property
    def has_axes(self) -> bool:
        """Whether some criterion has an axis."""
        return any(tag.startswith(AXIS) for tag in self.criterion_tags)

    @cached_property
    def has_themes(self) -> bool:
        """Whether some cluster of criteria has a theme."""
        themes = self.benchmark.maps.get(MAP, {})
        return any(theme_of(tag, themes) for tag in self.criterion_tags if tag.startswith(CLUSTER))

    @cached_property
    def has_samples(self) -> bool:
        """Whether a model has several responses to a case."""
        models = Response.objects.of_originals().filter(candidate__benchmark=self.benchmark)
        models = models.exclude(candidate__kind=Candidate.Kind.PHYSICIAN).order_by()
        return models.values("case", "candidate").annotate(n=Count("pk")).filter(n__gt=1).exists()

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a model has several samples, or some judge answered several times."""
        runs = JudgeRun.objects.graded().filter(benchmark=self.benchmark)
        again = runs.order_by().values("judge").annotate(n=Count("pk")).filter(n__gt=1)
        return self.has_samples or runs.filter(replicates__gt=1).exists() or again.exists()

    @cached_property
    def writing_modes(self) -> set[str]:
        """How physicians wrote."""
        written = Response.objects.filter(candidate__benchmark=self.benchmark, candidate__kind=Candidate.Kind.PHYSICIAN)
        return set(written.order_by().values_list("writing_mode", flat=True).distinct())

    @cached_property
    def credentials(self) -> list[tuple[str, str]]:
        """The credentials with the answers that can be shown."""
        _n, tables = credential_tables(self.benchmark)
        return [(table.name, value) for table in tables for value, _number in table.cells]

    def require_acuity(self) -> None:
        """`Lacking` where there is no signed reference set with readings."""
        missing = missing_inputs(self.benchmark)
        if missing:
            raise Lacking(MISSING_FOR_ACUITY[missing])


# Tables whose slices are the labels of cases and the tags of criteria; where the column is called otherwise, of cases
# alone or of criteria alone.
SLICED = {"scoreboard_slices": "slice", "meta_judge": "slice", "composition": "dimension", "criteria": "dimension"}


def lacking_slices(artefact: Artefact, choices: Choices) -> Gap | None:
    """What an artefact by slices lacks where no case and no criterion is in any of them."""
    column = SLICED.get(artefact.table, "")
    patterns = artefact.where.get(column, ())
    kinds = {pattern.partition(":")[0] for pattern in patterns if ":" in pattern or column == "dimension"}
    known = choices.criterion_kinds if artefact.table == "criteria" else choices.slice_kinds
    return None if kinds & known or not kinds else artefact.empty or gaps.TAGS


# The parameters of each kind ---------------------------------------------------------------------------------------


def scores(choices: Choices) -> list[Parameters]:
    """Scores by the judge that read the most; other graders beside it."""
    rater = choices.rater()
    given: Parameters = {"rater": rater, "k": choices.k}
    if choices.options.judges or choices.options.groups:
        given["also"] = _other_graders(choices)[:MAX_OTHER_RATERS]
    return [given]


def _other_graders(choices: Choices) -> list[str]:
    """Whose ranks can be compared with those by the usual rater: who was named first, of those the groups first."""
    named = [*map(_group_label, choices.options.groups), *choices.options.judges]
    rater = choices.rater()
    return [other for other in dict.fromkeys([*named, *choices.judges, *choices.groups]) if other != rater]


def graders_left_out(choices: Choices) -> list[Gap]:
    """The graders that a report has no place for, where judges or groups were named."""
    if not (choices.options.judges or choices.options.groups):
        return []
    names = [name.removeprefix("group:") for name in _other_graders(choices)[MAX_OTHER_RATERS:]]
    what = Phrase(
        "Ranks are compared with those by at most %(n)s other graders; not included: %(names)s.",
        n=MAX_OTHER_RATERS,
        names=", ".join(names),
    )
    return [gaps.MANY_GRADERS.about(what)] if names else []


def scores_by_register(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where the cases are not of two registers."""
    given = scores(choices)
    if "register" not in choices.dimensions or len(choices.dimensions["register"].values) < 2:
        raise Lacking(gaps.REGISTERS)
    return given


def scores_of_hardest(choices: Choices) -> list[Parameters]:
    """The same of the named slices of the hardest cases, and by axis within them; `Lacking` where there is none.

    Slices by another rule, such as a filter, are no hardest cases whatever they are called.
    """
    given = scores(choices)
    hardest = named_slices(choices.benchmark).filter(rule=NamedSlice.Rule.HARD)
    slugs = sorted(hardest.values_list("slug", flat=True))
    if not slugs:
        raise Lacking(gaps.NAMED_SLICE)
    return [{**parameters, "subsets": slugs, "subset_axes": True} for parameters in given]


def agreement(choices: Choices) -> list[Parameters]:
    """The two groups."""
    first, second = choices.two_groups()
    return [{"rater_a": first, "rater_b": second}]


def fidelity(choices: Choices) -> list[Parameters]:
    """Each judge beside the two groups."""
    choices.judge()
    first, second = choices.two_groups()
    return [{"judge": judge, "group_a": first, "group_b": second} for judge in choices.judges]


def comparison(choices: Choices) -> list[Parameters]:
    """Two judges, by the decisions of the group with the most."""
    choices.judge()
    group = choices.group()
    if len(choices.judges) < 2:
        raise Lacking(gaps.SECOND_JUDGE)
    return [{"reference": group, "judge_a": choices.judges[0], "judge_b": choices.judges[1]}]


def alternative(choices: Choices) -> list[Parameters]:
    """Each judge beside every physician."""
    choices.group()
    choices.judge()
    return [{"judge": judge} for judge in choices.judges]


def calibration(choices: Choices) -> list[Parameters]:
    """The group's decisions on the responses that physicians wrote."""
    candidate = choices.written()
    return [{"group": choices.group().removeprefix("group:"), "candidate": candidate}]


def acuity(choices: Choices) -> list[Parameters]:
    """The newest reference set with all candidates that have readings."""
    choices.require_acuity()
    return _accepted(Report.Kind.ACUITY, {}, gaps.READINGS, choices)


def acuity_by_slice(choices: Choices) -> list[Parameters]:
    """The same with figures by slice."""
    acuity(choices)
    return [{"slices": True}]


def acuity_uncertainty(choices: Choices) -> list[Parameters]:
    """The newest reference set that holds votes."""
    choices.require_acuity()
    with_votes = sets_with_votes(choices.benchmark)
    if not with_votes:
        raise Lacking(gaps.VOTES)
    given = {"reference_set": max(with_votes)}
    return _accepted(Report.Kind.ACUITY_UNCERTAINTY, given, gaps.READINGS, choices)


def acuity_judge(choices: Choices) -> list[Parameters]:
    """The newest run of a judge that reads levels, in responses in which physicians have marked levels, too."""
    given = _accepted(Report.Kind.ACUITY_JUDGE, {}, gaps.LEVEL_JUDGE, choices)
    run = KINDS[Report.Kind.ACUITY_JUDGE].complete(choices.benchmark, {})["run"]
    if not level_judge(run_of_judge(choices.benchmark, run)).n_read:
        raise Lacking(gaps.UNMARKED_LEVELS)
    return given


def coverage_run(choices: Choices) -> list[Parameters]:
    """The newest finished run of coverage."""
    return [{"run": _newest(CoverageRun, choices, gaps.COVERAGE)}]


def coverage_of_two(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where the run has one rubric set."""
    given = coverage_run(choices)
    if len(CoverageRun.objects.get(public_id=given[0]["run"]).set_names) < 2:
        raise Lacking(gaps.SECOND_SET)
    return given


def trial_run(choices: Choices) -> list[Parameters]:
    """The newest finished run over near-miss pairs."""
    return [{"run": _newest(TrialRun, choices, gaps.PAIRS)}]


def refinement_run(choices: Choices) -> list[Parameters]:
    """The newest finished run of refinement, scored by the rater of its newest report, else by the usual one."""
    run = _newest(RefinementRun, choices, gaps.REFINEMENT)
    reports = Report.objects.current().filter(
        benchmark=choices.benchmark, kind=Report.Kind.REFINEMENT, status=JobStatus.DONE, parameters__run=run
    )
    newest = None if choices.options.judges else reports.order_by("-created_at", "-pk").first()
    return [{"run": run, "rater": newest.parameters["rater"] if newest else choices.rater()}]


def drafting(choices: Choices) -> list[Parameters]:
    """All suggestions that were decided in published rubrics."""
    if not read_drafted(choices.benchmark).suggestions:
        raise Lacking(gaps.DRAFTED)
    return [{"coverage": ""}]


def judges_together(choices: Choices) -> list[Parameters]:
    """The judges with enough responses in common in one report, beside the two groups."""
    choices.judge()
    first, second = choices.two_groups()
    if len(choices.judges) < 2:
        raise Lacking(gaps.SECOND_JUDGE)
    together = choices.together
    if len(together.judges) < 2:
        raise Lacking(gaps.NOT_IN_COMMON)
    return [{"judges": together.judges, "group_a": first, "group_b": second}]


def judges_left_out(choices: Choices) -> list[Gap]:
    """The judges that are not in that report, and on how few responses two judges are compared."""
    together, omissions = choices.together, []
    if together.apart:
        what = Phrase(
            "Judges are compared on the responses that all of them were to judge. Fewer than half would remain with "
            "these judges, which are not included: %(names)s.",
            names=", ".join(together.apart),
        )
        omissions.append(gaps.NOT_IN_COMMON.about(what))
    if together.too_many:
        names = ", ".join(together.too_many)
        what = Phrase("A report compares at most %(n)s judges; not included: %(names)s.", n=MAX_JUDGES, names=names)
        omissions.append(gaps.MANY_GRADERS.about(what))
    if together.n_common < MIN_IN_COMMON * together.n_most:
        what = Phrase(
            "Of the responses that both groups decided, the judges have only %(n)s of %(all)s in common.",
            n=together.n_common,
            all=together.n_most,
        )
        omissions.append(gaps.NOT_IN_COMMON.about(what))
    return omissions


def _together(choices: Choices) -> Together:
    """`Together` of the judges, those with the most responses first.

    A judge comes in if at least `MIN_IN_COMMON` of the responses of the first remain with it. Where that is none, the
    two with the most in common are compared all the same.
    """
    decided = _decided_by_all(choices.benchmark, choices.two_groups())
    own = {judge: _to_judge(choices.benchmark, judge, decided) for judge in choices.judges}
    first, *others = sorted(choices.judges, key=lambda judge: -len(own[judge]))
    most = len(own[first])
    if not most:  # the report says why
        return Together(choices.judges[:MAX_JUDGES])
    kept, common = {first}, own[first]
    apart: list[str] = []
    too_many: list[str] = []
    for judge in others:
        remaining = common & own[judge]
        if len(remaining) < MIN_IN_COMMON * most:
            apart.append(judge)
        elif len(kept) == MAX_JUDGES:
            too_many.append(judge)
        else:
            kept.add(judge)
            common = remaining
    if len(kept) == 1 and apart:
        second = max(apart, key=lambda judge: len(common & own[judge]))
        if common & own[second]:
            apart.remove(second)
            kept.add(second)
            common = common & own[second]
    in_order = [judge for judge in choices.judges if judge in kept]
    return Together(in_order, apart, too_many, len(common), most)


def _decided_by_all(benchmark: Benchmark, groups: Iterable[str]) -> set[int]:
    """The responses on which every one of some groups has submitted work; not those to excluded cases."""
    work = rated_work(benchmark).filter(response__case__excluded_at=None).order_by()
    names = [group.removeprefix("group:").rpartition("@")[0] for group in groups]
    return set.intersection(
        *(set(work.filter(batch__group__name=name).values_list("response", flat=True)) for name in names)
    )


def _to_judge(benchmark: Benchmark, judge: str, responses: set[int]) -> set[int]:
    """Those of some responses that a judge, or each member of a jury, was to judge; none where it has no verdict."""
    try:
        rater = resolve_rater(benchmark, judge)
        require_verdicts(rater)
    except DomainError:
        return set()
    for runs in rater.judges:
        items = JudgeRunItem.objects.filter(run__in=runs.run_ids).order_by()
        responses = responses & set(items.values_list("response", flat=True))
    return responses


def composition(choices: Choices) -> list[Parameters]:
    """All cases, by the usual two dimensions."""
    if not choices.benchmark.cases.exists():
        raise Lacking(gaps.CASES)
    return [{}]


def composition_cross(choices: Choices) -> list[Parameters]:
    """Cases by specialty and difficulty, each by its first label; `Lacking` where no case has both."""
    composition(choices)
    dimensions = choices.dimensions
    for name in ("specialty_group", "specialty"):
        if name in dimensions and "difficulty" in dimensions:
            has_row = dimensions[name].first_incidence.any(axis=1)
            if (has_row & (dimensions["difficulty"].sizes > 0)).any():
                return [{"row": f"{name}{FIRST}", "column": "difficulty"}]
    raise Lacking(gaps.TAGS.about(Phrase("No case has both a specialty and a difficulty.")))


def cohort(choices: Choices) -> list[Parameters]:
    """Everybody who applied or took part."""
    if not choices.benchmark.applications.exists() and not people_behind(choices.benchmark):
        raise Lacking(gaps.COHORT)
    return [{}]


def cohort_flow(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where nobody applied."""
    given = cohort(choices)
    if not choices.benchmark.applications.exists():
        raise Lacking(gaps.COHORT)
    return given


def cohort_languages(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where no language can be shown."""
    given = cohort(choices)
    if not language_counts(people_behind(choices.benchmark)):
        raise Lacking(gaps.LANGUAGES)
    return given


def consensus(choices: Choices) -> list[Parameters]:
    """Consensus criteria by the judge that read the most."""
    if not has_consensus_criteria(choices.benchmark):
        raise Lacking(gaps.CONSENSUS)
    return _accepted(Report.Kind.CONSENSUS, {"rater": choices.rater()}, gaps.RATER, choices, says_why=True)


def meta_evaluation(choices: Choices) -> list[Parameters]:
    """Each judge among the physicians of all groups: a judge without shared pairs takes nothing from the others."""
    choices.group()
    choices.judge()
    return [
        parameters
        for judge in choices.judges[:MAX_PLACED]
        for parameters in _accepted(Report.Kind.META_EVAL, {"judges": [judge]}, gaps.JUDGE, choices, says_why=True)
    ]


def repeats(choices: Choices) -> list[Parameters]:
    """Repeated answers, by the judge that read the most."""
    return [{"rater": choices.rater(), "k": choices.k}]


def modes(choices: Choices) -> list[Parameters]:
    """What physicians wrote, in each mode, by the judge that read the most."""
    if not physician_candidates(choices.benchmark):
        raise Lacking(gaps.WRITTEN)
    given = {"rater": choices.rater(), "k": choices.k}
    return _accepted(Report.Kind.MODES, given, gaps.UNGRADED_WRITTEN, choices, says_why=True)


def modes_by_axis(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where no criterion has an axis."""
    given = modes(choices)
    if not choices.has_axes:
        raise Lacking(gaps.AXES)
    return given


def modes_beside(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where nobody wrote beside references."""
    given = modes(choices)
    if Response.WritingMode.AIDED not in choices.writing_modes:
        raise Lacking(gaps.WRITTEN_BESIDE)
    return given


def frontier(choices: Choices) -> list[Parameters]:
    """Rubric scores beside the attributes of candidates."""
    return [{"rater": choices.rater(), "measure": "rubric_score"}]


def failures(choices: Choices) -> list[Parameters]:
    """Two raters who coded by the newest code book; coverage by the judge that read the most, if anybody decided."""
    try:
        book = book_called(choices.benchmark, None)
    except WrongParameters:
        raise Lacking(gaps.CODED) from None
    raters = _two_coders(book)
    if raters is None:
        raise Lacking(gaps.CODED)
    graded_by = choices.rater() if choices.judges or choices.groups else ""
    given = {"rater_a": raters[0], "rater_b": raters[1], "graded_by": graded_by}
    return _accepted(Report.Kind.FAILURES, given, gaps.CODED, choices, says_why=True)


def failures_coverage(choices: Choices) -> list[Parameters]:
    """The same; `Lacking` where nobody decided on criteria, so that no coverage is known."""
    given = failures(choices)
    choices.rater()
    return given


def _two_coders(book: CodeBook) -> tuple[str, str] | None:
    """The first two groups that coded; else the two physicians who coded the most responses in common; else final codes
    and a judge, or two judges. None where there are no two.
    """
    labels = rater_labels(book)
    groups = [label for label in labels if label.startswith("group:")]
    judges = [label for label in labels if label.startswith(JUDGE)]
    if len(groups) > 1:
        return groups[0], groups[1]
    others = [*([FINAL] if FINAL in labels else []), *judges]
    return most_in_common(book) or ((others[0], others[1]) if len(others) > 1 else None)


def _accepted(kind: str, given: Parameters, gap: Gap, choices: Choices, *, says_why: bool = False) -> list[Parameters]:
    """Parameters of a kind; ``gap`` where its own check refuses them.

    ``says_why``: there are several reasons for a refusal, so that the check's own words stand before the next step.
    """
    refusal = choices.refusal(kind, given)
    if refusal is not None:
        raise Lacking(gap.about(refusal.what) if says_why else gap)
    return [given]


def _newest(model: Any, choices: Choices, gap: Gap) -> str:
    runs = model.objects.filter(benchmark=choices.benchmark, status=FINISHED)
    newest = runs.order_by("-created_at", "-pk").values_list("public_id", flat=True).first()
    if newest is None:
        raise Lacking(gap)
    return str(newest)
