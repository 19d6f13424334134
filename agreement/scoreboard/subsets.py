"""Named slices: selected from scores by a rule or by a filter, stored with their source, retired but never changed.

The filter is in `agreement.scoreboard.filtered`. The rules of scores are `consilium.statistics.case_subsets`; the
scores are rubric scores of single responses by one rater, the mean where there are several samples, as they are when
the slice is drawn up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from accounts.models import User
from agreement.models import NamedSlice
from agreement.reports.parameters import WrongParameters
from agreement.reports.tables import Row
from agreement.scoreboard.filtered import SliceFilter, match
from agreement.scoreboard.graders import Marks, read_marks
from consilium.core.errors import Conflict, field_named
from consilium.core.limits import MAX_SLICE_SLUG_LENGTH
from consilium.statistics.case_subsets import hardest, met_by_some
from rubrics.models import Benchmark, Candidate, Case
from scoring.scores.score_tables import digest_of_sheet
from scoring.selectors.raters import require_verdicts, resolve_rater

RESERVED = frozenset({"preview"})


@dataclass(frozen=True, eq=False)
class Drawn:
    """A slice before it is kept. ``means`` has for each chosen candidate its name, and its score over all the cases
    that were looked at and over those that were taken, each the mean over responses clipped to [0, 1].
    """

    rater: str
    candidates: list[str]
    n: int | None
    case_ids: list[int]  # in ascending order
    n_cases: int  # that the rater has scored anything on
    n_unscored: int
    n_without_positive: int
    means: list[Row]
    digest: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that are stored beside the cases."""
        return {
            "rater": self.rater,
            "candidates": self.candidates,
            "n": self.n,
            "n_cases": self.n_cases,
            "n_unscored": self.n_unscored,
            "n_without_positive": self.n_without_positive,
            "means": self.means,
        }


def draw(*, benchmark: Benchmark, rule: str, rater: str, candidates: Iterable[str], n: int | None) -> Drawn:
    """The cases that ``rule`` takes, without keeping anything.

    ``n`` is the number of cases: required for the hardest; without it, the other rules take all cases that meet them.
    `WrongParameters`, `scoring.selectors.raters.UnknownRater` where no slice can be drawn up.
    """
    known = [value for value, _label in NamedSlice.rules_of_scores()]
    if rule not in known:
        raise WrongParameters(_("The rule must be one of: %(rules)s.") % {"rules": ", ".join(known)})
    if n is None and rule == NamedSlice.Rule.HARD:
        raise WrongParameters(_("Enter how many of the hardest cases to use."))
    if n is not None and n < 1:
        raise WrongParameters(_("A slice must have at least one case."))
    with field_named("rater"):
        resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    candidates = list(dict.fromkeys(candidates))
    marks = read_marks(benchmark, resolved, 1, named=candidates)
    chosen = _chosen(benchmark, marks, candidates)
    keys = dict(Case.objects.filter(pk__in=marks.sheet.case_ids.tolist()).values_list("pk", "key"))
    of_case = [keys[pk] for pk in marks.sheet.case_ids.tolist()]
    scores = _by_case(marks, list(chosen.values()))
    subset = (
        hardest(scores, of_case, n or 1) if rule == NamedSlice.Rule.HARD else met_by_some(scores, of_case, n or None)
    )
    if subset.n_unscored == len(of_case):
        raise WrongParameters(
            _("No cases remain: there is no case on which all chosen candidates have a score by this rater.")
        )
    if not len(subset.chosen):
        raise WrongParameters(_("No cases remain: no chosen candidate scores above 0 on any of them."))
    inside = np.zeros(len(of_case), dtype=bool)
    inside[subset.chosen] = True
    names = sorted(chosen)
    return Drawn(
        rater=resolved.label,
        candidates=names,
        n=n,
        case_ids=sorted(marks.sheet.case_ids[inside].tolist()),
        n_cases=len(of_case),
        n_unscored=subset.n_unscored,
        n_without_positive=subset.n_without_positive,
        means=[_mean(marks, name, chosen[name], inside) for name in names],
        digest=_digest(marks, of_case, names),
    )


def _chosen(benchmark: Benchmark, marks: Marks, candidates: list[str]) -> dict[str, int]:
    """The places of the chosen candidates by name."""
    if not candidates:
        raise WrongParameters(_("Choose at least one candidate."))
    named = dict(Candidate.objects.filter(benchmark=benchmark, name__in=candidates).values_list("name", "pk"))
    unknown = [name for name in candidates if name not in named]
    if unknown:
        raise WrongParameters(_("There is no candidate called %(names)s.") % {"names": ", ".join(unknown)})
    place = {pk: i for i, pk in enumerate(marks.sheet.candidate_ids.tolist())}
    silent = [name for name in candidates if named[name] not in place]
    if silent:
        raise WrongParameters(
            _("This rater has made no decisions on the responses of %(names)s.") % {"names": ", ".join(silent)}
        )
    return {name: place[named[name]] for name in candidates}


