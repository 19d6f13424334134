"""Which work waits for which person, since when, and the page where an admin can act on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, Min, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.dashboard.counts import Table
from annotation.dashboard.names import People
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup
from annotation.selectors.able_reviewers import WaitingPiece, waiting_for_adjudicators, waiting_for_checkers
from annotation.selectors.unread_work import unread_work
from annotation.services.slots.free_slots import stuck_slots
from consilium.core.i18n import listed
from rubrics.models import Benchmark

SHOWN = 25
# Kind → its title and its meaning; first the kinds about which an admin can do most.
KINDS: dict[str, tuple[Promise, Promise]] = {
    "nobody": (
        gettext_lazy("No one can do this work"),
        gettext_lazy("This work will wait indefinitely unless someone is given the role or the work."),
    ),
    "unread": (
        gettext_lazy("Assigned in languages that the annotator does not read"),
        gettext_lazy("The work was assigned before the annotator named the languages they read. Hand it over."),
    ),
    "pool": (
        gettext_lazy("In the pool, waiting for any annotator"),
        gettext_lazy("The next eligible annotator in the group who claims work receives it."),
    ),
    "paused": (
        gettext_lazy("Waiting for you to open the batch"),
        gettext_lazy("The batch is paused and has unfinished work."),
    ),
    "not_closed": (
        gettext_lazy("Waiting for you to close the batch"),
        gettext_lazy("All work is accepted. Conflicts between groups can be opened once the batch is closed."),
    ),
    "other_group": (
        gettext_lazy("One group is waiting for the other to finish"),
        gettext_lazy("Conflicts between the groups can be adjudicated once both have closed their batches."),
    ),
    "any_checker": (
        gettext_lazy("Waiting for any checker"),
        gettext_lazy("Submitted. The next checker who starts a check receives the response that has waited longest."),
    ),
    "checker": (
        gettext_lazy("Claimed by a checker"),
        gettext_lazy("Claimed but not finished, or resubmitted to the checker who returned it."),
    ),
    "returned": (
        gettext_lazy("Returned, waiting for the annotator"),
        gettext_lazy("A checker returned the work for another review."),
    ),
    "adjudicator": (gettext_lazy("Conflicts waiting for an adjudicator"), gettext_lazy("Lowest agreement first.")),
}


@dataclass(frozen=True, slots=True)
class Wait:
    """``number`` pieces of ``who`` wait for ``whom``, the longest since ``since``; ``url`` is where to act."""

    kind: str
    who: str
    whom: str
    number: int
    since: datetime | None
    url: str
    action: str
    place: str = ""  # batch or group
    remind_url: str = ""  # where those waited for are reminded
    remind: tuple[str, ...] = ()  # their pseudonyms
    remind_part: str = ""  # the role in which they are waited for

    def days(self, at: datetime) -> int | None:
        """Whole days that the longest has waited."""
        return None if self.since is None else max(0, (at - self.since).days)


@dataclass(slots=True)
class Section:
    """All waits of one kind."""

    kind: str
    waits: list[Wait] = field(default_factory=list)

    @property
    def title(self) -> Promise:
        """What it is called."""
        return KINDS[self.kind][0]

    @property
    def meaning(self) -> Promise:
        """What it means."""
        return KINDS[self.kind][1]

    @property
    def number(self) -> int:
        """Pieces in all."""
        return sum(wait.number for wait in self.waits)

    @property
    def since(self) -> datetime | None:
        """When the longest began to wait."""
        return min((wait.since for wait in self.waits if wait.since), default=None)

    @property
    def shown(self) -> list[Wait]:
        """The longest waits; the CSV has all."""
        return self.waits[:SHOWN]

    @property
    def more(self) -> int:
        """How many lines are not shown."""
        return max(0, len(self.waits) - SHOWN)

    @property
    def serious(self) -> bool:
        """Whether an admin has to act: it will not go on by itself."""
        return self.kind in ("nobody", "unread")


@dataclass(frozen=True, slots=True)
class Scene:
    """The data from which the waits are computed."""

    benchmark: Benchmark
    groups: Mapping[int, ExpertGroup]
    batches: Mapping[int, Batch]
    people: People
    table: Table
    addresses: dict[int, str] = field(default_factory=dict)  # of batches, computed once: there are hundreds of lines

    def place(self, batch: int) -> str:
        """The batch and its group: two groups may have batches of one title."""
        return f"{self.batches[batch].title} · {self.batches[batch].group.name}"

    def to_batch(self, batch: int, **filters: str) -> str:
        """The batch's page, its pieces filtered."""
        url = self.addresses.get(batch)
        if url is None:
            url = reverse("annotation:batch", args=[self.benchmark.slug, self.batches[batch].public_id])
            self.addresses[batch] = url
        return f"{url}?{urlencode(filters)}#pieces" if filters else url

    def reminder(self, batch: int, users: Iterable[int], part: str) -> tuple[str, tuple[str, ...], str]:
        """Where these people are reminded of their work in the batch, their pseudonyms and ``part``.

        Empty if the batch is not open.
        """
        row = self.batches[batch]
        if row.status != Batch.Status.OPEN:
            return "", (), ""
        url = reverse("annotation:batch-remind", args=[self.benchmark.slug, row.public_id])
        return url, tuple(self.people[user].pseudonym for user in users), part

    def to_group(self, group: int) -> str:
        """The group's page, where parts are given."""
        return reverse("annotation:group", args=[self.benchmark.slug, self.groups[group].public_id])

    def to_conflicts(self) -> str:
        """The conflicts' page."""
        return reverse("annotation:conflicts", args=[self.benchmark.slug])


