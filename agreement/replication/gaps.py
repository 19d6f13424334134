"""What an artefact of a paper still needs, and how to get it: in English at once, and in the reader’s language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from agreement.models import Report
from agreement.replication.heading_words import translated_headings
from consilium.core.errors import DomainError
from consilium.core.i18n import translate, translate_remark
from consilium.core.phrases import BETWEEN_PHRASES, Phrase, joined

WHY = "why"  # the value of a phrase that has reasons of a report
NAMES, COLUMNS = "names", "columns"  # the values that have headings, and the columns whose headings they are


# The pages that only an admin of the benchmark may open.
ADMIN_VIEWS = frozenset({"rubrics:people", "rubrics:settings"})


@dataclass(frozen=True, slots=True)
class Gap:
    """``what`` is missing; ``how`` says the next step, ``command`` is one for it, and ``view`` the page where it is
    done (the name of its route, which takes the benchmark's slug).
    """

    what: Phrase
    how: Phrase | None = None
    command: str = ""
    view: str = ""

    def about(self, what: Phrase) -> Gap:
        """The same next step, for something else that is missing."""
        return replace(self, what=what)

    def step(self, slug: str) -> str:
        """The next step in English: the sentence and the command, with the benchmark’s short name in it."""
        command = f"manage.py {self.command.replace('SLUG', slug)}" if self.command else ""
        return " ".join(filter(None, [self.how, command and f"Command: {command}"]))

    @property
    def what_here(self) -> str:
        """What is missing, in the language of the reader; reasons and headings of a report are stored in English."""
        values = dict(self.what.values)
        if WHY in values:
            values[WHY] = joined(*map(translate_remark, str(values[WHY]).split(BETWEEN_PHRASES)))
        if COLUMNS in values:
            values[NAMES] = translated_headings(values[COLUMNS])
        return translate(Phrase(self.what.template, **values) if values else self.what)

    @property
    def how_here(self) -> str:
        """The next step, in the language of the reader."""
        return translate(self.how) if self.how else ""

    def as_json(self) -> dict[str, Any]:
        """For the result of a replication."""
        return {
            "what": _as_json(self.what),
            "how": _as_json(self.how) if self.how else None,
            "command": self.command,
            "view": self.view,
        }

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> Gap:
        """The gap that `as_json` was made of."""
        how = _of_json(kept["how"]) if kept["how"] else None
        return cls(_of_json(kept["what"]), how, kept["command"], kept["view"])


def _as_json(phrase: Phrase) -> dict[str, Any]:
    return {"template": phrase.template, "values": phrase.values}


def _of_json(kept: dict[str, Any]) -> Phrase:
    return Phrase(kept["template"], **kept["values"])


class Lacking(Exception):
    """The stored data allow nothing of an artefact; ``gap`` says what is missing."""

    def __init__(self, gap: Gap) -> None:
        super().__init__(str(gap.what))
        self.gap = gap


def refused(error: DomainError) -> Gap:
    """The gap where a report with the parameters cannot be."""
    return Gap(Phrase("A report with these parameters is refused: %(why)s", why=str(error)))


# What the choice of parameters can lack ---------------------------------------------------------------------------
GROUP = Gap(
    Phrase("No expert group has submitted work."),
    Phrase("Distribute responses to a group in a batch, or import decisions."),
    "import_decisions decisions.csv --benchmark SLUG",
    "annotation:batches",
)
SECOND_GROUP = Gap(
    Phrase("Only one expert group has submitted work; two are needed."),
    Phrase("Distribute the same responses to a second group, or import its decisions."),
    "import_decisions decisions.csv --benchmark SLUG",
    "annotation:batches",
)
JUDGE = Gap(
    Phrase("No judge has a finished run."),
    Phrase("Add a judge and start a run over all responses, or import verdicts."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
SECOND_JUDGE = Gap(
    Phrase("Only one judge has a finished run; two are needed."),
    Phrase("Add a second judge and start a run over the same responses, or import its verdicts."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
NOT_IN_COMMON = Gap(
    Phrase("No two judges were to judge the same responses that both groups decided."),
    Phrase("Start runs of the judges over the same responses, those that both groups decided, or import verdicts."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
MANY_GRADERS = Gap(
    Phrase("There are more graders than a report compares."),
    Phrase("Name fewer judges and groups: those whose ranks are to be compared."),
    view="agreement:replication",
)
RATER = Gap(
    Phrase("Neither a judge nor an expert group has decided anything."),
    Phrase("Start a run of a judge, distribute responses to a group, or import decisions or verdicts."),
    "import_verdicts verdicts.jsonl --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
WRITTEN = Gap(
    Phrase("No physician has written responses."),
    Phrase("Distribute writing tasks, or import the responses as those of a candidate of the kind physician."),
    "import_responses responses.jsonl --benchmark SLUG",
    "annotation:batches",
)
UNGRADED_WRITTEN = Gap(
    Phrase("The responses that physicians wrote have no score by the rater that gives the scores."),
    Phrase("Let this judge or group decide on them, too."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
UNGRADED_BESIDE = UNGRADED_WRITTEN.about(
    Phrase("No response that a physician wrote has a score together with its reference responses.")
)
NOT_COUNTED_WRITTEN = Gap(
    Phrase("The responses that physicians wrote are to excluded cases."),
    Phrase("Include these cases again, or let physicians write responses to other cases."),
    view="rubrics:cases",
)
GRADED_WRITTEN = Gap(
    Phrase("k cannot be calibrated on the responses that physicians wrote."),
    Phrase("A group must grade them in full, on cases with the same number of positive criteria."),
    "calibrate --benchmark SLUG",
    "agreement:calibration",
)
SHARED_PAIRS = Gap(
    Phrase("No judge shares decided pairs with the group."),
    Phrase("Start a run of a judge over the responses that the group graded, or import its verdicts."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
OTHER_GRADED = Gap(
    Phrase("The group has graded no other candidate in full."),
    Phrase("Let the group grade the responses of the models, too, with all their criteria."),
    "",
    "annotation:batches",
)
THRESHOLD = Gap(
    Phrase("k has been neither calibrated nor signed."),
    Phrase("Calibrate k on responses that physicians wrote, and sign it; or name k with --k."),
    "calibrate --benchmark SLUG",
    "agreement:calibration",
)
LABELS = Gap(
    Phrase("No case has a level of urgency."),
    Phrase("Import labels of urgency, or ask physicians for them."),
    "import_acuity labels.jsonl --benchmark SLUG",
    "scoring:acuity",
)
DATASETS = Gap(
    Phrase("No case of the panel has a label of a dataset, so that the cases are not counted by dataset."),
    Phrase("Import the labels of the datasets, and sign a reference set with them."),
    "import_acuity labels.jsonl --benchmark SLUG --dataset NAME",
    "scoring:acuity",
)
REFERENCE_SET = Gap(
    Phrase("No reference set has been signed."),
    Phrase("Draw up a reference set from the labels, and sign it."),
    "reference_set --benchmark SLUG",
    "annotation:reference-sets",
)
READINGS = Gap(
    Phrase("No candidate has readings for the cases of the reference set."),
    Phrase("Start a run of forced choices or of advice, or import readings."),
    "import_acuity readings.csv --benchmark SLUG",
    "scoring:acuity",
)
BOTH_FORMATS = Gap(
    Phrase("No candidate has readings in both formats, forced choice and advice."),
    Phrase("Start a run in the other format, or let a judge of levels read responses."),
    "",
    "scoring:acuity",
)
VOTES = Gap(
    Phrase("The reference set has no votes of physicians."),
    Phrase("Ask at least three physicians about each case, or import their votes, and sign a set from them."),
    "import_votes votes.csv --benchmark SLUG",
    "annotation:labels",
)
LEVEL_JUDGE = Gap(
    Phrase("No judge has read levels of urgency in responses."),
    Phrase("Add a judge that reads levels, start a run, and let physicians mark levels in the same responses."),
    "",
    "scoring:judges",
)
UNMARKED_LEVELS = Gap(
    Phrase("No physician has marked levels in the responses that the judge read."),
    Phrase("Let physicians mark levels in the same responses."),
    "",
    "annotation:labels",
)
COVERAGE = Gap(
    Phrase("No run has measured how far rubrics cover the gold criteria."),
    Phrase("Add a rubric set, and start a run of coverage."),
    "",
    "validation:coverage-new",
)
SECOND_SET = Gap(
    Phrase("The run of coverage has one rubric set; two are compared."),
    Phrase("Add a second rubric set, and start a run over both."),
    "",
    "validation:coverage-new",
)
PAIRS = Gap(
    Phrase("No run has scored near-miss pairs."),
    Phrase("Make or import near-miss pairs, and start a run over them."),
    "",
    "validation:trial-new",
)
REFINEMENT = Gap(
    Phrase("No run has refined responses by rubrics."),
    Phrase("Start a run of refinement, and let a judge score the responses before and after."),
    "",
    "validation:refinement-new",
)
UNSCORED = Gap(
    Phrase("No case has a score both before and after the refinement."),
    Phrase("Let a judge or a group score the responses of the run before and after."),
    "judge --benchmark SLUG --judge JUDGE --kind derived --with-bases",
    "scoring:judges",
)
DRAFTED = Gap(
    Phrase("No decision has been made on suggestions in a published rubric."),
    Phrase("Draft criteria, decide on them in the editor, and publish the rubric."),
    "",
    "drafting:drafting",
)
TAGS = Gap(
    Phrase("No case has the tags by which the paper divides its cases."),
    Phrase("Give the cases these tags on their pages, or import them with the tags into a new benchmark."),
    "",
    "rubrics:cases",
)
SAMPLES = Gap(
    Phrase("Each case has one response of each model; the worst of k needs several samples."),
    Phrase("Generate or import more samples of each response, and judge them."),
    "generate --benchmark SLUG",
    "scoring:judges",
)
REPEATS = Gap(
    Phrase("Every model has at most 1 repeat of the 2 that are needed."),
    Phrase("Generate or import more samples of each response, and judge them; or let the judge answer more than once."),
    "generate --benchmark SLUG",
    "scoring:judges",
)
THEMES = Gap(
    Phrase("No criterion has a theme, so that all are in one row, “no theme”."),
    Phrase("Map the clusters of criteria (cluster:NAME) to themes, or import rubrics with HealthBench’s clusters."),
    view="rubrics:settings",
)
AXES = TAGS.about(Phrase("No criterion has a tag for its axis (axis:NAME)."))
LEVELS = TAGS.about(Phrase("No criterion has a tag for its level (level:NAME)."))
LEVELS_AND_AXES = TAGS.about(Phrase("No criterion has a tag for its level (level:NAME) or its axis (axis:NAME)."))
CASE_LANGUAGES = Gap(
    Phrase("No case has a language."),
    Phrase("Let the languages of the cases be detected, or enter them."),
    view="rubrics:case-languages",
)
NAMED_SLICE = Gap(
    Phrase("There is no named slice of the hardest cases."),
    Phrase("Draw up the slice of the hardest cases by the scores of some candidates."),
    "",
    "agreement:slices",
)
CASES = Gap(
    Phrase("The benchmark has no cases."),
    Phrase("Import cases, or write them."),
    "import_cases cases.jsonl --benchmark SLUG",
    "rubrics:imports",
)
COHORT = Gap(
    Phrase("No physician has applied."),
    Phrase(
        "An admin opens a call for applications, or imports applications. Credentials are those that members who have "
        "taken part state in their profiles; counts below 3 are not shown."
    ),
    "import_applications applications.csv --benchmark SLUG",
)
LANGUAGES = COHORT.about(Phrase("Too few physicians have named the languages that they read."))
CREDENTIALS = Gap(
    Phrase("Too few physicians have stated their credentials."),
    Phrase("Ask those who take part to state them in their profiles; counts below 3 are not shown."),
    view="rubrics:people",
)
UNSTATED = {
    "specialty": Phrase("No specialty of a physician is stated, or none by enough of them."),
    "licence_country": Phrase("No country of a physician’s licence is stated, or none by enough of them."),
    "years_in_practice": Phrase("The years in practice are not stated, or not by enough physicians."),
    "seniority": Phrase("The seniority of the physicians is not stated, or not by enough of them."),
}
CONSENSUS = Gap(
    Phrase("No published rubric has a consensus criterion."),
    Phrase(
        "Import rubrics whose criteria have the tags level:cluster and cluster:NAME, or insert criteria of the bank."
    ),
    "import_cases cases.jsonl --benchmark SLUG",
    "rubrics:cases",
)
ATTRIBUTES = Gap(
    Phrase("The candidates have no prices, and their calls are not recorded."),
    Phrase("Enter the attributes of the candidates, or import them."),
    "import_candidates candidates.csv --benchmark SLUG",
    "rubrics:candidates",
)
WRITTEN_BESIDE = Gap(
    Phrase("No physician wrote a response beside references."),
    Phrase("Distribute writing tasks that show references, or import responses with their references."),
    "import_responses responses.jsonl --benchmark SLUG",
    "annotation:batches",
)
WRITTEN_UNAIDED = Gap(
    Phrase("No physician wrote a response unaided."),
    Phrase("Distribute writing tasks that show no references, or import such responses."),
    "import_responses responses.jsonl --benchmark SLUG",
    "annotation:batches",
)
REGISTERS = TAGS.about(Phrase("The cases have no register, or all have the same."))
CODED = Gap(
    Phrase("Two raters have not coded failures yet."),
    Phrase("Adopt a code book, and distribute responses for coding to two physicians, or let a judge code them, too."),
    "",
    "annotation:coding",
)
COVERED = Gap(
    Phrase("No failure is marked both in responses with low coverage and in others."),
    Phrase("Let the judge or group that says which coverage is low decide on the criteria of more coded responses."),
    "judge --benchmark SLUG --judge JUDGE",
    "scoring:judges",
)
CHECKED_COVERAGE = Gap(
    Phrase("No answer of the judge of coverage has been checked by a physician."),
    Phrase("Let physicians decide on the answers of a run of coverage."),
    "",
    "validation:coverage",
)
BOTH_GROUPS = SECOND_GROUP.about(Phrase("No pair has been decided by two groups."))
NOT_HERE = Gap(Phrase("This version of Consilium does not make it."))

# What a table or figure of a paper is that is not made from data ----------------------------------------------------
DRAWING = Phrase("It is a drawing of the method.")
TEXT = Phrase("It is a text.")

# The next step by the kind of report, where an artefact names none for what is missing.
STEPS: dict[str, Gap] = {
    Report.Kind.ACUITY: READINGS,
    Report.Kind.ACUITY_FORMATS: BOTH_FORMATS,
    Report.Kind.ACUITY_JUDGE: LEVEL_JUDGE,
    Report.Kind.ACUITY_UNCERTAINTY: READINGS,
    Report.Kind.AGREEMENT: SECOND_GROUP,
    Report.Kind.ALTERNATIVE: SHARED_PAIRS,
    Report.Kind.CALIBRATION: GRADED_WRITTEN,
    Report.Kind.COHORT: COHORT,
    Report.Kind.COMPARISON: SHARED_PAIRS,
    Report.Kind.COMPOSITION: CASES,
    Report.Kind.CONSENSUS: RATER,
    Report.Kind.COVERAGE: COVERAGE,
    Report.Kind.DRAFTING: DRAFTED,
    Report.Kind.FAILURES: CODED,
    Report.Kind.FIDELITY: SHARED_PAIRS,
    Report.Kind.FRONTIER: RATER,
    Report.Kind.META_EVAL: SHARED_PAIRS,
    Report.Kind.MODES: UNGRADED_WRITTEN,
    Report.Kind.PAIRS: PAIRS,
    Report.Kind.REFINEMENT: UNSCORED,
    Report.Kind.REPEATS: SAMPLES,
    Report.Kind.SCORES: RATER,
}
