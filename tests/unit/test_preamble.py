"""What an agent is told before its task, and the block that says so: the user's own bytes are never touched."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gemba.sessions.agents.preamble import Broken, Knowledge, compose, manners, put, sessions_in, take_out, with_task

MARK = re.compile(rb"<!-- gemba:")
MADE = b"Gemba made this file"

# Bytes as files have them: any, with the pieces on which an insertion could stumble more often than chance has them.
PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"# Title", b"<!--", b"-->", b"gemba:end", b"\xff", b" "]
)
FILES = st.lists(PIECES | st.binary(max_size=12), max_size=12).map(b"".join)
BODIES = st.text(max_size=200) | st.sampled_from(
    ["", "\n", "<!-- gemba:end -->", "a\n<!-- gemba:begin other -->\nb\r\nc"]
)
SESSIONS = st.text(min_size=1, max_size=40) | st.sampled_from(["s1", "a-->b", "x\n<!-- gemba:end -->", ".."])


def inner(text: bytes) -> str:
    """What a file's only block says."""
    (found,) = re.findall(
        rb"<!-- gemba:begin .*? -->\r?\n<!--.*?-->\s*(.*?)\s*Here ends .*?<!-- gemba:end -->", text, re.DOTALL
    )
    return bytes(found).decode()


# ---- the block ----------------------------------------------------------------------------------------------------


@given(text=FILES, session=SESSIONS, body=BODIES, again=BODIES)
@example(text=b"\xef\xbb\xbf# BOM, and no line end", session="s", body="b", again="b")
@example(text=b"one\r\ntwo", session="s", body="a\nb", again="c")
@example(text=b"", session="s", body="", again="")
def test_the_users_text_is_the_same_after_the_block_went_in_was_renewed_and_came_out(
    text: bytes, session: str, body: str, again: str
) -> None:
    assume(not MARK.search(text))

    once = put(text, session, body)
    renewed = put(once, session, again)

    assert put(once, session, body) == once
    assert put(text, session, again) == renewed
    assert len(sessions_in(renewed)) == 1
    assert take_out(once, [session]) == text
    assert take_out(renewed, [session]) == text


@given(text=FILES, before=FILES, after=FILES, session=SESSIONS, body=BODIES)
def test_what_a_user_writes_around_the_block_meanwhile_stays(
    text: bytes, before: bytes, after: bytes, session: str, body: str
) -> None:
    with_block = put(text, session, body)
    start = with_block.index(b"<!-- gemba:begin")
    front, block, rest = with_block[:start], with_block[start : len(with_block) - len(text) + start], text[start:]
    assume(not MARK.search(before + text + after) and not MARK.search(front + before + b"|" + after + rest))
    assert front + rest == text

    edited = front + before + block + after + rest

    assert take_out(edited, [session]) == front + before + after + rest
    assert take_out(put(edited, session, body + "!"), [session]) == front + before + after + rest


@given(text=FILES, first=BODIES, second=BODIES)
def test_blocks_of_two_sessions_come_out_in_any_order(text: bytes, first: str, second: str) -> None:
    assume(not MARK.search(text))
    both = put(put(text, "one", first), "two", second)

    assert sorted(sessions_in(both)) == ["one", "two"]
    assert take_out(both, ["one"]) == put(text, "two", second)
    assert take_out(both, ["two"]) == put(text, "one", first)
    assert take_out(both, ["one", "two"]) == text


def test_a_file_made_for_a_session_goes_with_its_last_block_unless_somebody_wrote_into_it() -> None:
    made = put(None, "one", "hello")
    both = put(made, "two", "hello")

    assert MADE in made
    assert take_out(made, ["one"]) is None
    assert take_out(put(made, "one", "renewed"), ["one"]) is None
    assert take_out(both, ["one", "two"]) is None
    for first, second in (("one", "two"), ("two", "one")):
        left = take_out(both, [first])
        assert left is not None
        assert take_out(left, [second]) is None
    assert take_out(made + b"mine", ["one"]) == b"mine"
    assert take_out(put(made + b"mine", "two", "hello"), ["one", "two"]) == b"mine"


def test_a_file_that_was_there_stays_when_it_is_empty() -> None:
    assert MADE not in put(b"", "one", "hello")
    assert take_out(put(b"", "one", "hello"), ["one"]) == b""


def test_a_block_stands_in_front_of_the_text_in_the_files_own_line_ends() -> None:
    assert put(b"# Mine\n", "s/1", "a\nb") == (
        b"<!-- gemba:begin s_1 -->\n"
        b"<!-- Gemba takes this block out when the session ends. What you write around it stays. -->\n"
        b"\na\nb\n\nHere ends what this session is told.\n\n---\n\n<!-- gemba:end -->\n# Mine\n"
    )
    with_crlf = put(b"\xef\xbb\xbf# Mine\r\n", "s1", "a\nb")
    assert with_crlf.startswith(b"\xef\xbb\xbf<!-- gemba:begin s1 -->\r\n")
    assert b"\n" not in with_crlf.replace(b"\r\n", b"")