def waits_of(scene: Scene) -> list[Section]:
    """Everything that waits, by kind, the longest first; queries in a fixed number and for each pool."""
    waits = [*_for_checkers(scene), *_for_adjudicators(scene), *_for_annotators(scene), *_for_the_admin(scene)]
    sections = {kind: Section(kind) for kind in KINDS}
    for wait in waits:
        sections[wait.kind].waits.append(wait)
    for section in sections.values():
        section.waits.sort(key=_rank)
    return [section for section in sections.values() if section.waits]


def _rank(wait: Wait) -> tuple[float, str, str]:
    return (wait.since.timestamp() if wait.since else float("inf"), wait.place, wait.who)


def _running(scene: Scene) -> list[int]:
    return [pk for pk, batch in scene.batches.items() if batch.status != Batch.Status.CLOSED]


def _for_checkers(scene: Scene) -> Iterable[Wait]:
    rows = (
        Assignment.objects.filter(
            batch__in=_running(scene), status__in=["submitted", "in_check"], purpose=Assignment.Purpose.WORK
        )
        .exclude(checker=None)
        .order_by()
        .values_list("batch", "annotator", "checker", "status")
        .annotate(
            number=Count("pk", distinct=True),
            submitted=Min("submitted_at"),
            taken=Min("checks__created_at", filter=Q(checks__round=F("round"))),
        )
    )
    for batch, annotator, checker, status, number, submitted, taken in rows:
        row, person = scene.batches[batch], scene.people[annotator]
        holds = scene.people[checker].plays("checker", row.group_id)
        title = scene.place(batch)
        whom = scene.people[checker].shown
        if status == "in_check" and not holds:
            yield Wait("nobody", person.shown, _("%(checker)s (stopped)") % {"checker": whom}, number, taken,
                       scene.to_group(row.group_id), _("Let them finish"), title)  # fmt: skip
        elif holds:
            at_work = scene.to_batch(batch, status=status, physician=person.pseudonym)
            since = taken if status == "in_check" else submitted
            yield Wait("checker", person.shown, whom, number, since, at_work, _("See the assignments"), title,
                       *scene.reminder(batch, [checker], "checker"))  # fmt: skip
    waiting = waiting_for_checkers(_running(scene))
    for (batch, annotator, able, _reasons), pieces in _alike(waiting).items():
        row, person = scene.batches[batch], scene.people[annotator]
        number, since, title = len(pieces), pieces[0].since, scene.place(batch)
        if able:
            at_work = scene.to_batch(batch, status="submitted", physician=person.pseudonym)
            whom = _any_of(scene, able, _("any of %(number)d checkers"))
            yield Wait("any_checker", person.shown, whom, number, since, at_work, _("See the assignments"), title,
                       *scene.reminder(batch, able, "checker"))  # fmt: skip
            continue
        if scene.people.active("checker", row.group_id):
            whom = _("a checker who can take it: %(reasons)s") % {"reasons": " ".join(pieces[0].reasons)}
        else:
            whom = _("a checker (the group has none)")
        yield Wait("nobody", person.shown, whom, number, since, scene.to_group(row.group_id), _("Add a checker"),
                   title)  # fmt: skip


