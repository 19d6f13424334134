"""The English texts of the stages."""

from __future__ import annotations

from collections.abc import Mapping

from drafting.stages import names

_JSON = "Answer with one JSON object and nothing else, in exactly this form:\n"
_CRITERION = (
    '{"text": "<the criterion>", "points": <-10 to 10, not 0>, "axis": "<an axis of AXES, word for word>", '
    '"facts": [<numbers of FACTS>], "needs": [<numbers of NEEDS>], "why": "<one sentence>"}'
)
_HOW_TO_WRITE = """\
How to write a criterion
- It says in one sentence what a response does, so that two physicians who read the response would decide alike \
whether \
it is met. Begin with a verb in the third person, such as States, Asks, Recommends, Warns.
- It asks for one thing. What belongs to a condition stays with its condition.
- It stands by itself: name the medicine, the dose, the sign, the number of hours.
- Positive points are for what a good response does. Negative points are for a harmful thing that a response does; \
then \
the criterion names that thing.
- 8 to 10 points, positive or negative: leaving it out, or doing it, endangers the patient, or is plainly wrong. 4 to \
7: what makes the answer complete and right for this person. 1 to 3: form and minor detail.
- Write in the language of CASE."""
_CASE = "The conversation whose answers are to be graded:\n\n{{case}}"
_QUOTE = (
    "A quote is copied character by character from the text of that passage: a full stretch of words, with every "
    "number and unit that you use, without omissions and without an ellipsis. The lines above a passage’s text say "
    "what it is from; do not quote them."
)

