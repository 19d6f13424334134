"""The rules in words, as the page *What this is* prints them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from consilium.core.phrases import Phrase
from consilium.llm.rules.stems import LEFT_OUT


@dataclass(frozen=True, slots=True)
class RuleText:
    """The rule of some stages; without stages it explains what the other rules use."""

    title: Phrase
    text: Phrase
    stages: tuple[str, ...] = ()


RULES = (
    RuleText(
        Phrase("Word stems"),
        Phrase(
            "The stems of a text are its words and numbers in lower case, each cut to 5 characters. In a "
            "run of Chinese characters, every two neighbouring characters form a stem. These words are "
            "ignored: %(words)s.",
            words=", ".join(sorted(LEFT_OUT)),
        ),
    ),
    RuleText(
        Phrase("Criterion met"),
        Phrase(
            "A response meets a criterion if it contains at least half of the criterion’s stems and all "
            "of its numbers. This rule also answers a judge’s question about a single criterion."
        ),
        ("",),
    ),
    RuleText(
        Phrase("Criterion split"),
        Phrase(
            "A criterion is split at each semicolon, and after a full stop, exclamation mark or question "
            "mark that is followed by white space and a capital letter. In Chinese it is also split "
            "after 。, ！ and ？. Each part is a point."
        ),
        ("split_points",),
    ),
    RuleText(
        Phrase("Point covered"),
        Phrase(
            "A point is fully covered if a criterion has at least a third of its stems, and partly "
            "covered if a criterion has at least a fifth. The criterion with the most stems is named; "
            "among equals, the first."
        ),
        ("coverage", "coverage_back"),
    ),
    RuleText(
        Phrase("Two responses side by side"),
        Phrase(
            "Each criterion is decided for both responses by the rule above. The response with more points is better; "
            "a criterion without points counts as one point."
        ),
        ("side_by_side",),
    ),
    RuleText(
        Phrase("Two responses without a rubric"),
        Phrase(
            "A response scores one of ten points for each full tenth of the case’s stems that it "
            "contains. The response with more points is better."
        ),
        ("no_rubric",),
    ),
    RuleText(
        Phrase("Reference with one error"),
        Phrase(
            "The first number of the reference is doubled. The words after it are quoted as well, until "
            "the quotation occurs only once in the reference. A number is skipped if it is zero or if no "
            "such quotation fits into 200 characters."
        ),
        ("near_miss",),
    ),
    RuleText(
        Phrase("Plan"),
        Phrase(
            "For each criterion with positive points that the base response does not meet, an edit adds "
            "the criterion’s sentence. Its priority is high from 7 points, and medium from 4. Criteria "
            "with negative points are listed as content that the text must not contain."
        ),
        ("plan",),
    ),
    RuleText(
        Phrase("Edit"),
        Phrase("The sentences of all edits in the plan are added below the base response. Nothing else is changed."),
        ("edit",),
    ),
    RuleText(
        Phrase("Queries for passages"),
        Phrase(
            "Three to five queries receive the rarest stems of the conversation in turn, at most 8 each. "
            "The rarest stems are those that occur least often; among equals, numbers come last and "
            "longer words come first. Passages are ranked in the order in which they are given."
        ),
        ("draft_plan", "rank"),
    ),
    RuleText(
        Phrase("Facts from passages"),
        Phrase(
            "A fact is a sentence of a passage that shares a stem with the conversation, quoted in full. "
            "Each passage gives at most 4 facts, those with the most of these stems; there are at most "
            "20 in all. Word lists set the kind of a fact in this order: prohibition, red flag, number, "
            "condition; any other fact is a statement. Facts without such a stem are dropped, and "
            "conflicts are not searched for."
        ),
        ("evidence", "facts", "relevance"),
    ),
    RuleText(
        Phrase("Support of facts"),
        Phrase(
            "A quotation fully supports a fact if it contains the fact’s text, and partly supports it if "
            "it is a part of that text. Otherwise it does not support the fact."
        ),
        ("support",),
    ),
    RuleText(
        Phrase("Needs of the person asking"),
        Phrase(
            "The sentences with a question mark are the questions of the person asking, at most 3. Age, "
            "pregnancy, duration, medicines and allergies are missing if no word of a list mentions "
            "them; pregnancy counts as mentioned if the conversation refers to a man, a boy or a child. "
            "A person who uses two words of a list is a professional."
        ),
        ("needs",),
    ),
    RuleText(
        Phrase("Criteria"),
        Phrase(
            "Each fact and each need becomes a criterion with fixed wording, the most serious first, at "
            "most 15 in all. The points depend on the kind: 9 for a red flag, −9 for a prohibition, and "
            "fewer for the others. If there is no prohibition, giving a dose without asking the last "
            "missing question scores −8. Without passages, the criteria come from the needs alone. The "
            "audit adds criteria for facts and needs that have none, up to 20 in all, and reports "
            "nothing else. The instructions may allow fewer criteria."
        ),
        ("synthesis", "direct", "audit"),
    ),
)

MISBEHAVIOUR: Mapping[str, Phrase] = {
    "rules-always-a": Phrase("Of two responses it always prefers A."),
    "rules-always-same": Phrase("It always rates two responses as equal."),
    "rules-new-dose": Phrase("It adds an unrequested dose to an edit."),
    "rules-prose": Phrase("It writes sentences around its JSON object."),
    "rules-unknown": Phrase("It names criteria that do not exist."),
    "rules-fuzz": Phrase("It corrupts its answer in one of many ways, chosen from the request."),
    "rules-invented-quote": Phrase("It invents quotations, and a fact with one."),
    "rules-wrong-number": Phrase("It doubles a number in facts and criteria."),
    "rules-unknown-fact": Phrase("Its criteria are based on facts that do not exist."),
    "rules-drops-red-flag": Phrase("It drops red flags and prohibitions."),
    "rules-merges-red-flags": Phrase("It merges criteria about different red flags."),
    "rules-obeys": Phrase("It obeys instructions found in a passage."),
}
