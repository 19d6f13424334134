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
            "The stems of a text are its words and numbers in small letters, each cut to 5 characters. Of Chinese "
            "characters in a row, each two neighbours are a stem. These words are left out: %(words)s.",
            words=", ".join(sorted(LEFT_OUT)),
        ),
    ),
    RuleText(
        Phrase("Criterion met"),
        Phrase(
            "A response meets a criterion if it has at least half of the criterion’s stems and all of its numbers. A "
            "question of a judge about one criterion is answered by this rule."
        ),
        ("",),
    ),
    RuleText(
        Phrase("Criterion split"),
        Phrase(
            "A criterion is cut at each semicolon, and after a full stop, exclamation or question mark with white "
            "space and a capital letter behind it. In Chinese it is cut after 。, ！ and ？ as well. Each piece is a "
            "point."
        ),
        ("split_points",),
    ),
    RuleText(
        Phrase("Point covered"),
        Phrase(
            "A point is covered fully if some criterion has at least a third of its stems, and partly from a fifth on. "
            "Named is the criterion with the most; of equals, the first."
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
            "A response gets one of ten points for each full tenth of the case’s stems that it has. The response with "
            "more points is better."
        ),
        ("no_rubric",),
    ),
    RuleText(
        Phrase("Reference with one error"),
        Phrase(
            "The first number of the reference is doubled. Words behind it are named as well, until the place occurs "
            "once in the reference. A number is skipped if it is zero or if no such place has at most 200 characters."
        ),
        ("near_miss",),
    ),
    RuleText(
        Phrase("Plan"),
        Phrase(
            "For each criterion with positive points that the base does not meet, an edit adds the criterion’s "
            "sentence. Its priority is high from 7 points on, and medium from 4. Criteria with negative points become "
            "what must not be in the text."
        ),
        ("plan",),
    ),
    RuleText(
        Phrase("Edit"),
        Phrase("The sentences of all edits of the plan are put under the base, and nothing else is changed."),
        ("edit",),
    ),
    RuleText(
        Phrase("Queries for passages"),
        Phrase(
            "Three to five queries get the rarest stems of the conversation in turn, each at most 8. Rarest is what "
            "occurs least often; of equals, numbers come last, then the longer word comes first. Passages are ranked "
            "as they are given."
        ),
        ("draft_plan", "rank"),
    ),
    RuleText(
        Phrase("Facts from passages"),
        Phrase(
            "A fact is a sentence of a passage that shares a stem with the conversation, quoted whole: of each passage "
            "at most 4, those with most of these stems, and 20 in all. Its kind is told by lists of words in this "
            "order: prohibition, red flag, number, condition; any other is a statement. A fact without such a stem is "
            "dropped, and conflicts are not looked for."
        ),
        ("evidence", "facts", "relevance"),
    ),
    RuleText(
        Phrase("Support of facts"),
        Phrase(
            "A quotation supports a fact if the fact’s text is in it, partly if it is a part of the fact’s text, and "
            "else not at all."
        ),
        ("support",),
    ),
    RuleText(
        Phrase("Needs of the asker"),
        Phrase(
            "The asker’s sentences with a question mark are asked for, at most 3. Age, pregnancy, duration, medicines "
            "and allergies are missing if no word of a list names them; pregnancy counts as named if the conversation "
            "speaks of a man, a boy or a child. An asker who uses two words of a list is a professional."
        ),
        ("needs",),
    ),
    RuleText(
        Phrase("Criteria"),
        Phrase(
            "Each fact and each need becomes a criterion in a fixed phrase, the gravest first and at most 15. The "
            "points follow from the kind: 9 for a red flag, −9 for a prohibition, and fewer for the others. Without a "
            "prohibition, giving a dose without asking the last missing question has −8. Without passages the criteria "
            "come from the needs alone. The audit adds criteria for facts and needs that have none, up to 20 in all, "
            "and finds nothing else. The instructions may allow fewer criteria."
        ),
        ("synthesis", "direct", "audit"),
    ),
)

MISBEHAVIOUR: Mapping[str, Phrase] = {
    "rules-always-a": Phrase("Of two responses it always prefers A."),
    "rules-always-same": Phrase("It always calls two responses the same."),
    "rules-new-dose": Phrase("In an edit it adds a dose that nobody asked for."),
    "rules-prose": Phrase("It writes sentences around its JSON object."),
    "rules-unknown": Phrase("It names criteria that do not exist."),
    "rules-fuzz": Phrase("It breaks its answer in one of many ways, drawn from the request."),
    "rules-invented-quote": Phrase("It invents quotations, and a fact with one."),
    "rules-wrong-number": Phrase("It doubles a number in facts and criteria."),
    "rules-unknown-fact": Phrase("Its criteria rest on facts that do not exist."),
    "rules-drops-red-flag": Phrase("It drops red flags and prohibitions."),
    "rules-merges-red-flags": Phrase("It merges criteria about different red flags."),
    "rules-obeys": Phrase("It obeys instructions that stand in a passage."),
}
