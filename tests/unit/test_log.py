"""Reading a session log on: every whole line once as long as the file is the same, all of them when it is another."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.sessions.log import LogName, Position, parse_name, read_log


class Reader:
    """Reads a log to its end, again and again, from where it stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = Position()
        self.too_long = 0

    def read(self) -> list[bytes]:
        found: list[bytes] = []
        while chunk := read_log(self.path, self.position):
            self.position = chunk.position
            self.too_long += chunk.too_long
            found += chunk.lines
            if not chunk.more:
                return found
        raise AssertionError("there is no log")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def reader(path: Path) -> Reader:
    return Reader(path)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


# ---- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("s.jsonl", LogName("s", 0)),
        ("s.jsonl.1", LogName("s", 1)),
        ("s.jsonl.12", LogName("s", 12)),
        ("s.jsonl.1.jsonl", LogName("s.jsonl.1", 0)),
        ("..jsonl", LogName(".", 0)),
        ("two\nlines.jsonl", LogName("two\nlines", 0)),
        (".jsonl", None),
        ("s.jsonl.gz", None),
        ("s.jsonl.", None),
        ("s.jsonl.1~", None),
        ("s.jsonl.\N{ARABIC-INDIC DIGIT ONE}", None),
        ("s.json", None),
        (os.fsdecode(b"\xff.jsonl"), None),
    ],
)
def test_the_name_tells_the_session_and_how_often_it_was_rotated(name: str, found: LogName | None) -> None:
    assert parse_name(name) == found


@given(st.text(min_size=1))
def test_every_log_that_the_wire_writes_has_a_name_that_is_read(session_id: str) -> None:
    name = Path(wire.log_path("/home", session_id)).name

    assert parse_name(name) == LogName(wire.safe_id(session_id), 0)


# ---- growing ----------------------------------------------------------------------------------------------------


def test_no_log_is_no_lines(path: Path) -> None:
    assert read_log(path, Position()) is None


def test_an_empty_log_has_no_lines(path: Path, reader: Reader) -> None:
    path.touch()

    assert reader.read() == []


def test_what_is_appended_is_read_once(path: Path, reader: Reader) -> None:
    append(path, b"one\ntwo\n")
    assert reader.read() == [b"one", b"two"]
    assert reader.read() == []
    append(path, b"three\n")
    assert reader.read() == [b"three"]


def test_a_torn_line_waits_for_its_newline_byte_by_byte(path: Path, reader: Reader) -> None:
    whole = "schlußendlich …\n".encode()
    for at in range(len(whole)):
        assert reader.read() == [] if path.exists() else True
        append(path, whole[at : at + 1])

    assert reader.read() == [whole[:-1]]


def test_reading_goes_on_from_a_stored_position(path: Path, reader: Reader) -> None:
    append(path, b"one\n")
    reader.read()
    again = Reader(path)
    again.position = reader.position
    append(path, b"two\n")

    assert again.read() == [b"two"]


@pytest.mark.parametrize("seed", range(20))
def test_however_a_log_grows_every_line_is_read_once_and_in_order(path: Path, reader: Reader, seed: int) -> None:
    draw = random.Random(seed)
    lines = [draw.randbytes(draw.choice([0, 1, 100, 300, 5_000])).replace(b"\n", b" ") for _ in range(200)]
    data = b"".join(line + b"\n" for line in lines)
    cuts = sorted(draw.sample(range(len(data)), 60))
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        append(path, data[start:end])
        found += reader.read()

    assert found == lines


# ---- lines of every size ----------------------------------------------------------------------------------------


def test_the_longest_line_that_a_frame_may_have_is_read(path: Path, reader: Reader) -> None:
    longest = b"x" * (wire.MAX_LINE - 1)
    append(path, b"before\n" + longest + b"\nafter\n")

    assert reader.read() == [b"before", longest, b"after"]
    assert reader.too_long == 0


@pytest.mark.parametrize("size", [wire.MAX_LINE, wire.MAX_LINE + 1, 5_000_000, 11_000_000])
def test_a_longer_line_is_passed_over_and_counted_once(path: Path, reader: Reader, size: int) -> None:
    append(path, b"before\n" + b"x" * size + b"\nafter\n")

    assert reader.read() == [b"before", b"after"]
    assert reader.too_long == 1


