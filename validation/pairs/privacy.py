"""Which texts of pairs may go to a model: those without an open privacy finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rubrics.models import Case, PrivacyWaiver
from rubrics.parsing.privacy import findings


def texts_with_findings(texts: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Those of (case, text) with a finding that is neither waived nor in the case's own texts; two queries.

    What the case itself holds is looked at with the case (`cases_with_open_findings`).
    """
    findings_of: dict[tuple[int, str], set[tuple[str, str]]] = {}
    for case, text in set(texts):
        own = {(finding.kind, finding.quote) for finding in findings(text)}
        if own:
            findings_of[case, text] = own
    if not findings_of:
        return set()
    cases = {case for case, _text in findings_of}
    allowed: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for case, kind, quote in PrivacyWaiver.objects.filter(case__in=cases).values_list("case", "kind", "quote"):
        allowed[case].add((kind, quote))
    for row in Case.objects.filter(pk__in=cases).only("conversation", "reference_answer"):
        for text in (row.reference_answer, *(turn["content"] for turn in row.conversation)):
            allowed[row.pk].update((finding.kind, finding.quote) for finding in findings(text))
    return {place for place, own in findings_of.items() if own - allowed[place[0]]}
