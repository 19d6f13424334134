"""Closed questions about cases, and what physicians answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pgtrigger
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language, gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from annotation.models.work import Batch, CaseWorkStatus
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_QUESTION_NAME_LENGTH
from consilium.core.locks import RowLock, exclusive_lock_sql
from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.selectors import lines_of
from rubrics.models import AcuityScale, Benchmark, Case, CodeBook, Response, mark_used_sql, slug_characters

CANNOT_TELL = "cannot-tell"  # the value of a vote that names no level
NO_LEVEL = "no-level"  # what a reader marks where a response advises no level
# The text of the question about responses; there is one on each scale, made with its first batch.
READ_QUESTION = gettext_noop("Which level of care does this response advise, for the case as it is described?")
# The text with which a question on a scale of levels of care begins.
LEVEL_QUESTION = gettext_noop("What care does this case need, as it is described, and how soon?")
CODED = "coded"  # the value of an answer that has codes; that no code applies is `NONE_OF_THESE`
# The text of the question with codes about responses; there is one on each version of a code book.
CODES_QUESTION = gettext_noop("Which of these failures does this response show?")
FIRST_ROUND, LAST_ROUND = 1, 2  # of votes; only those of the first round are independent


def level_choices(levels: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Levels of a scale as answers of a question, in the reader's language."""
    language = "zh" if (get_language() or "").startswith("zh") else "en"
    return [
        {"value": level["value"], "label": level[f"label_{language}"], "help": level[f"definition_{language}"]}
        for level in levels
    ]


class LabelQuestionQuerySet(models.QuerySet["LabelQuestion"]):
    def about_cases(self) -> LabelQuestionQuerySet:
        """Without those about responses, which have no form, no results by case and no tags."""
        return self.exclude(kind__in=[LabelQuestion.Kind.READ, LabelQuestion.Kind.CODES])


