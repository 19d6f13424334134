"""Draw mutants, judge them by the tests that reach them, and keep a table that a later call goes on with."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from tests.mutants import processes
from tests.mutants.operators import LOCK, ROOT, Mutant, mutants_of
from tests.mutants.targets import AREAS, Area, modules_of, tests_of

FOLDER = ROOT / "var/mutants"
COLUMNS = ("id", "area", "line", "operator", "before", "after", "result", "by", "error", "tests", "seconds", "note")
KILLED, SURVIVED, TIMED_OUT, NO_TEST, EQUIVALENT = "killed", "survived", "timed out", "no covering test", "equivalent"
DRAWN_OF = 200  # the sizes of the areas are for so many


def drawn(area: Area, *, seed: int, size: int) -> list[Mutant]:
    """The area's share of a sample of ``size``; a larger sample begins with the smaller ones."""
    rows = [mutant for module in modules_of(area) for mutant in mutants_of(module)]
    random.Random(f"{seed} {area.name}").shuffle(rows)
    rows = [mutant for mutant in rows if mutant.operator != LOCK]
    return rows[: round(area.size * size / DRAWN_OF)]


class Observations:
    """Which tests reach a statement, from the files that `observe` wrote."""

    def __init__(self) -> None:
        self._tests: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.failing: set[str] = set()
        for path in sorted(FOLDER.glob("observed-*.jsonl")):
            self._read(path)

    def _read(self, path: Path) -> None:
        by_file: dict[str, list[str]] = defaultdict(list)
        for line in path.read_text().splitlines():
            row = json.loads(line)
            test = row["test"]
            self.seconds[test] = row["seconds"]
            by_file[test.split("::")[0]].append(test)
            if not row["passed"]:
                self.failing.add(test)
            for module, number in row["reached"]:
                self._tests[module, number].add(test)
        # What a fixture of the module reaches counts for its first test alone, so all tests of the file share it.
        shared = {file for file in by_file if 'scope="module"' in (ROOT / file).read_text(encoding="utf-8")}
        for tests in self._tests.values():
            for file in shared & {test.split("::")[0] for test in tests}:
                tests.update(by_file[file])

    def tests_of(self, mutant: Mutant, *, most_seconds: float) -> list[str]:
        """The tests that reach a mutant and pass without it: the quickest, of ``most_seconds`` together."""
        tests = set().union(*(self._tests[mutant.module, line] for line in mutant.lines)) - self.failing
        quickest = sorted(tests, key=lambda test: (self.seconds[test], test))
        together = list(itertools.accumulate(self.seconds[test] for test in quickest))
        return [test for n, test in enumerate(quickest) if n == 0 or together[n] <= most_seconds]


def observe(areas: Sequence[Area], *, jobs: int, cpu_seconds: int) -> None:
    """Run the tests of each area's modules once, file by file, and note which statements each test reaches."""
    modules = [module for area in AREAS for module in modules_of(area)]
    todo = [file for file in dict.fromkeys(file for area in areas for file in tests_of(area)) if _is_new(file)]
    groups = [todo[number : number + 12] for number in range(0, len(todo), 12)]
    running: dict[int, tuple[int, list[str], Path]] = {}
    slots = set(range(jobs))
    while groups or running:
        while groups and slots:
            files, slot = groups.pop(0), slots.pop()
            part = FOLDER / f"part-{_database(slot)}"
            part.unlink(missing_ok=True)
            process = processes.start(
                partial(processes.observe_tests, modules, files, part),
                database=_database(slot),
                log=FOLDER / f"observe-{_database(slot)}.log",
                cpu_seconds=cpu_seconds,
            )
            running[process] = (slot, files, part)
        process, status = os.waitpid(-1, 0)
        slot, files, part = running.pop(process)
        slots.add(slot)
        processes.end(process)
        rows: dict[str, list[str]] = {file: [] for file in files}
        for line in part.read_text().splitlines() if part.exists() else []:
            rows[json.loads(line)["test"].split("::")[0]].append(line)
        for file, lines in rows.items():
            _observed(file).write_text("".join(f"{line}\n" for line in lines))
        say(f"{sum(map(len, rows.values()))} tests of {len(files)} files observed, exit {status}")


def _is_new(file: str) -> bool:
    """Whether a file with tests was not observed since it was changed."""
    before = _observed(file)
    return not before.exists() or before.stat().st_mtime < (ROOT / file).stat().st_mtime


def _observed(file: str) -> Path:
    return FOLDER / f"observed-{file.removesuffix('.py').replace('/', '.')}.jsonl"


def _database(slot: int) -> str:
    return f"{os.environ.get('CONSILIUM_TEST_DB', 'consilium_test')}_mutants_{slot}"


def equivalents() -> dict[tuple[str, str, str], str]:
    """The mutants that nobody can tell from the code: (id, before, after), and why."""
    with (Path(__file__).parent / "equivalent.csv").open(newline="", encoding="utf-8") as file:
        return {(row["id"], row["before"], row["after"]): row["why"] for row in csv.DictReader(file)}