def _alike(
    pieces: Iterable[WaitingPiece],
) -> dict[tuple[int, int, tuple[int, ...], tuple[str, ...]], list[WaitingPiece]]:
    """The pieces by batch, annotator, who can do them, and why nobody can; the longest waiting first."""
    alike: dict[tuple[int, int, tuple[int, ...], tuple[str, ...]], list[WaitingPiece]] = {}
    for piece in pieces:
        alike.setdefault((piece.batch, piece.annotator, piece.able, piece.reasons), []).append(piece)
    return alike


def _any_of(scene: Scene, users: Sequence[int], words: str) -> str:
    return words % {"number": len(users)} if len(users) > 1 else scene.people[users[0]].shown


def _for_adjudicators(scene: Scene) -> Iterable[Wait]:
    held = (
        Adjudication.objects.filter(group__in=scene.groups, status=Adjudication.Status.OPEN)
        .exclude(adjudicator=None)
        .order_by()
        .values_list("group", "other_group", "adjudicator")
        .annotate(Count("pk"), Min("created_at"))
    )
    for group, other, adjudicator, number, since in held:
        who, place = _groups_of(scene, group, other)
        able = [member for pk in (group, other) if pk for member in scene.people.active("adjudicator", pk)]
        kind = "adjudicator" if any(member.user == adjudicator for member in able) else "nobody"
        action = _("See the conflicts") if kind == "adjudicator" else _("Let them finish")
        url = scene.to_conflicts() if kind == "adjudicator" else scene.to_group(group)
        yield Wait(kind, who, scene.people[adjudicator].shown, number, since, url, action, place)
    alike: dict[tuple[int, int, tuple[int, ...], tuple[str, ...]], list[WaitingPiece]] = {}
    for piece in waiting_for_adjudicators(list(scene.groups)):
        alike.setdefault((piece.group, piece.other_group, piece.able, piece.reasons), []).append(piece)
    for (group, other, users, reasons), pieces in alike.items():
        who, place = _groups_of(scene, group, other)
        number, since = len(pieces), pieces[0].since
        if users:
            whom = _any_of(scene, users, _("any of %(number)d adjudicators"))
            yield Wait("adjudicator", who, whom, number, since, scene.to_conflicts(), _("See the conflicts"), place)
            continue
        if any(scene.people.active("adjudicator", pk) for pk in (group, other) if pk):
            whom = _("an adjudicator who can do it: %(reasons)s") % {"reasons": " ".join(reasons)}
        else:
            whom = _("an adjudicator (the group has none)")
        yield Wait("nobody", who, whom, number, since, scene.to_group(group), _("Add an adjudicator"), place)


def _groups_of(scene: Scene, group: int, other: int | None) -> tuple[str, str]:
    """Who waits for an adjudicator, and where: one group, or two."""
    names = [str(scene.groups[pk].name) for pk in (group, other) if pk]
    place = " · ".join(names)
    return (_("Groups %(groups)s") % {"groups": place} if other else names[0]), place


