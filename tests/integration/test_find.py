"""One search over all nouns, on both databases: the same words find the same, best first, and any input is words."""

from typing import Any
from urllib.parse import quote

from tests.fixtures.api import Api

HOSTILE = "\x1b]0;x\x07 \u202egnp.exe <img src=x onerror=alert(1)> '; drop table work_items; --"


def make(api: Api, title: str, **item: Any) -> str:
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, **item}})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def find(api: Api, words: str, kind: str | None = None, **query: Any) -> list[str]:
    """The ids that these words find, of one kind or of all."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    answer = api.get(f"/api/find?q={quote(words)}{more}")
    assert answer["q"] == words
    return [one["id"] for one in answer["found"] if kind in (None, one["kind"])]


def test_every_kind_is_found_by_its_words(api: Api) -> None:
    item = make(api, "Zebra stripes", kind="epic")
    asked = api.ask("Is the zebra black or white?", session="zebra-keeper")
    sprint = api.request("POST", "/api/sprints", {"title": "Zebra week", "token_budget": 1_000}).json["id"]
    run = api.request("POST", "/api/teams", {"text": "Investigate the zebra", "plan_only": True}).json
    (api.workspace / ".gemba/agents.toml").write_text('[agent.scribe]\ncommand = ["cat"]\n')
    consult = api.request(
        "POST",
        "/api/consults",
        {
            "persona_id": "project-manager",
            "skill_id": "ask",
            "agent_type": "scribe",
            "workspace": str(api.workspace),
            "raw_input": {"question": "Why no quagga?", "refs": [item]},
        },
    ).json

    found = {one["kind"]: one for one in api.get("/api/find?q=zebra")["found"]}
    assert (found["item"]["id"], found["item"]["title"], found["item"]["detail"]) == (item, "Zebra stripes", "epic")
    assert (found["escalation"]["id"], found["escalation"]["state"]) == (asked, "open")
    assert found["escalation"]["detail"] == "zebra-keeper"
    assert found["session"]["id"] == "zebra-keeper"
    assert (found["sprint"]["id"], found["team"]["id"]) == (sprint, run["id"])
    assert find(api, f"project {item}", "consult") == find(api, "quagga", "consult") == [consult["id"]]
    assert find(api, "project manager", "persona") == ["project-manager"]
    assert find(api, "security", "persona", limit=1) == ["security"]


def test_the_one_that_is_called_so_comes_first_then_beginnings_then_words_then_parts(api: Api) -> None:
    part = make(api, "Retokenise")
    word = make(api, "The token")
    beginning = make(api, "Tokens are renewed")
    for id in ("token-1", "token-12"):
        api.post(
            "/api/work-items/import", {"name": "x.jsonl", "issues": [{"id": id, "title": "Else", "status": "open"}]}
        )

    assert find(api, "token-1", "item") == ["token-1", "token-12"]
    assert find(api, "TOKEN-12", "item") == ["token-12"]
    assert find(api, "token", "item")[2:] == [beginning, word, part]
    assert find(api, "token", "item", limit=3)[2:] == [beginning]
    assert find(api, "renewed tokens", "item") == [beginning]
    assert find(api, "renewed cache", "item") == []


def test_what_is_typed_is_words_and_no_pattern(api: Api) -> None:
    make(api, "Nothing of the kind")
    words = ["_", "%", "No_hing", "", "   "]
    assert [find(api, each) for each in words] == [[], [], [], [], []]

    id = make(api, f"100% of a_b and Straße im Überlauf \\ {HOSTILE}")
    for each in ("100%", "a_b", "straße", "STRA", "Überlauf", "überlauf", "ÜBERLAUF", "<img src", "'; drop", "\\"):
        assert find(api, each, "item") == [id], each


def test_what_was_settled_is_found_by_the_words_of_its_answer(api: Api) -> None:
    id = api.ask("Which port?")
    assert find(api, "8080") == []
    api.post(f"/api/escalations/{id}/respond", {"text": "Use 8080."})

    (found,) = api.get("/api/find?q=8080")["found"]
    assert (found["kind"], found["id"], found["title"], found["state"]) == ("escalation", id, "Which port?", "resolved")


def test_too_much_is_refused_and_only_who_has_a_token_may_look(api: Api) -> None:
    assert api.request("GET", "/api/find?q=" + "x" * 501).json["pointer"] == "/q"
    assert api.request("GET", "/api/find?q=x&limit=51").json["pointer"] == "/limit"
    assert api.request("GET", "/api/find?q=x&kind=item").status == 422
    assert api.request("GET", "/api/find?q=x", Authorization="Bearer nobody").status == 401
