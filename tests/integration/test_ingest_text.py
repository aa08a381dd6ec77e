"""Text of any kind, from an agent to the operator's terminal: stored, sent as JSON, shown without driving anything."""

import json
import random
import re
from typing import Any

from gemba import wire
from tests.fixtures.servers import RunningServer

HOSTILE = {
    "controls": "".join(map(chr, (*range(1, 32), *range(0x7F, 0xA0)))),
    "escape sequences": "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]8;;http://evil.example\x07click\x1b]8;;\x07\x9b31m\x1bc",
    "nul": "before\0after",
    "lone surrogates": "\ud800 and \udfff",
    "bidi": "\u202eevil\u202c \u2066isolated\u2069 \u200fmark",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>&lt;",
    "lines": "one\r\ntwo\nthree\rfour\u2028five\u2029six\x85seven\n\ndata: {}\n\nevent: gap\n",
    "json": '"}],"x":{"\\',
    "sql": "'; drop table escalations; -- %s %(x)s ${x} {0}",
    "wide": "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GRINNING FACE}" * 50 + "e\N{COMBINING ACUTE ACCENT}" * 50,
    "long": "word " * 20_000,
    "long without a space": "x" * wire.MAX_TEXT,
    "a megabyte": "\N{SNOWMAN}" * 350_000,
    "noise": "".join(map(chr, random.Random(11).choices(range(0x10FFFF), k=5_000))),
}
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def frame_of(text: str) -> dict[str, Any]:
    """The text in every field that takes one, as far as all of them together fit a frame."""
    everywhere = dict.fromkeys(("title", "bead_id", "cwd", "commit", "branch"), text[:20_000])
    options = [text[:20_000], "plain"]
    return {"kind": "blocker", "role": "manager", "mode": "balanced", "options": options, **everywhere, "text": text}


def test_hand_written_frames_may_hold_any_text(server: RunningServer) -> None:
    stream = server.events()
    for what, text in HOSTILE.items():
        id = server.append("GembaAsk", frame_of(text), session=what, agent_type=text[:1_000])
        opened = stream.until("escalation_opened")["data"]
        found = server.get(f"/api/escalations/{id}")

        # What no database takes is replaced; what is too long is cut and says so; everything else is as it was.
        stored = re.sub("[\0\ud800-\udfff]", "\ufffd", text)
        assert (opened["ref"], opened["payload"]["text"]) == (id, found["text"]), what
        assert found["text"][: wire.MAX_TEXT] == stored[: wire.MAX_TEXT], what
        assert ("… (cut: " in found["text"]) == (len(text) > wire.MAX_TEXT), what

    shown = server.gemba("inbox")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert not _FORBIDDEN.search(shown.stdout)
    listed = json.loads(server.gemba("inbox", "--json").stdout)["escalations"]
    assert len(listed) == len(HOSTILE)
    assert max(len(one["text"]) for one in listed) <= 2_000
    for one in listed:
        server.post(f"/api/escalations/{one['id']}/respond", {"option": 2})
        assert stream.until("escalation.resolved")["data"]["payload"]["resolution"]["text"] == "plain"


def test_the_command_takes_any_text_and_an_answer_may_hold_it_too(server: RunningServer) -> None:
    stream = server.events()
    for what, text in HOSTILE.items():
        if "\0" in text or re.search("[\ud800-\udfff]", text) or len(text) > wire.MAX_TEXT:
            continue  # no program can be given it, or the command refuses it
        asker = server.ask("--kind", "blocker", "--role", "manager", "--wait", "--json", f"--text={text}")
        id = stream.until("escalation_opened")["data"]["ref"]
        found = server.get(f"/api/escalations/{id}")
        answer = server.post(f"/api/escalations/{id}/respond", {"text": text})
        printed, _ = asker.communicate(timeout=30)

        assert found["text"] == text, what
        assert answer["resolution"]["text"] == json.loads(printed)["text"] == text.strip(), what
        assert asker.returncode == 0, what


def test_an_answer_with_what_no_database_takes_is_stored_without_it(server: RunningServer) -> None:
    id = server.append("GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": "Which?"})
    server.events(after=0).until("escalation_opened")
    answer: dict[str, Any] = server.post(f"/api/escalations/{id}/respond", {"text": "a\0b"})

    assert answer["resolution"]["text"] == "a\ufffdb"
    assert server.ask("--resume", id).communicate(timeout=30)[0] == "a\ufffdb\n"