def test_a_long_line_that_grows_slowly_is_passed_over_and_counted_once(path: Path, reader: Reader) -> None:
    found = []
    for _ in range(10):
        append(path, b"x" * 700_000)
        found += reader.read()
    append(path, b"\nafter\n")

    assert found + reader.read() == [b"after"]
    assert reader.too_long == 1


def test_a_long_line_takes_no_crowd_of_short_ones_into_its_batch(path: Path) -> None:
    append(path, b"x" * 1_100_000 + b"\n" + b"{}\n" * 900_000)

    chunk = read_log(path, Position())

    assert chunk is not None
    assert len(chunk.lines) == 1
    assert chunk.more


# ---- files that change under the reader -------------------------------------------------------------------------


def test_a_truncated_log_is_read_from_its_beginning(path: Path, reader: Reader) -> None:
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"new\n")

    assert reader.read() == [b"new"]


def test_a_log_truncated_and_filled_again_beyond_where_it_was_is_noticed(path: Path, reader: Reader) -> None:
    append(path, b"one\ntwo\n")
    reader.read()
    inode = path.stat().st_ino
    path.write_bytes(b"three\nfour\nfive\nsix\n")

    assert path.stat().st_ino == inode
    assert reader.read() == [b"three", b"four", b"five", b"six"]


def test_a_log_rewritten_behind_its_beginning_is_noticed(path: Path, reader: Reader) -> None:
    beginning = b"x" * 300 + b"\n"
    append(path, beginning + b"two\nthree\n")
    reader.read()
    with path.open("rb+") as file:  # the second line is taken out in place, and more is written
        file.seek(len(beginning))
        file.truncate()
        file.write(b"three\nfour\nfive\nsix\n")

    assert reader.read() == [beginning[:-1], b"three", b"four", b"five", b"six"]


def test_a_replaced_log_is_read_from_its_beginning(path: Path, reader: Reader) -> None:
    append(path, b"one\ntwo\n")
    reader.read()
    other = path.with_name("other")
    other.write_bytes(b"one\ntwo\nthree\n")
    other.replace(path)

    assert reader.read() == [b"one", b"two", b"three"]


def test_a_log_that_got_the_inode_of_another_is_not_taken_for_it(path: Path) -> None:
    append(path, b"one\n")
    known = Reader(path)
    known.read()
    path.write_bytes(b"two\n")

    chunk = read_log(path, known.position)

    assert chunk is not None
    assert chunk.lines == [b"two"]


def test_a_rotated_log_is_read_on_under_its_new_name(path: Path, reader: Reader) -> None:
    append(path, b"one\ntwo\n")
    reader.read()
    append(path, b"three\n")
    rotated = path.rename(f"{path}.1")
    append(path, b"four\n")

    on = read_log(rotated, Position("another", 3, "file"), reader.position)
    fresh = read_log(path, reader.position)

    assert on is not None
    assert fresh is not None
    assert (on.lines, fresh.lines) == ([b"three"], [b"four"])


@pytest.mark.parametrize(
    ("name", "earlier"),
    [
        ("s.jsonl", ()),
        ("s.jsonl.1", ("s.jsonl", "s.jsonl")),
        ("s.jsonl.3", ("s.jsonl.2", "s.jsonl")),
    ],
)
def test_a_rotated_log_had_one_of_these_names(name: str, earlier: tuple[str, ...]) -> None:
    parsed = parse_name(name)

    assert parsed is not None
    assert parsed.earlier == earlier


# ---- what is no log ---------------------------------------------------------------------------------------------


def test_a_folder_a_link_and_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "target").write_bytes(b"secret\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / "pipe.jsonl")

    for name, reason in (("folder", "not a regular file"), ("link", "a symbolic link"), ("pipe", "not a regular file")):
        with pytest.raises(OSError, match=reason):
            read_log(tmp_path / f"{name}.jsonl", Position())


def test_no_file_stays_open(path: Path, reader: Reader) -> None:
    append(path, b"one\n")
    before = open_files()
    reader.read()
    (path.parent / "folder.jsonl").mkdir()
    with pytest.raises(OSError, match="regular"):
        read_log(path.parent / "folder.jsonl", Position())

    assert open_files() == before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
