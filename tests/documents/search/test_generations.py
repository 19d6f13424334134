"""When an index is built, switched to, lost and removed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from consilium.core.jobs import LOST_AFTER, JobStatus
from documents.models import Collection, Passage, SearchGeneration
from documents.search import folders, generations, passages_added, rebuild
from documents.search.finding import NotReady, _small
from documents.search.generations import GENERATIONS, KEPT_FOR, MAX_BESIDE
from tests.documents.search.corpus import add_document, build, find_texts, make_collection
from tests.processes import ROOT, Worker
from tests.waiting import wait_until

if TYPE_CHECKING:
    from documents.search.index import Index

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _home_of_its_own(settings: object, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Folders of this test alone, unless a worker shares them."""
    if not {"start_worker", "celery_worker"} & set(request.fixturenames):
        settings.CONSILIUM_HOME = tmp_path  # type: ignore[attr-defined]


def forget() -> None:
    """As another process would begin: nothing open."""
    folders._open.clear()
    _small.clear()


def ask(collection: Collection) -> SearchGeneration | None:
    return passages_added(collection=collection, by=None, at=timezone.now())


def folder_of(generation: SearchGeneration) -> Path:
    return folders.folder_of(generation.collection.public_id, generation.number)


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are built from now on, by this process."""
    built, build_folder = [], folders.build

    def counted(folder: Path, *args: object, **kwargs: object) -> object:
        built.append(folder)
        return build_folder(folder, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(folders, "build", counted)
    return built


# When one is due ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_first_passages_ask_for_an_index_and_an_empty_collection_does_not() -> None:
    collection = make_collection()
    assert ask(collection) is None
    add_document(collection, "a", ["fever"])
    generation = ask(collection)
    assert generation is not None
    assert generation.number == 1
    assert ask(collection) == generation  # it waits still, and will hold what comes meanwhile
    assert find_texts(collection, "fever") == ["fever"]


@pytest.mark.django_db
def test_more_than_a_thousand_newer_passages_ask_for_another() -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    build(collection)
    add_document(collection, "b", ["cough"] * MAX_BESIDE)
    assert ask(collection) is None
    add_document(collection, "c", ["cough and fever"])
    generation = ask(collection)
    assert generation is not None
    assert generation.number == 2
    generations.run(generation_id=generation.pk, clock=timezone.now)
    generation.refresh_from_db()
    assert (generation.passages, generation.last_passage) == (MAX_BESIDE + 2, Passage.objects.latest("pk").pk)
    assert find_texts(collection, "fever") == ["fever", "cough and fever"]


@pytest.mark.django_db
def test_a_generation_that_failed_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])

    def full(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "build", full)
    generation = rebuild(collection=collection, by=None, at=timezone.now())
    with pytest.raises(OSError, match="No space left"):
        generations.run(generation_id=generation.pk, clock=timezone.now)
    generation.refresh_from_db()
    assert (generation.status, generation.error) == (
        JobStatus.FAILED,
        "The search index could not be built; see the worker’s log for details.",
    )
    monkeypatch.undo()
    assert find_texts(collection, "fever") == ["fever"]
    assert build(collection).number == 2
    assert find_texts(collection, "fever") == ["fever"]


@pytest.mark.django_db
def test_a_late_worker_does_not_switch_back() -> None:
    """Whoever finishes an older generation after a newer one leaves the newer in force."""
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    older = SearchGeneration.objects.create(collection=collection, number=1, created_at=timezone.now())
    newer = SearchGeneration.objects.create(collection=collection, number=2, created_at=timezone.now())
    for generation in (newer, older):
        generations.run(generation_id=generation.pk, clock=timezone.now)
    collection.refresh_from_db()
    assert collection.generation == newer


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_waits_for_a_later_switch_does_not_take_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both end at once: the later generation is switched to, and not yet committed, when the earlier one is ready."""
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    older = SearchGeneration.objects.create(collection=collection, number=1, created_at=timezone.now())
    newer = SearchGeneration.objects.create(collection=collection, number=2, created_at=timezone.now())
    built, go_on, open_folder = threading.Event(), threading.Event(), folders.opened

    def opened(*args: object, **options: object) -> object:
        index = open_folder(*args, **options)  # type: ignore[arg-type]
        built.set()
        go_on.wait(120)
        return index

    def builds() -> None:
        generations.run(generation_id=older.pk, clock=timezone.now)
        connections.close_all()

    monkeypatch.setattr(folders, "opened", opened)
    building = threading.Thread(target=builds)
    building.start()
    assert built.wait(120)
    with transaction.atomic():
        Collection.objects.filter(pk=collection.pk).update(generation=newer)
        go_on.set()
        wait_until(_somebody_waits_for_a_lock, message="the earlier generation waits for the switch")
    building.join()
    collection.refresh_from_db()
    assert collection.generation == newer