class LabelQuestion(models.Model):
    """A closed question about a case. Once it is answered its options cannot change; it can be retired."""

    class Kind(models.TextChoices):
        CHOICE = "choice", _("Single choice")
        ACUITY = "acuity", _("Acuity in four levels, with certainty")
        LEVELS = "levels", _("Urgency on a scale")
        # About a response; the question of each scale is made with its first batch of responses to read.
        READ = "read", _("Level that a response advises")
        CODES = "codes", _("Failures that a response shows")

    ABOUT_CASES = (Kind.CHOICE, Kind.ACUITY, Kind.LEVELS)  # admins write these; the others come with their batches

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="label_questions")
    name = models.CharField(_("short name"), max_length=MAX_QUESTION_NAME_LENGTH, validators=[slug_characters])
    text = models.TextField(_("question"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.CHOICE)
    # [{"value": "emergent", "label": "Emergent", "help": "…"}], 2 to 9 options; exactly 4 for acuity, lowest first;
    # none on a scale, whose levels they are
    options = models.JSONField(_("options"), default=list, blank=True)
    scale = models.ForeignKey(
        AcuityScale, null=True, blank=True, on_delete=models.PROTECT, related_name="label_questions"
    )
    # Of codes: the version of the code book whose codes may be given.
    code_book = models.ForeignKey(
        CodeBook, null=True, blank=True, on_delete=models.PROTECT, related_name="label_questions"
    )
    threshold = models.FloatField(
        _("agreement threshold"),
        default=0.75,
        validators=[MinValueValidator(0.5), MaxValueValidator(1.0)],
        help_text=_("Share of the answers that the most frequent answer must reach."),
    )
    minimum_answers = models.PositiveSmallIntegerField(
        _("minimum number of answers"), default=2, validators=[MinValueValidator(1)]
    )
    position = models.PositiveSmallIntegerField(default=1)
    active = models.BooleanField(default=True)
    tags_written_at = models.DateTimeField(null=True, blank=True)  # when its agreed values last became tags of cases
    created_at = models.DateTimeField()

    objects = LabelQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="annotation_question_name_once"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0.5, threshold__lte=1), name="annotation_question_threshold"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["levels", "read"], scale__isnull=False)
                | (~Q(kind__in=["levels", "read"]) & Q(scale=None)),
                name="annotation_question_scale",
            ),
            models.CheckConstraint(
                condition=Q(kind="codes", code_book__isnull=False) | (~Q(kind="codes") & Q(code_book=None)),
                name="annotation_question_code_book",
            ),
            models.UniqueConstraint(fields=["code_book"], name="annotation_question_one_for_code_book"),
        ]
        triggers = [
            pgtrigger.Trigger(
                # From now on the version of the code book is in use, so it never changes.
                name="code_book_used",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__code_book__isnull=False),
                func=f"{mark_used_sql('NEW.code_book_id')} RETURN NULL;",
            ),
            pgtrigger.Trigger(
                name="code_book_stands",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__code_book__df=pgtrigger.F("new__code_book")),
                func="RAISE EXCEPTION 'A question stays on its code book';",
            ),
            pgtrigger.Trigger(
                # Votes and rulings are places on the scale of their question.
                name="scale_stands",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__scale__df=pgtrigger.F("new__scale"))
                | pgtrigger.Q(old__benchmark__df=pgtrigger.F("new__benchmark")),
                func="""
                    IF EXISTS (SELECT 1 FROM annotation_labelanswer a WHERE a.question_id = NEW.id)
                    OR EXISTS (SELECT 1 FROM annotation_rulingrequest r WHERE r.question_id = NEW.id)
                    OR EXISTS (SELECT 1 FROM annotation_acuityruling r WHERE r.question_id = NEW.id) THEN
                        RAISE EXCEPTION 'A question with answers keeps its scale and its benchmark';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def is_levels(self) -> bool:
        """Whether its answers are votes for a level of a scale."""
        return bool(self.kind == LabelQuestion.Kind.LEVELS)

    @property
    def is_read(self) -> bool:
        """Whether its answers say which level of a scale a response advises."""
        return bool(self.kind == LabelQuestion.Kind.READ)

    @property
    def is_codes(self) -> bool:
        """Whether its answers are codes of a code book that a response shows."""
        return bool(self.kind == LabelQuestion.Kind.CODES)

    @property
    def shown_text(self) -> str:
        """The question as its readers see it: that of a shipped scale in their language, else as it was written."""
        if self.is_read or self.is_codes:
            return gettext(READ_QUESTION) if self.is_read else gettext(CODES_QUESTION)
        return gettext(LEVEL_QUESTION) if self.text == LEVEL_QUESTION and self.scale_id else self.text

    @property
    def choices(self) -> list[dict[str, str]]:
        """What may be answered: the options, or the levels of the scale in the reader's language.

        Of a response also that it advises none.
        """
        if self.code_book:
            return [
                {"value": line.key, "label": line.title, "help": line.definition} for line in lines_of(self.code_book)
            ]
        choices = level_choices(self.scale.levels) if self.scale else list(self.options)
        if self.is_read:
            choices.append(
                {"value": NO_LEVEL, "label": gettext("No level"), "help": gettext("It advises no level of care.")}
            )
        return choices

    def is_complete(self, answer: LabelAnswer) -> bool:
        """Whether an answer can be handed in: a level has a certainty, and who cannot tell says why.

        Another reason is explained in the note. The level that a response advises is shown by its words.
        """
        if self.is_codes:
            return bool(answer.codes) or answer.value == NONE_OF_THESE
        if self.is_read:
            return bool(answer.evidence) or answer.value == NO_LEVEL
        if self.is_levels and answer.value == CANNOT_TELL:
            is_explained = answer.reason != LabelAnswer.Reason.OTHER or bool(answer.note.strip())
            return bool(answer.reason) and is_explained
        return answer.certainty is not None or self.kind == LabelQuestion.Kind.CHOICE


@audited
class LabelTask(models.Model):
    """One physician's answers about one case, or about one response to it: not started → draft → submitted.

    A task can also be released: another physician of the group then answers instead, and the draft stays on record.
    In round 2 a physician votes again, with the distribution of round 1 on the page.
    """

    Status = CaseWorkStatus
    OPEN = (Status.NOT_STARTED, Status.DRAFT)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="label_tasks")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    response = models.ForeignKey(Response, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_tasks")
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.NOT_STARTED)
    position = models.PositiveIntegerField(default=0)  # in the annotator's own shuffled queue
    round = models.PositiveSmallIntegerField(default=FIRST_ROUND, db_default=FIRST_ROUND)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "case", "response", "annotator", "round"],
                nulls_distinct=False,
                name="annotation_labeltask_once",
            ),
            models.CheckConstraint(
                condition=Q(response=None) | Q(round=FIRST_ROUND), name="annotation_labeltask_response_round"
            ),
            models.CheckConstraint(
                condition=Q(round__gte=FIRST_ROUND, round__lte=LAST_ROUND), name="annotation_labeltask_round"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "status", "position"], name="annotation_label_queue")]
        triggers = [
            pgtrigger.Trigger(
                name="reader_is_no_author",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                condition=pgtrigger.Q(new__response__isnull=False),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id AND r.case_id = NEW.case_id
                    ) THEN
                        RAISE EXCEPTION 'A response that is read is one to the case of its task'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_labeltask_response_case';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM rubrics_response r
                        WHERE r.id = NEW.response_id AND r.author_id = NEW.annotator_id
                    ) THEN
                        RAISE EXCEPTION 'Nobody reads a response that they wrote'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_labeltask_author';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                # The mirror of `not_a_coder` on `CodeRuling`, under the same lock.
                name="coder_is_no_adjudicator",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__response__isnull=False),
                func=f"""
                    PERFORM {exclusive_lock_sql(RowLock.PHYSICIAN_VOTES, "NEW.annotator_id::int")};
                    IF EXISTS (
                        SELECT 1 FROM annotation_coderuling r
                        JOIN annotation_labelquestion q ON q.id = r.question_id
                        JOIN annotation_batch b ON jsonb_exists(b.frame->'questions', q.public_id)
                        WHERE b.id = NEW.batch_id AND r.response_id = NEW.response_id
                          AND r.adjudicator_id = NEW.annotator_id
                    ) THEN
                        RAISE EXCEPTION 'Who has ruled on the codes of a response does not code it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_coderuling_not_coder';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="handed_in_stands",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__status="submitted")
                & (
                    ~pgtrigger.Q(new__status="submitted")
                    | pgtrigger.Q(old__batch__df=pgtrigger.F("new__batch"))
                    | pgtrigger.Q(old__round__df=pgtrigger.F("new__round"))
                    | pgtrigger.Q(old__case__df=pgtrigger.F("new__case"))
                    | pgtrigger.Q(old__response__df=pgtrigger.F("new__response"))
                    | pgtrigger.Q(old__annotator__df=pgtrigger.F("new__annotator"))
                    | pgtrigger.Q(old__submitted_at__df=pgtrigger.F("new__submitted_at"))
                ),
                func="RAISE EXCEPTION 'Answers that were handed in stay handed in';",
            ),
            pgtrigger.Trigger(
                # `votes_once` runs on updates. Answers can be there before their task, as references are checked at
                # the end of a transaction.
                name="handed_in_by_update",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__status="submitted"),
                func="""
                    IF EXISTS (SELECT 1 FROM annotation_labelanswer a WHERE a.task_id = NEW.id) THEN
                        RAISE EXCEPTION 'Answers are handed in after their task is there';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                # A vote is handed in with its task, and answers are frozen from then on, so everything that is asked
                # of votes beside each other is asked here. The lock is that of `AcuityRuling`, so that a vote and a
                # ruling of one physician wait for each other.
                name="votes_once",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__status="submitted") & ~pgtrigger.Q(old__status="submitted"),
                func=f"""
                    IF NOT EXISTS (
                        SELECT 1 FROM annotation_labelanswer a JOIN annotation_labelquestion q ON q.id = a.question_id
                        WHERE a.task_id = NEW.id AND q.kind = 'levels'
                    ) THEN
                        RETURN NEW;
                    END IF;
                    PERFORM {exclusive_lock_sql(RowLock.PHYSICIAN_VOTES, "NEW.annotator_id::int")};
                    IF EXISTS (
                        SELECT 1 FROM annotation_acuityruling r
                        WHERE r.case_id = NEW.case_id AND r.adjudicator_id = NEW.annotator_id
                    ) THEN
                        RAISE EXCEPTION 'Who has ruled on a case does not vote on it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_ruling_not_voter';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_labeltask t
                        JOIN annotation_labelanswer other ON other.task_id = t.id
                        JOIN annotation_labelanswer own ON own.question_id = other.question_id AND own.task_id = NEW.id
                        JOIN annotation_labelquestion q ON q.id = own.question_id AND q.kind = 'levels'
                        WHERE t.case_id = NEW.case_id AND t.annotator_id = NEW.annotator_id AND t.id <> NEW.id
                          AND t.round = NEW.round AND t.status = 'submitted'
                    ) THEN
                        RAISE EXCEPTION 'A physician votes once in a round on a case'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_vote_once';
                    END IF;
                    IF NEW.round > {FIRST_ROUND} AND EXISTS (
                        SELECT 1 FROM annotation_labelanswer own
                        JOIN annotation_labelquestion q ON q.id = own.question_id AND q.kind = 'levels'
                        WHERE own.task_id = NEW.id AND NOT EXISTS (
                            SELECT 1 FROM annotation_labeltask t
                            JOIN annotation_labelanswer first ON first.task_id = t.id
                            WHERE t.case_id = NEW.case_id AND t.annotator_id = NEW.annotator_id
                              AND t.round = NEW.round - 1 AND t.status = 'submitted'
                              AND first.question_id = own.question_id
                        )
                    ) THEN
                        RAISE EXCEPTION 'Who votes in a second round has voted in the first'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_vote_after_first';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case} for {self.annotator}"


