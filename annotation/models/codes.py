"""Rulings on responses whose codes differ."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.groups import ExpertGroup
from annotation.models.labels import LabelQuestion
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_NOTE_LENGTH
from consilium.core.locks import RowLock, exclusive_lock_sql
from rubrics.codes.code import NONE_OF_THESE
from rubrics.models import Response


@audited
class CodeRuling(models.Model):
    """A response whose codes differ, given to the adjudicators of a group; the first who rules on it ends it.

    ``codes`` are the final codes, a list of keys that is empty where none applies; they count from ``ruled_at`` on.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    question = models.ForeignKey(LabelQuestion, on_delete=models.PROTECT, related_name="code_rulings")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="code_rulings")
    position = models.PositiveIntegerField()  # in a shuffled order, which says nothing about codes
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="code_rulings"
    )
    codes = models.JSONField(default=list, blank=True)
    note = models.TextField(_("note"), max_length=MAX_NOTE_LENGTH, blank=True)
    ruled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["requested_at", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["question", "response"], name="annotation_coderuling_once"),
            models.CheckConstraint(
                condition=Q(ruled_at=None, adjudicator=None, codes=[])
                | Q(ruled_at__isnull=False, adjudicator__isnull=False),
                name="annotation_coderuling_whole",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Trigger(
                name="ruled_stands",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__ruled_at__isnull=False),
                func="RAISE EXCEPTION 'A ruling on codes never changes';",
            ),
            pgtrigger.Trigger(
                # The mirror of `coder_is_no_adjudicator` on `LabelTask`.
                name="not_a_coder",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                condition=pgtrigger.Q(new__adjudicator__isnull=False),
                func=f"""
                    PERFORM {exclusive_lock_sql(RowLock.PHYSICIAN_VOTES, "NEW.adjudicator_id::int")};
                    IF EXISTS (
                        SELECT 1 FROM annotation_labeltask t JOIN annotation_batch b ON b.id = t.batch_id
                        JOIN annotation_labelquestion q ON jsonb_exists(b.frame->'questions', q.public_id)
                        WHERE t.response_id = NEW.response_id AND t.annotator_id = NEW.adjudicator_id
                          AND q.id = NEW.question_id AND t.status <> 'released'
                    ) OR EXISTS (
                        SELECT 1 FROM rubrics_response r
                        WHERE r.id = NEW.response_id AND r.author_id = NEW.adjudicator_id
                    ) THEN
                        RAISE EXCEPTION 'Who has coded or written a response does not rule on it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_coderuling_not_coder';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_labelquestion q JOIN rubrics_codebook k ON k.id = q.code_book_id,
                            jsonb_array_elements_text(NEW.codes) AS given
                        WHERE q.id = NEW.question_id AND (
                            given = '{NONE_OF_THESE}'
                            OR NOT k.codes @> jsonb_build_array(jsonb_build_object('key', given))
                        )
                    ) THEN
                        RAISE EXCEPTION 'A ruling gives codes of the book';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response_id}: {', '.join(self.codes)}"