# Lost and damaged -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("damage", ["deleted", "half built", "shortened", "of another database"])
def test_a_lost_index_is_built_again(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever", "cough"])
    folder = folder_of(build(collection))
    forget()
    assert find_texts(collection, "fever") == ["fever"]
    forget()
    manifest = folder / "manifest.json"
    if damage == "deleted":
        shutil.rmtree(folder.parent.parent)
    elif damage == "half built":
        manifest.unlink()
        (folder.parent / "1.building").mkdir()
        (folder.parent / "1.building" / "x").write_text("left by somebody who died")
    elif damage == "shortened":
        longest = max((path for path in folder.iterdir() if path != manifest), key=lambda path: path.stat().st_size)
        content = longest.read_bytes()
        longest.unlink()  # an open index has the file mapped: cut in place, it would end this process
        longest.write_bytes(content[:-10])
    else:
        stored = json.loads(manifest.read_text())
        manifest.unlink()
        manifest.write_text(json.dumps({**stored, "content": "17 2020-01-01T00:00:00+00:00"}))
    built = count_builds(monkeypatch)
    assert find_texts(collection, "fever") == ["fever"]
    assert len(built) == 1
    forget()
    assert find_texts(collection, "cough") == ["cough"]
    assert len(built) == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["1", "1.lock"]


@pytest.mark.django_db
def test_a_machine_that_cannot_build_the_index_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    shutil.rmtree(folder_of(build(collection)))
    forget()

    def full(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "build", full)
    with pytest.raises(NotReady, match="cannot be built"):
        find_texts(collection, "fever")


@pytest.mark.django_db
def test_a_folder_that_is_deleted_while_it_is_open_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    shutil.rmtree(folder_of(build(collection)))
    built = count_builds(monkeypatch)
    assert find_texts(collection, "fever") == ["fever"]
    assert built == []


@pytest.mark.django_db
def test_old_folders_go_when_nobody_reads_them() -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    first = build(collection)
    read = folders._open[folder_of(first), generations.content_of(first.last_passage, first.created_at)]
    reader: list[Index] = [read]
    second = build(collection)
    del read
    generations.remove_old_folders(at=timezone.now())
    assert folder_of(first).is_dir()  # a search that began before the switch may still open it
    later = timezone.now() + KEPT_FOR + timedelta(seconds=1)
    generations.remove_old_folders(at=later)
    assert folder_of(first).is_dir()  # somebody reads it
    reader.clear()
    generations.remove_old_folders(at=later)
    assert sorted(path.name for path in folder_of(second).parent.iterdir()) == ["2", "2.lock"]
    assert find_texts(collection, "fever") == ["fever"]


@pytest.mark.django_db
def test_a_large_index_is_not_built_while_a_page_waits(settings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A web process that lacks it says so at once, and builds it in a thread of its own."""
    from documents.search import finding

    collection = make_collection()
    add_document(collection, "a", ["fever"])
    generation = build(collection)
    shutil.rmtree(folder_of(generation))
    forget()
    settings.WEB_PROCESS = True  # type: ignore[attr-defined]
    monkeypatch.setattr(finding, "MAX_BUILT_IN_REQUEST", 0)
    begun: list[tuple[str, int]] = []
    monkeypatch.setattr(folders, "build_in_background", lambda *place, **_options: begun.append(place))
    with pytest.raises(NotReady):
        find_texts(collection, "fever")
    assert begun == [(collection.public_id, 1)]
    settings.WEB_PROCESS = False  # type: ignore[attr-defined]
    assert find_texts(collection, "fever") == ["fever"]
    settings.WEB_PROCESS = True  # type: ignore[attr-defined]
    assert find_texts(collection, "fever") == ["fever"]


@pytest.mark.django_db(transaction=True)
def test_a_thread_builds_a_large_index() -> None:
    collection = make_collection()
    add_document(collection, "a", ["fever"])
    generation = build(collection)
    shutil.rmtree(folder_of(generation))
    forget()
    content = generations.content_of(generation.last_passage, generation.created_at)
    place = collection.public_id, generation.number
    for _time in range(2):
        folders.build_in_background(
            *place, content=content, rows=generations.rows_of(collection.pk, generation.last_passage)
        )
    wait_until(lambda: folders.is_here(*place, content=content) and not folders._building)
    assert find_texts(collection, "fever") == ["fever"]


# Several at once ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_searches_see_every_passage_while_generations_are_switched() -> None:
    """Threads search without a pause while documents are added and indexes are switched and removed."""
    collection = make_collection()
    texts = [f"fever number{n}" for n in range(30)]
    add_document(collection, "a", texts)
    committed, ended = set(texts), threading.Event()
    faults: list[str] = []

    def searches() -> None:
        while not ended.is_set():
            before = set(committed)
            missing = before - set(find_texts(collection, "fever", limit=200))
            if missing:
                faults.append(f"missing: {missing}")
        connections.close_all()

    threads = [threading.Thread(target=searches) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(5):
        more = [f"fever again{number}x{n}" for n in range(5)]
        add_document(collection, f"b{number}", more)
        committed.update(more)
        build(collection)
        generations.remove_old_folders(at=timezone.now() + KEPT_FOR * 2)
    ended.set()
    for thread in threads:
        thread.join()
    assert faults == []


@pytest.mark.django_db(transaction=True)
def test_passages_of_an_import_that_commits_late_are_not_lost() -> None:
    """Its passages have lower ids than some that were committed before; the builder waits for it."""
    collection = make_collection()
    begun, go_on = threading.Event(), threading.Event()
    generation = rebuild(collection=collection, by=None, at=timezone.now())

    def late_import() -> None:
        with transaction.atomic():
            Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)  # as an import does
            add_document(collection, "late", ["late fever"])
            begun.set()
            go_on.wait(120)
            passages_added(collection=collection, by=None, at=timezone.now())
        connections.close_all()

    def builds() -> None:
        generations.run(generation_id=generation.pk, clock=timezone.now)
        connections.close_all()

    importing, building = threading.Thread(target=late_import), threading.Thread(target=builds)
    importing.start()
    begun.wait(120)
    add_document(collection, "quick", ["quick fever"])
    building.start()
    wait_until(_somebody_waits_for_a_lock, message="the builder waits for the import")
    go_on.set()
    importing.join()
    building.join()
    generation.refresh_from_db()
    assert generation.passages == 2
    assert sorted(find_texts(collection, "fever")) == ["late fever", "quick fever"]


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_processes_that_lack_the_index_build_it_once(process_environment: dict[str, str], tmp_path: Path) -> None:
    """Three commands at once on a machine without the folder: the same answer, and one folder that was built once."""
    collection = make_collection()
    for key in ("a", "b"):
        add_document(collection, key, [f"fever {key}{n} of many" for n in range(1500)])
    generation = build(collection)
    shutil.rmtree(folder_of(generation))
    environment = {**process_environment, "CONSILIUM_HOME": str(tmp_path)}
    command = [sys.executable, "manage.py", "search_documents", "fever", "b7", "--benchmark"]
    command += [collection.benchmark.slug, "--limit", "5"]
    folder = folder_of(generation)
    lock = os.open(folder.with_name("1.lock"), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)  # so that all of them wait before one begins
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    wait_until(lambda: waiting_for(lock) == 3, within_s=120, message="all three wait to build")
    os.close(lock)
    answers = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], answers
    assert len({out for out, _errors in answers}) == 1
    assert "fever b7 of many" in answers[0][0].splitlines()[1]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["1", "1.lock"]
    assert sum(errors.count("search_index_built") for _out, errors in answers) == 1


def waiting_for(lock: int) -> int:
    """How many processes wait for the lock of a file (Linux)."""
    inode = str(os.fstat(lock).st_ino)
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum("->" in fields and fields[-3].endswith(f":{inode}") for fields in lines)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_while_building_loses_nothing(start_worker: Callable[..., Worker]) -> None:
    """The next one throws its half of a folder away. Until then passages are searched beside."""
    collection = make_collection()
    texts = [f"fever {n} " + "and some more words of a passage " * 12 for n in range(6000)]
    add_document(collection, "a", texts)
    worker = start_worker()
    generation = rebuild(collection=collection, by=None, at=timezone.now())
    building = folder_of(generation).with_name("1.building")
    wait_until(building.is_dir, within_s=60, message="the worker builds")
    worker.kill()
    generation.refresh_from_db()
    assert generation.status == JobStatus.RUNNING
    assert not folder_of(generation).is_dir()
    assert len(find_texts(collection, "fever")) == 20

    lost_at = timezone.now() + LOST_AFTER + timedelta(seconds=1)
    assert GENERATIONS.sweep(at=lost_at) == 1
    generations.run(generation_id=generation.pk, clock=lambda: lost_at)
    generation.refresh_from_db()
    assert (generation.status, generation.attempts, generation.passages) == (JobStatus.DONE, 2, 6000)
    assert not building.exists()
    assert find_texts(collection, "5999") == [texts[-1]]
    shutil.rmtree(folder_of(generation).parent)


@pytest.mark.django_db(transaction=True)
def test_a_worker_builds_what_an_import_asks_for(celery_worker: Worker) -> None:
    collection = make_collection()
    with transaction.atomic():
        add_document(collection, "a", ["fever"])
        generation = ask(collection)
    assert generation is not None
    wait_until(
        lambda: SearchGeneration.objects.get(pk=generation.pk).status == JobStatus.DONE, within_s=60, message="done"
    )
    collection.refresh_from_db()
    assert collection.generation == generation
