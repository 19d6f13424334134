"""A made-up panel and made-up readings: how urgent 40 made-up messages are, and what two candidates advise.

Each message has a true urgency from 0 to 3 in levels. A physician reads it with a leaning of their own and some
scatter, and votes for the nearest level, or for two levels where the reading lies between them. A candidate reads it
likewise, once for each sample; as to a patient it leans towards less urgent advice, and sometimes gives none.

Every draw comes from a generator seeded with the names of what is drawn, so that no draw depends on another.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rubrics.acuity.scales import FOUR

DATASET = "made-up-messages"
N_MESSAGES, N_SAMPLES = 40, 5
PHYSICIANS = {"Panel 1": -0.15, "Panel 2": 0.0, "Panel 3": 0.1, "Panel 4": 0.25, "Panel 5": -0.05}  # their leanings
SCATTER = 0.35  # of a physician's reading, in levels
HARD_SCATTER = 1.2  # of messages that say little
HARD_SHARE = 0.4
BETWEEN = 0.06  # a reading this close to the border of two levels is a vote for both
CANNOT_TELL_RATE = 0.03
GIVE_WAY_SHARE = 0.5  # votes that change in the second round
# Texts of the messages on which the panel does not agree, so that a second round and adjudicators can read them. Of all
# others only votes, labels and readings are known.
TEXTS = {
    5: "I have had a dull ache on the right side of my belly since yesterday evening. It comes and goes. I am not "
    "hungry, but I have no fever. Should I wait?",
    7: "My ankle is swollen since I twisted it on the stairs two days ago. I can walk on it, but each step hurts. "
    "Does it need an X-ray?",
    10: "For a week now I get dizzy when I stand up quickly. It passes after a few seconds. I started a new tablet "
    "for my blood pressure this month.",
    11: "My daughter, who is four, has had a rash on her belly since this morning. She is warm, but she plays. The "
    "rash fades when I press on it, I think.",
    24: "Since last night my left calf is sore and a little thicker than the other. I came back from a long flight "
    "three days ago. Is this just a cramp?",
    29: "My father, who is 71, dropped his cup this morning and could not find his words for a few minutes. Now he "
    "is himself again and wants to go to work.",
    36: "I cut my palm on a can an hour ago. It stopped bleeding when I pressed on it, but it gapes, and the tip of "
    "one finger feels numb.",
}
LABELLED = 30  # messages with a label from elsewhere, the first ones
LETTERS = "ABCD"


@dataclass(frozen=True)
class DemoReader:
    """A made-up candidate: its leaning in both formats and its scatter, in levels, and how often it gives no level."""

    name: str
    leaning: float
    leaning_chat: float
    scatter: float
    unusable: float


READERS = (DemoReader("Aster-7B", -0.2, -0.5, 0.4, 0.06), DemoReader("Borage-chat", 0.25, 0.1, 0.25, 0.02))


def _draw(seed: int, *names: object) -> random.Random:
    return random.Random("/".join(map(str, (seed, *names))))


def _key(number: int) -> str:
    return f"message-{number:02d}"


def _urgency(seed: int, number: int) -> float:
    return _draw(seed, "urgency", number).uniform(-0.4, 3.4)


def _scatter(seed: int, number: int) -> float:
    return HARD_SCATTER if _draw(seed, "hard", number).random() < HARD_SHARE else SCATTER


def _place(reading: float) -> int:
    return min(len(FOUR) - 1, max(0, round(reading)))


def text_rows() -> Iterator[dict[str, object]]:
    """Rows of a wide CSV: case, text; each text says that it is made up."""
    for number, text in TEXTS.items():
        yield {"case": _key(number), "text": f"{text}\n\n(This message is made up.)"}


def vote_rows(seed: int) -> Iterator[dict[str, object]]:
    """Rows of a file of votes: case, physician, round, level, certainty."""
    for number in range(1, N_MESSAGES + 1):
        for physician, leaning in PHYSICIANS.items():
            draw = _draw(seed, "vote", number, physician)
            row: dict[str, object] = {"case": _key(number), "physician": physician, "round": 1}
            if draw.random() < CANNOT_TELL_RATE:
                yield {**row, "level": "cannot-tell", "certainty": ""}
                continue
            reading = _urgency(seed, number) + leaning + draw.gauss(0, _scatter(seed, number))
            below, rest = divmod(reading, 1)
            low = high = _place(reading)
            if abs(rest - 0.5) < BETWEEN and 0 <= below < len(FOUR) - 1:
                low, high = int(below), int(below) + 1
            certainty = 5 * draw.randint(10, 20) - (20 if low != high else 0)
            yield {**row, "level": FOUR.named(low, high), "certainty": certainty}


def second_round_rows(seed: int, cases: Iterable[str]) -> Iterator[dict[str, object]]:
    """Votes of round 2 on ``cases``, as `vote_rows`: about half go to the level next to the true urgency."""
    first = [row for row in vote_rows(seed) if row["case"] in set(cases)]
    for row in first:
        draw = _draw(seed, "second", row["case"], row["physician"])
        level = row["level"]
        if draw.random() < GIVE_WAY_SHARE or level == "cannot-tell":
            level = FOUR.values[_place(_urgency(seed, int(str(row["case"]).rpartition("-")[2])))]
        yield {**row, "round": 2, "level": level, "certainty": 5 * draw.randint(10, 20)}


def reading_rows(seed: int) -> Iterator[dict[str, object]]:
    """Rows of a long CSV: case, candidate, format, sample, level, confidence, reference."""
    for number in range(1, N_MESSAGES + 1):
        label = LETTERS[_place(_urgency(seed, number))] if number <= LABELLED else ""
        for reader in READERS:
            for format_, leaning in (("qa", reader.leaning), ("chat", reader.leaning_chat)):
                for sample in range(N_SAMPLES):
                    draw = _draw(seed, "reading", number, reader.name, format_, sample)
                    level = _level(_urgency(seed, number) + leaning, reader, format_, draw)
                    usable = level in FOUR.values
                    yield {
                        "case": _key(number),
                        "candidate": reader.name,
                        "format": format_,
                        "sample": sample,
                        "level": level,
                        "confidence": draw.randint(50, 99) if usable and format_ == "qa" else "",
                        "reference": label,
                    }


def _level(urgency: float, reader: DemoReader, format_: str, draw: random.Random) -> str:
    if draw.random() < reader.unusable:
        return "refused" if format_ == "qa" else "no-level"
    return FOUR.values[_place(urgency + draw.gauss(0, reader.scatter))]
