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

from demo.messages import message_text
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


# Of the readings that come from a file, and those that runs ask for over an endpoint.
READERS = (DemoReader("Aster-7B", -0.2, -0.5, 0.4, 0.06), DemoReader("Borage-chat", 0.25, 0.1, 0.25, 0.02))
ASKED = (DemoReader("Fennel-3B", 0.1, -0.35, 0.45, 0.05), DemoReader("Ginger-XL", -0.05, -0.15, 0.25, 0.03))


def keyed_draw(seed: int, *names: object) -> random.Random:
    """A generator for what has these names."""
    return random.Random("/".join(map(str, (seed, *names))))


def case_key(number: int) -> str:
    """The key of a message, from 1."""
    return f"message-{number:02d}"


def urgency_of(seed: int, number: int) -> float:
    """The true urgency of a message, in levels."""
    return keyed_draw(seed, "urgency", number).uniform(-0.4, 3.4)


def says_little(seed: int, number: int) -> bool:
    """Whether a message leaves open how urgent it is."""
    return keyed_draw(seed, "hard", number).random() < HARD_SHARE


def scatter_of(seed: int, number: int) -> float:
    """How far readings of a message scatter, in levels."""
    return HARD_SCATTER if says_little(seed, number) else SCATTER


def place_of(reading: float) -> int:
    """The level nearest to a reading."""
    return min(len(FOUR) - 1, max(0, round(reading)))


def vote_rows(seed: int) -> Iterator[dict[str, object]]:
    """Rows of a file of votes: case, physician, round, level, certainty."""
    for number in range(1, N_MESSAGES + 1):
        for physician, leaning in PHYSICIANS.items():
            draw = keyed_draw(seed, "vote", number, physician)
            row: dict[str, object] = {"case": case_key(number), "physician": physician, "round": 1}
            if draw.random() < CANNOT_TELL_RATE:
                yield {**row, "level": "cannot-tell", "certainty": ""}
                continue
            reading = urgency_of(seed, number) + leaning + draw.gauss(0, scatter_of(seed, number))
            below, rest = divmod(reading, 1)
            low = high = place_of(reading)
            if abs(rest - 0.5) < BETWEEN and 0 <= below < len(FOUR) - 1:
                low, high = int(below), int(below) + 1
            certainty = 5 * draw.randint(10, 20) - (20 if low != high else 0)
            yield {**row, "level": FOUR.named(low, high), "certainty": certainty}


def second_round_rows(seed: int, cases: Iterable[str]) -> Iterator[dict[str, object]]:
    """Votes of round 2 on ``cases``, as `vote_rows`: about half go to the level next to the true urgency."""
    first = [row for row in vote_rows(seed) if row["case"] in set(cases)]
    for row in first:
        draw = keyed_draw(seed, "second", row["case"], row["physician"])
        level = row["level"]
        if draw.random() < GIVE_WAY_SHARE or level == "cannot-tell":
            level = FOUR.values[place_of(urgency_of(seed, int(str(row["case"]).rpartition("-")[2])))]
        yield {**row, "round": 2, "level": level, "certainty": 5 * draw.randint(10, 20)}


def reading_rows(seed: int) -> Iterator[dict[str, object]]:
    """Rows of a long CSV: case, candidate, format, sample, level, confidence, reference."""
    for number in range(1, N_MESSAGES + 1):
        label = LETTERS[place_of(urgency_of(seed, number))] if number <= LABELLED else ""
        for reader in READERS:
            for format_, leaning in (("qa", reader.leaning), ("chat", reader.leaning_chat)):
                for sample in range(N_SAMPLES):
                    draw = keyed_draw(seed, "reading", number, reader.name, format_, sample)
                    level = _level(urgency_of(seed, number) + leaning, reader, format_, draw)
                    usable = level in FOUR.values
                    yield {
                        "case": case_key(number),
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
    return FOUR.values[place_of(urgency + draw.gauss(0, reader.scatter))]


def text_rows(seed: int) -> Iterator[dict[str, object]]:
    """Rows of a file with the texts of the messages: case, text."""
    for number in range(1, N_MESSAGES + 1):
        yield {"case": case_key(number), "text": text_of(seed, number)}


def text_of(seed: int, number: int) -> str:
    """The text of a message."""
    level = place_of(urgency_of(seed, number))
    return message_text(number, level, says_little=says_little(seed, number))
