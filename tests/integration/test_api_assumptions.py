"""Over HTTP: what agents decided alone, and an operator who decides otherwise."""

import json
import subprocess
from pathlib import Path

from gemba import clock, wire
from tests.fixtures.api import Api


def commit(workspace: Path, subject: str) -> None:
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", subject], cwd=workspace, check=True)


def test_an_assumption_is_listed_and_waits_for_nobody(api: Api) -> None:
    head, branch = wire.git_head(str(api.workspace))
    id = api.assume("Which port?", "8080", bead_id="gm-1", cwd=str(api.workspace), commit=head, branch=branch)

    listed = api.get("/api/assumptions")

    (shown,) = listed["assumptions"]
    assert clock.parse(shown.pop("recorded_at")) is not None
    assert shown == {
        "id": id,
        "session_id": "session-1",
        "agent_type": "test",
        "role": "coach",
        "text": "Which port?",
        "chose": "8080",
        "bead_id": "gm-1",
        "cwd": str(api.workspace),
        "commit": head,
        "branch": "main",
        "overturned": None,
        "delivery": "none",
    }
    assert (listed["total"], listed["next_cursor"], listed["as_of"]) == (1, None, 1)
    assert api.get("/api/escalations")["total"] == 0


def test_the_newest_is_listed_first_page_by_page_while_new_ones_arrive(api: Api) -> None:
    recorded = [api.assume(f"question {n}") for n in range(5)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"/api/assumptions?limit=2{cursor}")
        seen += [row["id"] for row in page["assumptions"]]
        api.assume("a new one")
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"

    assert seen == recorded[::-1]


def test_a_session_s_own_can_be_chosen(api: Api) -> None:
    mine = api.assume(session="mine")
    api.assume(session="other")

    page = api.get("/api/assumptions?session=mine")

    assert ([row["id"] for row in page["assumptions"]], page["total"]) == ([mine], 1)


def test_the_agent_of_an_overturned_one_is_told_what_was_committed_since(api: Api) -> None:
    head, _ = wire.git_head(str(api.workspace))
    id = api.assume(cwd=str(api.workspace), commit=head)
    commit(api.workspace, "listen on 8080")
    commit(api.workspace, "document the port")

    overturned = api.post(f"/api/assumptions/{id}/overturn", {"text": "use 9090"})

    assert (overturned["overturned"]["text"], overturned["delivery"]) == ("use 9090", "pending")
    api.app.write_replies()
    reply = json.loads((api.home / "replies" / f"{id}.json").read_bytes())
    assert (reply["event_id"], reply["outcome"], reply["text"]) == (id, "overturned", "use 9090")
    assert [line.split(" ", 1)[1] for line in reply["commits"]] == ["document the port", "listen on 8080"]
    assert api.get("/api/assumptions")["assumptions"][0]["overturned"]["text"] == "use 9090"


def test_an_assumption_is_overturned_once_and_the_second_sees_the_first(api: Api) -> None:
    id = api.assume()
    api.post(f"/api/assumptions/{id}/overturn", {"text": "use 9090"})

    refused = api.request("POST", f"/api/assumptions/{id}/overturn", {"text": "use 7070"})

    assert (refused.status, refused.json["code"]) == (409, "already_overturned")
    assert refused.json["assumption"]["overturned"]["text"] == "use 9090"


def test_an_overturn_needs_words(api: Api) -> None:
    id = api.assume()
    for body, code in (({}, "missing_field"), ({"text": " "}, "missing_field"), ({"text": 5}, "wrong_type")):
        refused = api.request("POST", f"/api/assumptions/{id}/overturn", body)
        assert (refused.status, refused.json["pointer"], refused.json["code"]) == (422, "/text", code)
    assert api.get("/api/assumptions")["assumptions"][0]["overturned"] is None


def test_what_was_not_assumed_cannot_be_overturned(api: Api) -> None:
    for id in ("unknown", api.ask()):
        assert api.request("POST", f"/api/assumptions/{id}/overturn", {"text": "x"}).status == 404
