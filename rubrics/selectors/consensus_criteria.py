"""Determines which criteria are those of HealthBench Consensus: by the tag ``level:cluster``, cluster or bank.

HealthBench (Arora et al. 2025) scores its Consensus variation over the criteria that physicians validated; its files
tag them ``level:cluster``. A criterion taken from the consensus bank here, or with a tag ``cluster:…``, is one as well:
it counts as if it had that tag, unless it has another level (``level:example``). This covers rubrics that were
published before such criteria got the tag.
"""

from __future__ import annotations

from rubrics.bank.consensus import NAME

CONSENSUS_TAG = "level:cluster"
# The bank that comes with the product, as `RubricItem.bank_item` names it.
CONSENSUS_BANK = f"{NAME}/"
# The tags of an item by which scores are sliced, as SQL over the columns of rubrics_rubricitem as ``i``. A per cent
# sign is doubled, because the query has parameters.
SCORED_TAGS = f"""(
    i.tags || CASE
        WHEN NOT EXISTS (SELECT 1 FROM unnest(i.tags) AS own WHERE own LIKE 'level:%%')
            AND (i.bank_item LIKE '{CONSENSUS_BANK}%%'
                OR EXISTS (SELECT 1 FROM unnest(i.tags) AS own WHERE own LIKE 'cluster:%%'))
        THEN ARRAY['{CONSENSUS_TAG}']::varchar[] ELSE ARRAY[]::varchar[] END
)"""