def _by_case(marks: Marks, places: list[int]) -> NDArray[np.float64]:
    """Mean rubric score by case and candidate, NaN where no response has one."""
    sheet, score = marks.sheet, marks.values["rubric_score"]
    shape = (len(sheet.case_ids), len(sheet.candidate_ids))
    given = ~np.isnan(score)
    flat = sheet.response_case[given] * shape[1] + sheet.response_candidate[given]
    counts = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(flat, weights=score[given], minlength=shape[0] * shape[1]).reshape(shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(counts > 0, sums / counts, np.nan)[:, places])


def _mean(marks: Marks, name: str, place: int, inside: NDArray[np.bool_]) -> Row:
    sheet, score = marks.sheet, marks.values["rubric_score"]
    own = (sheet.response_candidate == place) & ~np.isnan(score)
    taken = own & inside[sheet.response_case]
    return {
        "candidate": name,
        "all": float(np.clip(score[own].mean(), 0, 1)),
        "taken": float(np.clip(score[taken].mean(), 0, 1)),
        "n_all": int(own.sum()),
        "n_taken": int(taken.sum()),
    }


def _digest(marks: Marks, keys: list[str], names: list[str]) -> str:
    sheet_digest = digest_of_sheet(marks.sheet, marks.label, names, keys)
    return hashlib.sha256(json.dumps([sheet_digest, names]).encode()).hexdigest()


@transaction.atomic
def draw_up_slice(
    *,
    benchmark: Benchmark,
    title: str,
    slug: str = "",
    rule: str,
    rater: str,
    candidates: Iterable[str],
    n: int | None,
    by: User | None,
    at: datetime,
) -> NamedSlice:
    """Draw up a slice from scores and keep it; ``slug`` comes from the title where it is empty."""
    title, slug = _named(title, slug)
    drawn = draw(benchmark=benchmark, rule=rule, rater=rater, candidates=candidates, n=n)
    return _keep(benchmark, title, slug, rule, drawn.parameters, drawn.case_ids, drawn.digest, by, at)


@transaction.atomic
def save_filter(
    *, benchmark: Benchmark, title: str, slug: str = "", filter: SliceFilter, by: User | None, at: datetime
) -> NamedSlice:
    """Keep the cases that match ``filter`` now as a slice; ``slug`` comes from the title where it is empty."""
    title, slug = _named(title, slug)
    matching = match(benchmark=benchmark, filter=filter)
    parameters = {"filter": matching.filter, "n_cases": matching.n_cases, "n_excluded": matching.n_excluded}
    rule = NamedSlice.Rule.FILTER
    return _keep(benchmark, title, slug, rule, parameters, matching.case_ids, matching.digest, by, at)


def _named(title: str, slug: str) -> tuple[str, str]:
    """The title without blanks around it, and the short name; `WrongParameters` where one cannot be."""
    title = title.strip()
    if not title:
        raise WrongParameters(_("Enter a title for the slice."), field="title")
    slug = slug or slugify(title)[:MAX_SLICE_SLUG_LENGTH].strip("-_")
    if not slug:
        raise WrongParameters(_("Enter a short name of Latin letters and digits; it appears in tables."), field="slug")
    if slug in RESERVED:
        raise WrongParameters(
            _("“%(slug)s” is already used as the address of another page. Choose another short name.") % {"slug": slug},
            field="slug",
        )
    if slug != slugify(slug) or len(slug) > MAX_SLICE_SLUG_LENGTH:
        raise WrongParameters(
            _("A short name can contain only lower-case Latin letters, digits, hyphens and underscores."), field="slug"
        )
    return title, slug


def _keep(
    benchmark: Benchmark,
    title: str,
    slug: str,
    rule: str,
    parameters: dict[str, Any],
    case_ids: list[int],
    digest: str,
    by: User | None,
    at: datetime,
) -> NamedSlice:
    try:
        with transaction.atomic():
            return NamedSlice.objects.create(
                benchmark=benchmark,
                slug=slug,
                title=title,
                rule=rule,
                parameters=parameters,
                case_ids=case_ids,
                input_digest=digest,
                created_by=by,
                created_at=at,
            )
    except IntegrityError:
        raise Conflict(
            _("A slice “%(slug)s” already exists. Retired slices keep their names.") % {"slug": slug}
        ) from None


def retire_slice(*, named: NamedSlice, at: datetime) -> None:
    """Offer a slice no longer. Reports that name it stand; `Conflict` where it is retired already."""
    if not NamedSlice.objects.filter(pk=named.pk, retired_at=None).update(retired_at=at):
        raise Conflict(_("This slice has already been retired."))
