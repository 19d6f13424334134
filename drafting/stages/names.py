"""The stages of drafting in their order, by the names under which steps and requests know them. Pure."""

from __future__ import annotations

PLAN = "draft_plan"
RETRIEVE = "retrieve"  # looks passages up
RANK = "rank"
EVIDENCE = "evidence"
FACTS = "facts"
RELEVANCE = "relevance"
QUOTES = "quotes"  # code checks quotations and numbers
SUPPORT = "support"
NEEDS = "needs"
SYNTHESIS = "synthesis"
DIRECT = "direct"  # criteria from the conversation alone
GENERIC = "generic"  # the same criteria for every case
AUDIT = "audit"  # two rounds at most
RESULT = "result"  # code puts together criteria, findings and ledger

STAGES = (
    PLAN,
    RETRIEVE,
    RANK,
    EVIDENCE,
    FACTS,
    RELEVANCE,
    QUOTES,
    SUPPORT,
    NEEDS,
    SYNTHESIS,
    DIRECT,
    GENERIC,
    AUDIT,
    RESULT,
)
# The stages that ask a model.
ASKING = (PLAN, RANK, EVIDENCE, FACTS, RELEVANCE, SUPPORT, NEEDS, SYNTHESIS, DIRECT, AUDIT)