def _for_annotators(scene: Scene) -> Iterable[Wait]:
    rows = (
        Assignment.objects.filter(
            batch__in=_running(scene), status=Assignment.Status.RETURNED, purpose=Assignment.Purpose.WORK
        )
        .order_by()
        .values_list("batch", "annotator", "checker")
        .annotate(
            number=Count("pk", distinct=True), since=Min("checks__finished_at", filter=Q(checks__round=F("round") - 1))
        )
    )
    for batch, annotator, checker, number, since in rows:
        person = scene.people[annotator]
        who = scene.people[checker].shown if checker else _("A checker")
        if person.plays("annotator", scene.batches[batch].group_id):
            yield Wait("returned", who, person.shown, number, since,
                       scene.to_batch(batch, status="returned", physician=person.pseudonym), _("See the assignments"),
                       scene.place(batch), *scene.reminder(batch, [annotator], "annotator"))  # fmt: skip
    running = set(_running(scene))
    for (batch, annotator), work in scene.table.items():
        if batch not in running:
            continue
        row = scene.batches[batch]
        if annotator and work.open and not scene.people[annotator].plays("annotator", row.group_id):
            person = scene.people[annotator]
            yield Wait("nobody", _("The batch"), _("%(person)s (stopped)") % {"person": person.shown}, work.open,
                       work.last, scene.to_batch(batch, status="open", physician=person.pseudonym),
                       _("Hand over"), scene.place(batch))  # fmt: skip
        if not annotator and work.left:
            yield from _for_the_pool(scene, row, work.left)
    for unread in unread_work(_running(scene)):
        person = scene.people[unread.annotator]
        row = scene.batches[unread.batch]
        if person.plays("annotator", row.group_id):
            reads = _("an annotator who reads %(languages)s (%(person)s does not)") % {
                "languages": listed(unread.language_names), "person": person.shown,
            }  # fmt: skip
            url = f"{scene.to_batch(unread.batch)}#unread"
            yield Wait("unread", person.shown, reads, unread.number, unread.since, url, _("Hand over"),
                       scene.place(unread.batch))  # fmt: skip


def _for_the_pool(scene: Scene, batch: Batch, number: int) -> Iterable[Wait]:
    """Free places: those that somebody of the group may take, and those that nobody may (`stuck_slots`)."""
    able = scene.people.active("annotator", batch.group_id)
    place = scene.place(batch.pk)
    at_work = scene.to_batch(batch.pk, status="unassigned")
    if not able:
        yield Wait("nobody", _("The pool"), _("an annotator (the group has none)"), number, None,
                   scene.to_group(batch.group_id), _("Add an annotator"), place)  # fmt: skip
        return
    stuck = Counter(slot.reasons for slot in stuck_slots(batch))
    for reasons, stuck_number in stuck.items():
        whom = _("an annotator who can take it: %(reasons)s") % {"reasons": " ".join(reasons)}
        yield Wait("nobody", _("The pool"), whom, stuck_number, None, at_work, _("See the assignments"), place)
    left = number - stuck.total()
    if left > 0:
        whom = _any_of(scene, [person.user for person in able], _("any of %(number)d annotators"))
        yield Wait("pool", _("The pool"), whom, left, None, at_work, _("See the assignments"), place)


def _for_the_admin(scene: Scene) -> Iterable[Wait]:
    by_batch = scene.table.by_batch()
    running: dict[int, list[Batch]] = {}
    ended: set[int] = set()
    for pk, batch in scene.batches.items():
        if batch.status == Batch.Status.CLOSED:
            ended.add(batch.group_id)
            continue
        running.setdefault(batch.group_id, []).append(batch)
        work = by_batch.get(pk)
        if work is None:
            continue
        title, group_name = str(batch.title), str(batch.group.name)
        if work.done:
            action = _("Close batch")
            yield Wait("not_closed", title, _("you"), work.total, work.last, scene.to_batch(pk), action, group_name)
        elif batch.status == Batch.Status.PAUSED:
            left, action = work.total - work.accepted, _("Resume batch")
            yield Wait("paused", title, _("you"), left, work.last, scene.to_batch(pk), action, group_name)
    for group in ended - set(running):
        since = max(row.closed_at for row in scene.batches.values() if row.group_id == group and row.closed_at)
        for other, batches in running.items():
            who, whom = str(scene.groups[group].name), str(scene.groups[other].name)
            url = scene.to_batch(batches[0].pk) if len(batches) == 1 else scene.to_conflicts()
            place = ", ".join(str(batch.title) for batch in batches)
            yield Wait("other_group", who, whom, len(batches), since, url, _("See open work"), place)


CSV_COLUMNS = ("kind", "place", "who", "waits_for", "pieces", "since", "days")


def wait_rows(sections: Sequence[Section], at: datetime) -> Iterable[dict[str, Any]]:
    """Rows of the CSV, in the order of the page."""
    for section in sections:
        for wait in section.waits:
            yield {
                "kind": wait.kind, "place": wait.place, "who": wait.who, "waits_for": wait.whom, "pieces": wait.number,
                "since": wait.since.isoformat() if wait.since else None, "days": wait.days(at),
            }  # fmt: skip
