"""Notifications reach a real HTTP receiver in bounded time, say what waits, and show nobody the password."""

import base64
import io
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemba.config import Secret
from gemba.escalations.notify import LONGEST_BODY, LONGEST_TITLE, Notice, problem_of, send
from gemba.escalations.policy import MINUTE, Channel
from gemba.testing import retry_until
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import free_port

NOTICE = Notice(
    id="01934d5e-0000-7000-8000-0000003fa9c1",
    kind="blocker",
    urgency="blocking",
    words="Which port?\nThe whole story, which is long.",
    agent_type="claude",
    session_id="worker-1",
    waited=10 * MINUTE,
    page="http://127.0.0.1:4680/?x=1#token=canary",
)


def channel(url: str, name: str = "phone") -> Channel:
    return Channel(name, "apprise", Secret(url))


def test_a_notification_says_what_waits_and_where_to_answer(receiver: Receiver) -> None:
    sent = send([channel(receiver.url)], NOTICE.title, NOTICE.body)

    assert (sent.ok, sent.problem, sent.reached) == (True, None, ("phone",))
    (request,) = receiver.requests
    assert request.document["title"] == "Blocking blocker: Which port?"
    assert request.document["message"].splitlines() == [
        "Which port?",
        "from claude, session worker-1",
        f"blocker (blocking), waiting for 10m, id {NOTICE.id}",
        "answer at http://127.0.0.1:4680/",
        'or: gemba answer 3fa9c1 "…"',
    ]
    assert set(request.document) == {"version", "title", "message", "attachments", "type"}


@pytest.fixture
def program_log() -> Iterator[io.StringIO]:
    """Everything that the process would log if it logged everything."""
    written = io.StringIO()
    handler, root = logging.StreamHandler(written), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


