"""A folder's changes reach the one who waits, whatever happens to the folder, with inotify and without."""

import errno
import os
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemba import watch
from gemba.watch import FolderWatch

SOON = 30.0  # how long a broken wait may hang; a working one ends at the change


@pytest.fixture(autouse=True)
def _impatient_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "parent/watched"
    path.mkdir(parents=True)
    return path


@pytest.fixture(params=["inotify", "polling"])
def watching(request: pytest.FixtureRequest, folder: Path) -> Iterator[FolderWatch]:
    with FolderWatch(str(folder), polling=request.param == "polling") as made:
        yield made


def reports(found: set[str] | None, *names: str) -> bool:
    """Whether the answer covers these names; None covers everything."""
    return found is None or set(names) <= found


def test_nothing_changed_is_an_empty_answer(watching: FolderWatch) -> None:
    assert watching.wait(0) == set()
    assert watching.wait(0.01) == set()


def test_a_change_between_the_watch_and_the_wait_is_not_lost(watching: FolderWatch, folder: Path) -> None:
    (folder / "new").touch()
    assert reports(watching.wait(SOON), "new")


def test_a_change_is_reported_once(watching: FolderWatch, folder: Path) -> None:
    (folder / "new").touch()
    watching.wait(SOON)
    assert watching.wait(0) == set()


def test_whoever_waits_for_more_is_woken_where_something_announces_a_change(
    watching: FolderWatch, folder: Path
) -> None:
    (folder / "new").touch()
    if watching.fd is not None:
        ready, _, _ = select.select([watching.fd], [], [], SOON)
        assert ready == [watching.fd]
    assert reports(watching.wait(0), "new")
    with FolderWatch(str(folder / "not there")) as nothing:
        assert nothing.fd is None


@pytest.mark.parametrize("change", ["append", "truncate", "replace", "delete", "rename"])
def test_every_kind_of_change_is_reported(tmp_path: Path, folder: Path, watching: FolderWatch, change: str) -> None:
    log = folder / "log"
    log.write_text("one\n")
    watching.wait(SOON)
    if change == "append":
        with log.open("a") as file:
            file.write("two\n")
    elif change == "truncate":
        os.truncate(log, 0)
    elif change == "replace":
        (tmp_path / "next").write_text("one\n")
        (tmp_path / "next").rename(log)
    elif change == "delete":
        log.unlink()
    else:
        log.rename(folder / "log.1")
        assert reports(watching.wait(SOON), "log", "log.1")
        return
    assert reports(watching.wait(SOON), "log")


def test_a_change_ends_the_wait_of_another_thread(watching: FolderWatch, folder: Path) -> None:
    found: list[set[str] | None] = []
    waiting = threading.Thread(target=lambda: found.append(watching.wait(None)))
    waiting.start()
    (folder / "new").touch()
    waiting.join(SOON)
    assert reports(found[0], "new")


def test_inotify_names_what_changed_and_polling_does_not(folder: Path) -> None:
    with FolderWatch(str(folder)) as named, FolderWatch(str(folder), polling=True) as polled:
        (folder / "a").touch()
        (folder / "b").touch()
        assert named.wait(SOON) == {"a", "b"}
        assert polled.wait(SOON) is None


def test_a_name_that_is_no_unicode_is_reported_as_python_spells_it(folder: Path) -> None:
    with FolderWatch(str(folder)) as watching:
        (folder / os.fsdecode(b"caf\xe9")).touch()
        assert watching.wait(SOON) == {os.fsdecode(b"caf\xe9")}


def test_wake_ends_the_wait_that_runs(watching: FolderWatch) -> None:
    found: list[set[str] | None] = []
    waiting = threading.Thread(target=lambda: found.append(watching.wait(None)))
    waiting.start()
    watching.wake()
    waiting.join(SOON)
    assert found == [set()]


def test_wake_ends_the_next_wait_when_none_runs_and_many_count_as_one(watching: FolderWatch) -> None:
    for _ in range(100_000):
        watching.wake()
    assert watching.wait(None) == set()
    assert watching.wait(0) == set()


def test_a_wake_hides_no_change(watching: FolderWatch, folder: Path) -> None:
    (folder / "new").touch()
    watching.wake()
    assert watching.wait(None) == set()
    assert reports(watching.wait(SOON), "new")


def test_a_folder_that_is_deleted_and_made_anew_is_watched_again(watching: FolderWatch, folder: Path) -> None:
    folder.rmdir()
    assert watching.wait(SOON) is None
    assert watching.wait(0) == set()
    folder.mkdir()
    assert watching.wait(SOON) is None
    (folder / "new").touch()
    assert reports(watching.wait(SOON), "new")


def test_a_folder_that_is_replaced_is_watched_again(watching: FolderWatch, folder: Path) -> None:
    folder.rename(folder.with_name("old"))
    folder.mkdir()
    assert watching.wait(SOON) is None
    (folder / "new").touch()
    assert reports(watching.wait(SOON), "new")


def test_a_folder_whose_parent_is_replaced_is_watched_again(
    watching: FolderWatch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "CHECK_SECONDS", 0.01)
    folder.parent.rename(folder.parent.with_name("old"))
    folder.mkdir(parents=True)
    assert watching.wait(SOON) is None
    (folder / "new").touch()
    assert reports(watching.wait(SOON), "new")


@pytest.mark.parametrize("polling", [False, True])
def test_a_folder_that_is_not_there_yet_is_awaited(tmp_path: Path, polling: bool) -> None:
    folder = tmp_path / "later"
    with FolderWatch(str(folder), polling=polling) as watching:
        assert watching.wait(0) == set()
        folder.mkdir()
        assert watching.wait(SOON) is None
        (folder / "new").touch()
        assert reports(watching.wait(SOON), "new")


@pytest.mark.parametrize("polling", [False, True])
def test_a_file_in_the_folders_place_is_no_folder(tmp_path: Path, polling: bool) -> None:
    path = tmp_path / "place"
    path.touch()
    with FolderWatch(str(path), polling=polling) as watching:
        assert watching.wait(0) == set()
        path.unlink()
        path.mkdir()
        assert watching.wait(SOON) is None


def test_more_changes_than_the_kernel_keeps_mean_that_anything_may_have_changed(folder: Path) -> None:
    kept = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with FolderWatch(str(folder)) as watching, (folder / "a").open("wb", 0) as one, (folder / "b").open("wb", 0) as two:
        for _ in range(kept // 2 + 10):  # alternating: equal events in a row are merged
            one.write(b".")
            two.write(b".")
        answers = [watching.wait(0)]
        while answers[-1] != set():
            answers.append(watching.wait(0))
        assert None in answers
        one.write(b".")
        assert watching.wait(SOON) == {"a"}


@pytest.mark.parametrize("limit", ["instances", "watches"])
def test_where_the_kernel_gives_no_more_inotify_the_folder_is_polled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE if limit == "instances" else errno.ENOSPC, "limit reached")

    monkeypatch.setattr(watch._Inotify, "__init__" if limit == "instances" else "add", refuse)
    with FolderWatch(str(folder)) as watching:
        (folder / "new").touch()
        assert watching.wait(SOON) is None
        assert watching.wait(0) == set()


def test_a_closed_watch_leaves_no_file_open_and_may_still_be_woken(folder: Path) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = open_files()
    for polling in (False, True):
        watching = FolderWatch(str(folder), polling=polling)
        assert open_files() > before
        watching.close()
        watching.close()
        watching.wake()
    assert open_files() == before