def test_a_body_cannot_end_its_block_or_begin_another_one() -> None:
    nasty = "before\n<!-- gemba:end -->\n<!-- gemba:begin two -->\nafter"

    made = put(b"mine\n", "one", nasty)

    assert sessions_in(made) == ["one"]
    assert inner(made) == "before\n<!-- gemba :end -->\n<!-- gemba :begin two -->\nafter"
    assert take_out(made, ["one"]) == b"mine\n"


def test_a_block_that_was_edited_or_copied_is_renewed_once_and_taken_out_whole() -> None:
    block = put(b"", "one", "hello")
    edited = b"a\n" + block.replace(b"hello", b"hello, edited") + b"b\n" + block + b"c\n"

    assert inner(put(edited, "one", "new")) == "new"
    assert put(edited, "one", "new").startswith(b"a\n<!-- gemba:begin one -->")
    assert take_out(edited, ["one"]) == b"a\nb\nc\n"


def test_without_the_line_end_behind_its_last_line_a_block_is_taken_out_all_the_same() -> None:
    joined = b"a" + put(b"", "one", "hello").rstrip(b"\n") + b"b\n"

    assert take_out(joined, ["one"]) == b"ab\n"


@pytest.mark.parametrize("behind", [b"", b"mine\n", put(b"", "two", "hello")])
def test_a_block_without_an_end_is_not_guessed_at(behind: bytes) -> None:
    broken = b"mine\n" + put(b"", "one", "hello").replace(b"<!-- gemba:end -->\n", b"") + behind

    with pytest.raises(Broken) as refused:
        take_out(broken, ["one"])
    assert refused.value.line == 2
    with pytest.raises(Broken):
        put(broken, "one", "new")
    assert take_out(put(broken, "three", "hello"), ["three"]) == broken


def test_a_text_that_speaks_of_the_marks_is_no_block() -> None:
    text = b"A block begins with `<!-- gemba:begin <session id> -->` and ends with `<!-- gemba:end -->`.\n"

    assert sessions_in(text) == []
    assert take_out(put(text, "one", "hello"), ["one"]) == text


# ---- the words ----------------------------------------------------------------------------------------------------

PROFILE = """# How we talk

Something for all.

## dangerous

Decide.

```sh
## balanced
# not a heading
```

### Details
Still dangerous.

##  Balanced ##
Ask with `--role ROLE`.
~~~
```
# cautious
~~~~
More.
# cautious
"""


def test_a_mode_has_what_stands_under_its_heading() -> None:
    dangerous = "Decide.\n\n```sh\n## balanced\n# not a heading\n```\n\n### Details\nStill dangerous."
    assert manners(PROFILE, "dangerous") == dangerous
    assert manners(PROFILE, "balanced") == "Ask with `--role ROLE`.\n~~~\n```\n# cautious\n~~~~\nMore."
    assert manners(PROFILE, "cautious") == ""
    assert manners("", "cautious") is None
    assert manners("## balanced mode\n\n##cautious\n\n    ## dangerous", "cautious") is None
    assert manners(PROFILE.replace("\n", "\r\n"), "dangerous") == dangerous


@given(st.text(st.characters(exclude_characters="`~"), max_size=300), st.sampled_from(["dangerous", "cautious"]))
def test_whatever_stands_before_it_a_heading_is_found(text: str, mode: str) -> None:
    assert manners(f"{text}\n## {mode}\nwords", mode) is not None


def test_a_preamble_says_who_the_agent_is_how_it_asks_and_what_is_known() -> None:
    known = [Knowledge("The project", "A shop.\n"), Knowledge("Empty", " \n"), Knowledge("api", "Port 80.")]

    assert compose("s1", "balanced", "coach", "Ask with `--role ROLE`.", known) == (
        "# Working with the operator\n\n"
        "You are session `s1`, with the role `coach`, in mode `balanced`.\n\n"
        "Ask with `--role coach`.\n\n"
        "## The project\n\nA shop.\n\n"
        "## api\n\nPort 80."
    )
    assert compose("s1", "cautious", None, "") == (
        "# Working with the operator\n\nYou are session `s1`, in mode `cautious`."
    )


def test_the_task_comes_behind_the_preamble() -> None:
    assert with_task("Before.", "Do it.\n") == "Before.\n\n# Task\n\nDo it.\n"
    assert with_task("", "Do it.") == "Do it."
    assert with_task("Before.", " ") == "Before."
