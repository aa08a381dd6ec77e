"""A transcript keeps the beginning and the end of any output within its limit, and knows what is missing."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from gemba.sessions.keeper.transcript import Transcript, joined, read_end, read_pieces, remove


def written(folder: str, chunks: list[bytes], limit: int) -> Transcript:
    transcript = Transcript(folder, limit)
    for chunk in chunks:
        transcript.write(chunk)
    transcript.close()
    return transcript


@given(
    st.lists(st.binary(max_size=60)), st.integers(min_value=4, max_value=80), st.integers(min_value=0, max_value=300)
)
def test_what_is_kept_is_the_output_at_its_places(chunks: list[bytes], limit: int, since: int) -> None:
    output = b"".join(chunks)
    with TemporaryDirectory() as folder:
        transcript = written(folder, chunks, limit)

        pieces = read_pieces(folder, 0, 1_000_000)

        assert transcript.printed == len(output)
        assert all(output[piece.place : piece.end] == piece.data for piece in pieces)
        kept = sum(len(piece.data) for piece in pieces)
        assert kept <= limit
        assert transcript.cut == (kept < len(output))
        assert len(output) > limit or kept == len(output)
        if output:
            assert (pieces[0].place, pieces[-1].end) == (0, len(output))
            assert output.startswith(pieces[0].data)
        later = read_pieces(folder, since, 1_000_000)
        assert [piece.data for piece in later] == [
            piece.data[max(0, since - piece.place) :] for piece in pieces if piece.end > since
        ]


def test_a_gap_is_told_once_and_the_end_is_read_alone(tmp_path: Path) -> None:
    written(str(tmp_path), [b"a" * 40, b"b" * 60, b"the end\n"], 40)

    assert joined(read_pieces(str(tmp_path), 0, 1000)).split(b"\n") == [
        b"a" * 20,
        b"[gemba: 70 bytes of output are left out here]",
        b"b" * 10 + b"the end",
        b"",
    ]
    assert read_end(str(tmp_path), 8) == b"the end\n"
    assert [piece.place for piece in read_pieces(str(tmp_path), 0, 25)] == [0, 90]


def test_an_earlier_transcript_is_removed_with_all_its_pieces(tmp_path: Path) -> None:
    written(str(tmp_path), [b"x" * 1000], 100)
    (tmp_path / "transcript.note").write_text("somebody else's")

    remove(str(tmp_path))

    assert [file.name for file in tmp_path.glob("transcript*")] == ["transcript.note"]
    assert read_end(str(tmp_path), 100) == b""


def test_what_cannot_be_written_is_missing_and_nothing_stops(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    transcript = written(str(gone), [b"x" * 100], 40)

    assert (transcript.printed, transcript.cut) == (100, True)