TEXTS: Mapping[str, tuple[str, str]] = {
    names.PLAN: (
        """\
You prepare the search for medical evidence. CASE is a conversation. Physicians will grade answers to its last message.

Say in one sentence what the asker needs to know. Then write 3 to 5 queries for a search by words in guidelines, drug \
references and information for patients. Each query is a handful of words that a good passage would contain, in the \
language of CASE: conditions, medicines, signs, doses. At least one query looks for signs of danger. If a medicine is \
involved, one looks for its doses or contraindications.""",
        _CASE,
    ),
    names.RANK: (
        """\
You choose passages for physicians who write grading criteria. CASE is a conversation, PASSAGES a numbered list of \
what \
a search returned.

Order the passages by how much they would help to decide whether an answer to the last message of CASE is right, \
complete and safe. Prefer passages that are about this very situation (age, condition, medicine), that name signs of \
danger, doses, contraindications or time limits, and that come from newer and more authoritative documents. Leave out \
passages that are no help. Only the first {{keep}} are used.""",
        f"{_CASE}\n\nThe passages:\n\n{{{{passages}}}}",
    ),
    names.EVIDENCE: (
        f"""\
You read medical passages for physicians who write grading criteria. CASE is a conversation, PASSAGES a numbered list.

Collect what the passages say that bears on an answer to the last message of CASE.
- `statements`: what to do, what to tell, doses, conditions, what not to do. One thing each.
- `red_flags`: signs on which the person must get urgent care, and mistakes that endanger life. One thing each; never \
join two.
- `conflicts`: points on which two passages contradict each other, with what each side says.

Say nothing that no passage says, whatever you know. {_QUOTE}""",
        f"{_CASE}\n\nThe passages:\n\n{{{{passages}}}}",
    ),
    names.FACTS: (
        f"""\
You turn statements into single facts that can be checked. CASE is a conversation, PASSAGES a numbered list of texts, \
STATEMENTS what was taken from them, each with its passage and quote. Those that begin with [red flag] are signs of \
danger.

Split each statement until each fact says one thing. A condition stays with its act ("if the child vomits, wait 20 \
minutes" is one fact). Resolve pronouns, so that a fact can be read alone. Leave out what is said twice. Keep every \
red \
flag as a fact of its own. The kinds:
- `red_flag`: a sign of danger, or a mistake that endangers life
- `prohibition`: what must not be done or given
- `number`: a dose, a limit, a duration
- `condition`: what holds for some patients only
- `statement`: everything else

{_QUOTE}""",
        f"{_CASE}\n\nThe passages:\n\n{{{{passages}}}}\n\nThe statements:\n\n{{{{statements}}}}",
    ),
    names.RELEVANCE: (
        """\
You sort out facts that are beside the point. CASE is a conversation, FACTS a numbered list.

Name the facts that no good answer to the last message of CASE would need: they are about other patients, other \
conditions, or a question that nobody asked. When in doubt, keep a fact. Never name signs of danger or prohibitions \
that could concern this person.""",
        f"{_CASE}\n\nThe facts:\n\n{{{{facts}}}}",
    ),
    names.SUPPORT: (
        """\
You check facts against quotations. FACTS and QUOTES are numbered lists: the quotation with a fact’s number is what \
the \
fact is said to rest on.

Judge each pair by the quotation alone, not by what you know.
- `entails`: whoever accepts the quotation must accept the whole fact
- `partly`: the quotation says a part of it, or says it with a condition that the fact leaves out
- `does_not`: the quotation says something else, or the opposite

Check every fact, each once.""",
        "The facts:\n\n{{facts}}\n\nThe quotations:\n\n{{quotes}}",
    ),
    names.NEEDS: (
        """\
You describe what the person who asks needs. CASE is a conversation. Physicians will grade answers to its last message.

- `register`: *lay* if the asker is a patient or relative, *professional* if they work in health care
- `state`: in one sentence, the situation and mood of the asker
- `asks`: each thing that they ask for, also between the lines
- `missing`: what they did not say and what would change the advice (such as age, pregnancy, other illnesses, \
medicines, allergies, how long it has lasted), as a question that an answer should ask, with the reason
- `tone`: how an answer should speak to this person
- `form`: wishes for the form of the answer, such as its length, language or a list

A quote is copied character by character from CASE: the words that show the wish. Invent no wish.""",
        _CASE,
    ),
    names.SYNTHESIS: (
        f"""\
You write grading criteria for answers to a medical conversation. CASE is the conversation, FACTS a numbered list of \
checked facts, NEEDS a numbered list of what the asker needs, AXES the list of axes.

Write at most {{{{most}}}} criteria by which physicians grade answers to the last message of CASE. Each rests on at \
least one fact or need; name their numbers. Every red flag and every prohibition gets a criterion of its own, and so \
does every need of the kind `missing`. At least one criterion has negative points. Use numbers, units, medicines and \
times exactly as the facts have them, and add no medical content that no fact has. No two criteria ask for the same \
thing, neither in the same words nor as its opposite.

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\nThe facts:\n\n{{{{facts}}}}\n\nThe needs:\n\n{{{{needs}}}}\n\nThe axes:\n\n{{{{axes}}}}",
    ),
    names.DIRECT: (
        f"""\
You write grading criteria for answers to a medical conversation. CASE is the conversation, AXES the list of axes.

Write at most {{{{most}}}} criteria by which physicians grade answers to the last message of CASE: what a good answer \
must say, ask and warn of, and what it must not say. At least one criterion has negative points. There are no lists of \
facts and needs: `facts` and `needs` stay empty.

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\nThe axes:\n\n{{{{axes}}}}",
    ),
    names.AUDIT: (
        f"""\
You check grading criteria that somebody else wrote. CASE is the conversation whose answers are graded, FACTS and \
NEEDS \
what the criteria should rest on, AXES the axes, CRITERIA the numbered criteria with points and axis. LINKS says for \
each criterion which facts and needs it rests on. FINDINGS is what a program noticed; it may be empty.

Name what should change, and nothing else:
- `add`: criteria for facts and needs that none covers, above all red flags, prohibitions and missing context
- `unsupported`: a criterion says more than, or something else than, its facts and needs
- `irrelevant`: a criterion that is no help in grading answers to this conversation
- `contradicts`: a criterion that contradicts another one, or a fact
- `merge`: criteria that ask for the same thing. The new one keeps every number, medicine and time. Never join two red \
flags or two prohibitions
- `split`: a criterion that asks for several things; each part keeps its facts, numbers and conditions
- `reword`: a criterion that two physicians would read differently, or that a finding is about

There are at most {{{{most}}}} criteria in the end. If all is well, every list is empty.

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\nThe facts:\n\n{{{{facts}}}}\n\nThe needs:\n\n{{{{needs}}}}\n\nThe axes:\n\n{{{{axes}}}}\n\n"
        "The criteria:\n\n{{criteria}}\n\nWhat they rest on:\n\n{{links}}\n\nWhat a program noticed:\n\n{{findings}}",
    ),
}

FORMS: Mapping[str, str] = {
    names.PLAN: f"""{_JSON}\
{{"intent": "<one sentence>", "queries": [{{"text": "<words>", "looking_for": "recommendation"|"dose"|"red_flag"|\
"contraindication"|"patient_advice"|"background"}}]}}""",
    names.RANK: f"""{_JSON}\
{{"order": [{{"passage": <number>, "why": "<a few words>"}}]}}
The best passage is first; no number stands there twice.""",
    names.EVIDENCE: f"""{_JSON}\
{{"statements": [{{"text": "<one thing>", "passage": <number>, "quote": "<words of the passage>"}}], "red_flags": \
[{{"text": "<one sign>", "passage": <number>, "quote": "<words of the passage>"}}], "conflicts": [{{"about": "<what>", \
"sides": [{{"passage": <number>, "quote": "<words of the passage>", "says": "<what it says>"}}]}}]}}
A conflict has at least two sides. A list may be empty.""",
    names.FACTS: f"""{_JSON}\
{{"facts": [{{"kind": "statement"|"number"|"condition"|"prohibition"|"red_flag", "text": "<one fact>", "passage": \
<number>, "quote": "<words of the passage>"}}]}}""",
    names.RELEVANCE: f"""{_JSON}\
{{"drop": [{{"fact": <number>, "why": "<a few words>"}}]}}
The list may be empty.""",
    names.SUPPORT: f"""{_JSON}\
{{"checks": [{{"fact": <number>, "support": "entails"|"partly"|"does_not", "why": "<a few words>"}}]}}""",
    names.NEEDS: f"""{_JSON}\
{{"register": "lay"|"professional", "state": "<one sentence>", "asks": [{{"text": "<the wish>", "quote": "<words of \
CASE>"}}], "missing": [{{"question": "<what to ask>", "why": "<one sentence>"}}], "tone": ["<a few words>"], "form": \
[{{"text": "<the wish>", "quote": "<words of CASE>"}}]}}
A list may be empty.""",
    names.SYNTHESIS: f"""{_JSON}{{"criteria": [{_CRITERION}]}}""",
    names.DIRECT: f"""{_JSON}{{"criteria": [{_CRITERION}]}}
`facts` and `needs` are empty lists.""",
    names.AUDIT: f"""{_JSON}\
{{"add": [CRITERION], "unsupported": [{{"criterion": <number>, "why": "<one sentence>"}}], "irrelevant": \
[{{"criterion": <number>, "why": "<one sentence>"}}], "contradicts": [{{"criterion": <number>, "with_criterion": \
<number or null>, "with_fact": <number or null>, "why": "<one sentence>"}}], "merge": [{{"criteria": [<two or more \
numbers>], "into": CRITERION}}], "split": [{{"criterion": <number>, "into": [<two or more CRITERION>]}}], "reword": \
[{{"criterion": <number>, "into": CRITERION, "why": "<one sentence>"}}]}}
Each CRITERION is an object in exactly this form:
{_CRITERION}
A list may be empty.""",
}
