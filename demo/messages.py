"""The texts of the made-up messages, and of what made-up candidates answer to them. All of it is invented.

A message is a bare description: who, and what is the matter, by how urgent it is. One that says little names the
complaint alone. An answer has one sentence that advises a level of care, and perhaps one that does so under a
condition; these sentences are known, so that what an answer advises is known too.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

WHO = (
    "A woman of 24", "A man of 31", "A woman of 38", "A man of 45", "A woman of 52",
    "A man of 59", "A woman of 66", "A man of 73", "A woman of 80", "A boy of 12",
)  # fmt: skip

# For each complaint: the least urgent picture first, and what is said where a message says little.
COMPLAINTS: tuple[tuple[tuple[str, str, str, str], str], ...] = (
    (
        (
            "has had a runny nose and a mild cough for two days, no fever, and eats and drinks as usual.",
            "has coughed for four weeks, feels well otherwise, and has no fever and no weight loss.",
            "has coughed for a week, has had a fever of 38.9 °C since yesterday and chest pain on breathing in.",
            "has coughed for days and is now too breathless to finish a sentence, with blue lips.",
        ),
        "coughs.",
    ),
    (
        (
            "has had a dull headache since this morning after a short night; it is better after a glass of water.",
            "has had a headache about twice a week for three months, always alike, and works through it.",
            "has had a throbbing headache since yesterday, vomits, and has had such attacks before.",
            "had the worst headache ever within one minute half an hour ago, and the neck is stiff.",
        ),
        "has a headache.",
    ),
    (
        (
            "had loose stools three times today after a large meal, without blood, and drinks well.",
            "has had cramps after meals on and off for two months, with normal weight and no blood.",
            "has vomited and had watery stools for two days, keeps little down and is dizzy on standing.",
            "has a belly as hard as a board, unbearable pain for two hours, and is cold and sweating.",
        ),
        "has a stomach ache.",
    ),
    (
        (
            "twisted an ankle yesterday; it is a little swollen, and walking is possible almost without pain.",
            "has had pain in a knee for six weeks that comes with stairs and goes with rest.",
            "fell on a wrist this morning; it is swollen, very painful to move, and the fingers feel normal.",
            "fell from a ladder; the thigh is bent where it should not be, and the foot is pale and cold.",
        ),
        "hurt a leg.",
    ),
    (
        (
            "has a few itching insect bites on the arms since last night and is otherwise well.",
            "has had a dry, itching rash in the crooks of the elbows for a month.",
            "has a hot, red, painful patch on the shin since yesterday that has doubled in size, and shivers.",
            "came out in weals minutes after a sting; the tongue swells and the voice is hoarse.",
        ),
        "has a rash.",
    ),
    (
        (
            "has had muscle ache in the back since moving boxes yesterday, moves freely and feels the legs normally.",
            "has had pain in the lower back for five weeks, without numbness, and sleeps through.",
            "has back pain that shoots into one leg since two days, with a tingling foot of normal strength.",
            "has back pain, cannot feel the skin around the anus since today and cannot pass water.",
        ),
        "has back pain.",
    ),
    (
        (
            "has felt tired for three days after nights with little sleep, and is well otherwise.",
            "has been tired for two months, with normal appetite, and wonders about a blood test.",
            "has felt weak since two days, takes a new tablet for blood pressure and is dizzy on standing.",
            "was found confused and hard to wake; the skin is grey and the breath is fast.",
        ),
        "feels tired.",
    ),
    (
        (
            "feels the heart skip once or twice a day after much coffee, without any other complaint.",
            "has noticed a fast pulse on stairs for some weeks, and feels well at rest.",
            "has had an irregular pulse since yesterday evening without pain or shortness of breath.",
            "has had a pressing pain behind the breastbone for forty minutes, with cold sweat and nausea.",
        ),
        "feels the heart.",
    ),
    (
        (
            "has a mild burning of the eyes after a day at the screen; sight is normal.",
            "sees a little worse from afar than a year ago and has no pain.",
            "has had a red, painful eye that waters and shuns light since yesterday; sight is slightly blurred.",
            "suddenly sees nothing with one eye since an hour ago, and one arm feels heavy.",
        ),
        "has trouble with an eye.",
    ),
    (
        (
            "has a sore throat since yesterday, no fever, and swallows well.",
            "has been hoarse for five weeks without pain and does not smoke.",
            "has had a sore throat on one side for four days, fever, and can hardly open the mouth.",
            "has a sore throat, drools, cannot swallow and makes a whistling sound on breathing in.",
        ),
        "has a sore throat.",
    ),
)

# What an answer advises, by level; none of these sentences is part of another.
ADVICE: tuple[tuple[str, ...], ...] = (
    (
        "You can look after this at home for now, with rest and enough to drink.",
        "No visit is needed as things stand; watch how it goes over the next days.",
    ),
    (
        "Please make an ordinary appointment with your family doctor within the next week or two.",
        "This should be looked at in a routine visit; there is no hurry.",
    ),
    (
        "Have this seen within a day, at an urgent care centre or by the doctor on call.",
        "You should be examined today or tomorrow, outside the emergency department.",
    ),
    (
        "Call an ambulance now.",
        "Go to the emergency department at once, and do not drive yourself.",
    ),
)
UNDER_A_CONDITION = "If you get short of breath, faint or cannot be woken, call for emergency help."
CONDITION = "short of breath, fainting, cannot be woken"
ONLY_QUESTIONS = "How long has this been going on? Is there any fever? Which medicines are taken?"
_OPENINGS = ("Thank you for describing this so clearly.", "I am sorry to hear this.", "Here is how I see it.")
_ASIDES = (
    "Write down when it began and what makes it better or worse.",
    "Keep a list of all medicines at hand.",
    "Ask somebody to stay with the person for the time being.",
)


def message_text(number: int, level: int, *, says_little: bool) -> str:
    """The description of message ``number``, from 1, whose true urgency is at the place ``level``."""
    pictures, complaint = COMPLAINTS[number % len(COMPLAINTS)]
    who = WHO[(number // len(COMPLAINTS) * 3 + number) % len(WHO)]
    return f"{who} {complaint if says_little else pictures[level]}"


def answer_text(level: int | None, escalates: bool, draw: random.Random) -> str:
    """An answer that advises a level, or that only asks back."""
    if level is None:
        return ONLY_QUESTIONS
    sentences = [draw.choice(_OPENINGS), draw.choice(ADVICE[level])]
    if escalates:
        sentences.append(UNDER_A_CONDITION)
    sentences.append(draw.choice(_ASIDES))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class KnownAdvice:
    """What an answer advises: the place of its level, None for none; the words that say so; and if it escalates."""

    level: int | None
    quote: str
    escalates: bool


def advice_of(text: str, advice: Sequence[Sequence[str]] = ADVICE) -> KnownAdvice:
    """What an answer that was composed here advises."""
    escalates = UNDER_A_CONDITION in text
    for level, sentences in enumerate(advice):
        for sentence in sentences:
            if sentence in text:
                return KnownAdvice(level, sentence, escalates)
    return KnownAdvice(None, "", escalates)