def _failure(slot: int) -> Path:
    return FOLDER / f"failure-{_database(slot)}"


class Table:
    """The results so far, kept in a file after each of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: dict[str, dict[str, str]] = {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = {row["id"]: row for row in csv.DictReader(file)}

    def enter(self, area: Area, mutant: Mutant, **values: object) -> None:
        """Keep the result of a mutant."""
        what = {name: str(getattr(mutant, name)) for name in ("id", "line", "operator", "before", "after")}
        row = {"area": area.name, **what, **{name: str(value) for name, value in values.items()}}
        self.rows[mutant.id] = row
        draft = self._path.with_suffix(".new")
        with draft.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(self.rows.values())
        draft.replace(self._path)


def judge_all(
    work: Iterable[tuple[Area, Mutant]],
    table: Table,
    by: Sequence[str] = (),
    *,
    jobs: int,
    most_seconds: float,
    minutes: float,
) -> None:
    """Judge each mutant, by the tests that reach it or by those given, and enter the result.

    ``most_seconds``: of tests' CPU time for one mutant.
    """
    observations = Observations()
    stop = time.monotonic() + minutes * 60
    waiting = list(work)
    running: dict[int, tuple[int, Area, Mutant, list[str], float]] = {}
    slots = set(range(jobs))
    while waiting or running:
        while waiting and slots and time.monotonic() < stop:
            area, mutant = waiting.pop(0)
            tests = list(by) or observations.tests_of(mutant, most_seconds=most_seconds)
            if not tests:
                table.enter(area, mutant, result=NO_TEST)
                say(f"{NO_TEST}: {described(mutant)}")
                continue
            slot = slots.pop()
            _failure(slot).unlink(missing_ok=True)
            process = processes.start(
                partial(processes.judge, mutant.id, tests, _failure(slot)),
                database=_database(slot),
                log=FOLDER / f"judge-{_database(slot)}.log",
                cpu_seconds=int(30 + 5 * most_seconds),
            )
            running[process] = (slot, area, mutant, tests, time.monotonic())
        if not running:
            return
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            for other, (_slot, _area, _mutant, _tests, begun) in running.items():
                if time.monotonic() - begun > 60 + 20 * most_seconds:
                    processes.end(other)
            time.sleep(0.2)
            continue
        slot, area, mutant, tests, begun = running.pop(process)
        slots.add(slot)
        processes.end(process)
        failure = _failure(slot)
        test, _, error = failure.read_text().partition("\n") if failure.exists() else ("", "", "")
        code = os.waitstatus_to_exitcode(status)
        result = SURVIVED if code == 0 else TIMED_OUT if code < 0 else KILLED
        if result == KILLED and not test:
            test = "collection" if code in (2, 4) else f"exit {code}"
        seconds = round(time.monotonic() - begun)
        error = " ".join(error.split())[:200]
        table.enter(area, mutant, result=result, by=test, error=error, tests=len(tests), seconds=seconds)
        say(f"{result} after {seconds} s, {len(tests)} tests: {described(mutant)}")


def described(mutant: Mutant) -> str:
    """A mutant in one line."""
    return f"{mutant.module}:{mutant.line} {mutant.operator}: {mutant.before[:110]} -> {mutant.after[:110]}"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--size", type=int, default=DRAWN_OF, help="how many mutants of all areas together")
    parser.add_argument("--areas", default=",".join(area.name for area in AREAS))
    parser.add_argument("--jobs", type=int, default=1, help="how many processes at once, each with its own database")
    parser.add_argument("--seconds", type=float, default=20, help="CPU time of tests for one mutant")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no mutant after so long")
    parser.add_argument("--observe", action="store_true", help="only note which statements each test reaches")
    parser.add_argument("--again", default="", help="judge anew: results or ids, with commas between them")
    parser.add_argument("--by", nargs="*", default=[], help="judge them by these tests alone: files or ids of tests")
    arguments = parser.parse_args()
    areas = [area for area in AREAS if area.name in arguments.areas.split(",")]
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    processes.import_libraries()
    if not arguments.by:
        observe(areas, jobs=arguments.jobs, cpu_seconds=3600)
    if arguments.observe:
        return
    again = set(filter(None, arguments.again.split(",")))
    known = equivalents()
    for area in areas:
        table = Table(FOLDER / f"{arguments.seed}-{area.name}.csv")
        work = []
        for mutant in drawn(area, seed=arguments.seed, size=arguments.size):
            row = table.rows.get(mutant.id)
            if why := known.get((mutant.id, mutant.before, mutant.after)):
                table.enter(area, mutant, result=EQUIVALENT, note=why)
            elif (row is None and not arguments.by) or not again.isdisjoint({mutant.id, row["result"] if row else ""}):
                work.append((area, mutant))
        limits = {"most_seconds": arguments.seconds, "minutes": arguments.minutes}
        judge_all(work, table, arguments.by, jobs=arguments.jobs, **limits)
        counts = Counter(row["result"] for row in table.rows.values())
        say(f"{area.name}: " + ", ".join(f"{number} {result}" for result, number in counts.most_common()))


if __name__ == "__main__":
    main()