@audited
class LabelAnswer(models.Model):
    """What a physician answers to one question about one case.

    On a scale it is a vote: for the level ``value``, for the border of ``value`` and the next level ``upper``, or
    `CANNOT_TELL` with a reason. Votes are frozen once their task is handed in.
    """

    class Reason(models.TextChoices):
        """Why someone cannot tell."""

        MISSING_FACT = "missing-fact", _("A fact is missing")
        SEVERAL_PROBLEMS = "several-problems", _("More than one problem")
        NO_REQUEST = "no-request", _("Not a request for care")
        OTHER = "other", _("Another reason")

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="answers")
    question = models.ForeignKey(LabelQuestion, on_delete=models.PROTECT, related_name="answers")
    value = models.CharField(max_length=MAX_LABEL_VALUE_LENGTH)
    upper = models.CharField(max_length=MAX_LABEL_VALUE_LENGTH, blank=True, default="")
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True, default="")
    certainty = models.PositiveSmallIntegerField(null=True, blank=True)  # 0 to 100, of acuity and of levels
    # Of a response: the level that it advises under a condition, and the words that say so, as for decisions.
    escalation = models.CharField(max_length=MAX_LABEL_VALUE_LENGTH, blank=True, default="", db_default="")
    evidence = models.JSONField(default=list, blank=True, db_default=[])
    # Of a response: [{"code", "criterion", "evidence"}], with the id of a criterion of the case, or None.
    codes = models.JSONField(default=list, blank=True, db_default=[])
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    client_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "question"], name="annotation_labelanswer_once"),
            models.CheckConstraint(
                condition=Q(certainty=None) | Q(certainty__lte=100), name="annotation_labelanswer_certainty"
            ),
            models.CheckConstraint(
                condition=~Q(value=CANNOT_TELL) | Q(certainty=None, upper=""),
                name="annotation_labelanswer_cannot_tell",
            ),
            models.CheckConstraint(
                condition=Q(reason="") | Q(value=CANNOT_TELL),
                name="annotation_labelanswer_reason",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Trigger(
                name="codes_of_the_book",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                declare=[("book", "JSONB")],
                func=f"""
                    SELECT k.codes INTO book
                    FROM annotation_labelquestion q JOIN rubrics_codebook k ON k.id = q.code_book_id
                    WHERE q.id = NEW.question_id;
                    IF NOT FOUND THEN
                        IF NEW.codes <> '[]'::jsonb THEN
                            RAISE EXCEPTION 'Only answers to a question with a code book have codes';
                        END IF;
                        RETURN NEW;
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_labeltask t
                        WHERE t.id IN (NEW.task_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.task_id END)
                        AND t.status = 'submitted'
                    ) THEN
                        RAISE EXCEPTION 'Codes that were handed in never change';
                    END IF;
                    IF NEW.certainty IS NOT NULL OR (NEW.codes <> '[]'::jsonb) <> (NEW.value = '{CODED}')
                    OR NEW.value NOT IN ('{CODED}', '{NONE_OF_THESE}', '') THEN
                        RAISE EXCEPTION 'An answer has codes, or says that none applies, or is open';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM jsonb_array_elements(NEW.codes) AS given
                        WHERE NOT book @> jsonb_build_array(jsonb_build_object('key', given->'code'))
                    ) OR (
                        SELECT count(*) <> count(DISTINCT given->>'code') FROM jsonb_array_elements(NEW.codes) AS given
                    ) THEN
                        RAISE EXCEPTION 'The codes of an answer are codes of the book, each once';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="votes",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                declare=[("levels", "JSONB"), ("place", "INTEGER"), ("kind", "TEXT")],
                func="""
                    IF TG_OP = 'UPDATE' AND NEW.question_id <> OLD.question_id THEN
                        RAISE EXCEPTION 'An answer stays with its question';
                    END IF;
                    SELECT s.levels, q.kind INTO levels, kind
                    FROM annotation_labelquestion q JOIN rubrics_acuityscale s ON s.id = q.scale_id
                    WHERE q.id = NEW.question_id;
                    IF NOT FOUND THEN
                        IF NEW.upper <> '' OR NEW.reason <> '' THEN
                            RAISE EXCEPTION 'Only votes on a scale have an upper level or a reason';
                        END IF;
                        IF NEW.escalation <> '' OR NEW.evidence <> '[]'::jsonb THEN
                            RAISE EXCEPTION 'Only what is read in a response has an escalation or evidence';
                        END IF;
                        RETURN NEW;
                    END IF;
                    IF kind = 'read' AND (NEW.upper <> '' OR NEW.reason <> '' OR NEW.certainty IS NOT NULL) THEN
                        RAISE EXCEPTION 'What is read in a response is one level or none';
                    END IF;
                    IF kind <> 'read' AND (NEW.escalation <> '' OR NEW.evidence <> '[]'::jsonb) THEN
                        RAISE EXCEPTION 'Only what is read in a response has an escalation or evidence';
                    END IF;
                    IF NEW.escalation <> '' AND NOT EXISTS (
                        SELECT 1 FROM jsonb_array_elements(levels) AS level WHERE level->>'value' = NEW.escalation
                    ) THEN
                        RAISE EXCEPTION 'An escalation is a level of the scale';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_labeltask t
                        WHERE t.id IN (NEW.task_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.task_id END)
                        AND t.status = 'submitted'
                    ) THEN
                        RAISE EXCEPTION 'A vote that was handed in never changes';
                    END IF;
                    IF NEW.value <> (CASE kind WHEN 'read' THEN 'no-level' ELSE 'cannot-tell' END) THEN
                        SELECT level.place INTO place
                        FROM jsonb_array_elements(levels) WITH ORDINALITY AS level(level, place)
                        WHERE level.level->>'value' = NEW.value;
                        IF NOT FOUND THEN
                            RAISE EXCEPTION 'A vote is for a level of the scale';
                        END IF;
                        IF NEW.upper <> '' AND levels->place->>'value' IS DISTINCT FROM NEW.upper THEN
                            RAISE EXCEPTION 'A vote between two levels is for a level and the next one up';
                        END IF;
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.value}"