def test_the_password_goes_to_the_receiver_alone(
    receiver: Receiver, program_log: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("something.else").debug("is heard")
    target = channel(receiver.url_with("canary"))

    results = [send([target], "t", "b")]
    receiver.status = 500
    results.append(send([target], "t", "b"))
    results.append(send([channel(f"json://user:canary@127.0.0.1:{free_port()}/canary")], "t", "b"))
    results.append(send([channel("jsn://user:canary@127.0.0.1")], "t", "b"))
    results.append(send([channel("mailto://canary")], "t", "b"))
    results.append(send([channel("canary")], "t", "b"))

    assert [result.ok for result in results] == [True, False, False, False, False, False]
    assert receiver.requests[0].headers["Authorization"] == f"Basic {base64.b64encode(b'user:canary').decode()}"
    shown = repr(results) + repr(target) + program_log.getvalue() + "".join(capfd.readouterr())
    assert "is heard" in shown
    assert "canary" not in shown


@pytest.mark.parametrize(
    ("words", "title", "line"),
    [
        ("\x1b[31mred\x07 \u202ereversed", "Blocking blocker: \\x1b[31mred\\x07 \\u202ereversed", None),
        (
            "@everyone @Here <!channel> <@U1>",
            "Blocking blocker: @\u200beveryone @\u200bHere <\u200b!channel> <\u200b@U1>",
            None,
        ),
        (
            "<b>bold</b> & **bold** ${HOME} \\n :smile:",
            "Blocking blocker: <b>bold</b> & **bold** ${HOME} \\n :smile:",
            None,
        ),
        ("\ud800\x00", "Blocking blocker: \ufffd\\x00", None),
        ("\n\n  second line \n", "Blocking blocker: second line", "second line"),
        ("", "Blocking blocker:", ""),
    ],
)
def test_what_an_agent_wrote_is_text_to_whoever_gets_it(
    receiver: Receiver, words: str, title: str, line: str | None
) -> None:
    notice = Notice("id-123456", "blocker", "blocking", words, "claude", "worker-1", 0)

    assert send([channel(receiver.url)], notice.title, notice.body).ok

    (request,) = receiver.requests
    assert request.document["title"] == title
    assert request.document["message"].splitlines()[0] == (
        title.removeprefix("Blocking blocker: ") if line is None else line
    )


def test_a_long_text_is_cut(receiver: Receiver) -> None:
    notice = Notice("id-123456", "question", "advisory", "x" * 100_000, "a" * 5_000, "s" * 5_000, 0, number=2)

    assert send([channel(receiver.url)], notice.title, notice.body).ok
    assert send([channel(receiver.url)], "t" * 100_000, "b" * 100_000).ok

    for request in receiver.requests:
        assert len(request.document["title"]) <= LONGEST_TITLE
        assert len(request.document["message"]) <= LONGEST_BODY
    assert receiver.requests[0].document["title"].startswith("Advisory question (2): xxx")
    assert 'gemba answer 123456 "…"' in receiver.messages[0]


def test_what_went_wrong_is_told_by_channel(receiver: Receiver) -> None:
    receiver.status = 503
    nowhere = channel(f"json://127.0.0.1:{free_port()}", "nowhere")
    unset = Channel("unset", "apprise", problem="X is not set in the environment")

    sent = send([channel(receiver.url), nowhere, unset], "t", "b")

    assert (sent.ok, sent.reached) == (False, ())
    assert sent.problem == (
        "phone: the json service refused it with 503; "
        "nowhere: the json service cannot be reached, or did not answer; "
        "unset: X is not set in the environment"
    )


def test_one_that_fails_keeps_nobody_else_from_being_told(receiver: Receiver) -> None:
    nowhere = channel(f"json://127.0.0.1:{free_port()}", "nowhere")

    sent = send([nowhere, channel(receiver.url)], "t", "b")

    assert (sent.ok, sent.reached) == (False, ("phone",))
    assert receiver.messages == ["b"]


def test_nobody_to_notify_is_a_problem() -> None:
    assert send([], "t", "b").problem == "there is nobody to notify"


def test_a_receiver_that_hangs_is_given_up_after_the_patience_whatever_its_url_says(receiver: Receiver) -> None:
    receiver.hang()
    began = time.monotonic()

    sent = send([channel(f"{receiver.url}?rto=600&cto=600&retry=9&wait=60", name) for name in "abc"], "t", "b", 0.5)

    assert time.monotonic() - began < 5
    assert sent.problem == "; ".join(f"{name}: no answer within 0.5 s" for name in "abc")
    receiver.wait_for(3)
    receiver.go_on()
    # It was not sent again, and no thread stays behind.
    retry_until(lambda: not any(thread.name == "notify" for thread in threading.enumerate()), timeout=30)
    assert len(receiver.requests) == 3


def test_a_thread_that_sends_keeps_no_process_from_ending(receiver: Receiver, tmp_path: Path) -> None:
    receiver.hang()
    program = (
        "from gemba.config import Secret\n"
        "from gemba.escalations.notify import send\n"
        "from gemba.escalations.policy import Channel\n"
        f"print(send([Channel('c', 'apprise', Secret({receiver.url!r}))], 't', 'b', 0.2).problem)\n"
    )
    began = time.monotonic()

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "c: no answer within 0.2 s\n", "")
    assert time.monotonic() - began < 5


def test_a_service_that_raises_is_told_by_the_error_s_name_alone() -> None:
    from apprise import decorators
    from apprise.manager_plugins import NotificationManager

    def fails(*_: Any, **__: Any) -> bool:
        raise RuntimeError("canary")

    untyped: Any = (decorators.notify, NotificationManager)
    untyped[0](on="gembatest")(fails)
    try:
        sent = send([channel("gembatest://canary")], "t", "b")
    finally:
        untyped[1]().remove("gembatest")

    assert sent.ok is False
    assert sent.problem is not None
    assert sent.problem.startswith("phone: ")
    assert "canary" not in sent.problem


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("json://host", None),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", None),
        ("nfty://canary", "apprise knows no nfty:// addresses; did you mean ntfy://?"),
        ("qqqqqqqq://canary", "apprise knows no qqqqqqqq:// addresses"),
        ("json://", "apprise cannot read this json:// address: something is missing in it, or too much"),
        ("slack://canary", "apprise cannot read this slack:// address: something is missing in it, or too much"),
    ],
)
def test_a_url_that_apprise_does_not_know_is_a_problem_before_anything_is_sent(url: str, problem: str | None) -> None:
    assert problem_of(channel(url)) == problem


def test_without_apprise_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)

    assert problem_of(channel("json://host")) == 'apprise is not installed: pip install "gemba[notify]"'
    assert send([channel("json://host")], "t", "b").problem == (
        'phone: apprise is not installed: pip install "gemba[notify]"'
    )
    assert problem_of(Channel("page", "page")) is None
    assert problem_of(Channel("team", "group", members=("page",))) is None
