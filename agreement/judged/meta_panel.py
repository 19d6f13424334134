"""Judges and physicians on the same items: what figures by theme and percentiles of judges are computed from.

An item is a pair of a response and a criterion that every judge was to decide and that two physicians or more answered
met or not met. An item that one of the judges left undecided, or whose criterion an adjudicator found faulty, is left
out for all, so that all raters are measured on the same items. An invalid or missing verdict counts against its judge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from agreement.counting.pairs import positions
from agreement.judged import many_raters
from agreement.judged.alternative import ALL, Bench, NoInstances, bench_of, read_own_decisions
from agreement.label_files.reading import JudgeFile, LabelFile
from rubrics.bank.themes import MAP, theme_of
from rubrics.models import Benchmark
from scoring.selectors.raters import Rater, resolve_rater


@dataclass(frozen=True, eq=False)
class MetaPanel:
    """The judges by label, with their verdicts on the items of ``labels``.

    ``n_faulty`` items were left out because the criterion is faulty, ``n_not_shared`` because one of several judges
    was not to decide them or left them undecided; ``n_undecided`` is the most that a judge left undecided.
    """

    raters: list[Rater]
    group: str
    labels: LabelFile
    verdicts: dict[str, JudgeFile]
    themes: Mapping[str, str]
    n_undecided: int
    n_faulty: int
    n_not_shared: int
    digest: str


def read_panel(benchmark: Benchmark, *, judges: Sequence[str], group: str = ALL) -> MetaPanel:
    """Read judges and physicians; `NoInstances` where they share no item."""
    decisions = read_own_decisions(benchmark, group)
    raters = [resolve_rater(benchmark, judge) for judge in judges]
    benches = [bench_of(benchmark, rater, decisions) for rater in raters]
    keys = benches[0].keys
    for bench in benches[1:]:
        keys = np.intersect1d(keys, bench.keys, assume_unique=True)
    if not len(keys):
        raise NoInstances(_("No pair that two physicians answered was judged by all of these judges."))
    first = benches[0]
    labelled, place_of = first.labelled, positions(first.keys, keys)[0]
    item, is_shared = positions(keys, first.keys[labelled.item])
    who, physician = np.unique(labelled.annotator[is_shared], return_inverse=True)
    cases, case = np.unique(labelled.case[place_of], return_inverse=True)
    criterion = first.frame.criterion_places(keys & (2**31 - 1))
    names, category = many_raters.categories_of(first.frame, criterion)
    labels = LabelFile(
        item=item[is_shared],
        physician=physician.astype(np.int64),
        met=labelled.met[is_shared],
        keys=[()] * len(keys),  # only their number matters here
        physicians=[labelled.names[place] for place in who.tolist()],
        categories=names,
        category=category,
        case=case.astype(np.int64),
        response=keys >> 31,
        n_cases=len(cases),
    )
    themes = benchmark.maps.get(MAP, {})
    return MetaPanel(
        raters=raters,
        group=first.group,
        labels=labels,
        verdicts={
            bench.judge.label: JudgeFile(bench.labelled.judge[positions(bench.keys, keys)[0]], 0) for bench in benches
        },
        themes=themes,
        n_undecided=max(bench.n_undecided for bench in benches),
        n_faulty=first.n_faulty,
        n_not_shared=len(np.unique(np.concatenate([bench.keys for bench in benches]))) - len(keys),
        digest=_digest(benches, names, themes),
    )


def _digest(benches: Sequence[Bench], clusters: Sequence[str], themes: Mapping[str, str]) -> str:
    named = [theme_of(cluster, themes) for cluster in clusters]
    parts = [*(many_raters.digest_of(bench) for bench in benches), *named]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
