"""After a new rubric version: untouched work moves to it, begun work keeps its version."""

from __future__ import annotations

from datetime import datetime

from annotation.models import Assignment, Batch, BatchItem
from rubrics.models import Rubric

NOT_STARTED = Assignment.Status.NOT_STARTED


def move_untouched_work(before: Rubric | None, after: Rubric, at: datetime) -> None:
    """Move untouched responses of unclosed batches to the rubric ``after``; call in the transaction of publishing.

    A response that one annotator has begun keeps its version for all of its annotators, so that they decide the same
    criteria; `annotation.regrading` asks for the criteria that it then lacks. Gold items and qualification keep the
    version of their keys.
    """
    if before is None:
        return
    items = BatchItem.objects.filter(rubric=before, batch__imported=False, batch__kind=Batch.Kind.GRADE)
    items = items.filter(batch__status__in=[Batch.Status.OPEN, Batch.Status.PAUSED])
    places = {(item.batch_id, item.response_id): item.pk for item in items}
    if not places:
        return
    work = Assignment.objects.select_for_update(no_key=True).filter(
        batch__in={batch for batch, _response in places},
        response__in={response for _batch, response in places},
        rubric=before,
        purpose=Assignment.Purpose.WORK,
    )
    untouched: list[Assignment] = []
    for row in work.exclude(status=Assignment.Status.RELEASED).order_by("pk"):
        if row.status == NOT_STARTED:
            untouched.append(row)
        else:
            places.pop((row.batch_id, row.response_id), None)
    stood = set(before.items.values_list("criterion", flat=True))
    stands = list(after.items.order_by("position").values_list("criterion", flat=True))
    moving = []
    for row in untouched:
        if (row.batch_id, row.response_id) not in places:
            continue
        row.rubric = after
        if row.criteria is not None:  # the asked criteria that are still in the rubric, and new criteria
            row.criteria = [pk for pk in stands if pk in row.criteria or pk not in stood]
            if not row.criteria:  # the new version has none of its criteria
                places.pop((row.batch_id, row.response_id))
                continue
        moving.append(row)
    Assignment.objects.bulk_update(moving, ["rubric", "criteria"], batch_size=500)
    BatchItem.objects.filter(pk__in=places.values()).update(rubric=after)
