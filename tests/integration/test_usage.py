"""What turns took: added up by all that they belong to, once each; and the thresholds that they pass, once each."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemba import clock
from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.event import Draft
from gemba.handoff.dispatches import dispatches
from gemba.sessions.store import frames
from gemba.sessions.store import logs as positions
from gemba.sprints import usage as counting
from gemba.sprints.tables import sums, turns
from gemba.store import events
from gemba.work.claiming import ClaimItem, claim_item
from gemba.work.item import Kind
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs
from tests.fixtures.sprinting import cards, close, item, running, shown, turn

KINDS = ("session", "task", "epic", "sprint", "persona", "day")


def usage(api: Api, by: str, **query: Any) -> dict[str, int]:
    words = "".join(f"&{name}={value}" for name, value in query.items())
    return {row["key"]: row["tokens"] for row in api.get(f"/api/usage?by={by}{words}")["rows"]}


def claim(app: App, id: str, owner: str) -> None:
    with app.database.transaction("ann") as tx:
        claim_item(tx, ClaimItem(owner=owner), id=id)


def burnt(app: App) -> list[str]:
    with app.database.read() as connection:
        found = events.read_after(connection, 0, 100_000)
        return [msgspec.json.decode(event.payload)["level"] for event in found if event.name == "sprint.burnt"]


def test_a_turn_counts_for_all_that_it_belongs_to(api: Api, app: App) -> None:
    epic = item(app, "Search", kind=Kind.EPIC)
    task = item(app, "Index", parent=epic)
    sprint = running(app, 10_000, epic)
    claim(app, task, "s-1")
    api.take("GembaUsage", {"input_tokens": 700, "output_tokens": 200, "cost_usd": 0.25}, "s-1")
    api.take("GembaUsage", {"input_tokens": 50}, "s-1")

    today = clock.rfc3339(clock.now())[:10]
    assert {by: usage(api, by) for by in KINDS} == {
        "session": {"s-1": 950},
        "task": {task: 950},
        "epic": {epic: 950},
        "sprint": {sprint: 950},
        "persona": {},
        "day": {today: 950},
    }
    (row,) = api.get("/api/usage?by=task")["rows"]
    assert (row["title"], row["turns"], row["unpriced"]) == ("Index", 2, 1)
    assert (row["tokens_in"], row["tokens_out"], row["cost_usd_micros"]) == (750, 200, 250_000)
    assert shown(app, sprint).tokens_used == 950


def test_the_item_is_the_dispatchs_then_the_claims_then_what_the_session_says(api: Api, app: App) -> None:
    said, claimed, given_ = item(app, "Said"), item(app, "Claimed"), item(app, "Given")
    api.take("GembaState", {"state": "working", "bead_id": said}, "s-1")
    turn(api, 1)
    claim(app, claimed, "s-1")
    turn(api, 10)
    made = api.post("/api/dispatches", {"goal": "do it", "session_id": "s-1", "task_id": given_})
    turn(api, 100)
    with app.database.transaction() as tx:
        tx.connection.execute(dispatches.update().where(dispatches.c.id == made["id"]).values(completed_at=tx.now))
    turn(api, 1_000)

    assert usage(api, "task") == {said: 1, claimed: 1_010, given_: 100}


def test_what_a_session_says_counts_from_then_on_also_within_one_batch(api: Api, app: App, logs: Logs) -> None:
    first, second = item(app, "First"), item(app, "Second")

    def said(id: str) -> bytes:
        return logs.frame("GembaState", {"state": "working", "bead_id": id})

    def took(tokens: int) -> bytes:
        return logs.frame("GembaUsage", {"input_tokens": tokens})

    logs.take(took(1), said(first), took(10), said(second), took(100))

    assert usage(api, "task") == {first: 10, second: 100}
    assert usage(api, "session") == {"s": 111}


def test_only_what_is_known_to_be_for_something_else_is_not_the_sprints(api: Api, app: App) -> None:
    epic = item(app, "Search", kind=Kind.EPIC)
    inside, outside = item(app, "Index", parent=epic), item(app, "Mail")
    sprint = running(app, 10_000, epic)
    for tokens, bead in ((1, inside), (10, outside), (100, None), (1_000, "not-an-item")):
        session = f"s-{tokens}"
        if bead is not None:
            api.take("GembaState", {"state": "working", "bead_id": bead}, session)
        turn(api, tokens, session)

    assert usage(api, "sprint") == {sprint: 1_101}
    close(app, sprint)
    turn(api, 5_000, "s-1")
    assert usage(api, "sprint") == {sprint: 1_101}
    everything = running(app, 10_000)
    turn(api, 7, "s-10")
    assert usage(api, "sprint")[everything] == 7


def test_a_turn_of_a_consult_is_its_personas(api: Api, app: App) -> None:
    (app.workspace.folder / "agents.toml").write_text('[agent.scribe]\ncommand = ["sleep", "60"]\nprompt = "stdin"\n')
    body = {"persona_id": "project-manager", "skill_id": "ask", "raw_input": {"question": "Why?"}}
    made = api.request("POST", "/api/consults", {**body, "agent_type": "scribe"})
    assert made.status == 201, made

    turn(api, 12, made.json["id"], cost_usd=0.01)

    assert usage(api, "persona") == {"project-manager": 12}


def test_a_day_is_the_agents_own_as_far_as_that_is_past(api: Api, app: App) -> None:
    today = clock.rfc3339(clock.now())[:10]
    turn(api, 1, ts="2020-02-03T23:59:59Z")
    turn(api, 10, ts="2199-01-01T00:00:00Z")
    turn(api, 100, ts="never")

    assert usage(api, "day") == {today: 110, "2020-02-03": 1}


def test_a_list_goes_on_where_the_page_before_ended(api: Api) -> None:
    for number in range(7):
        turn(api, 10 * (number % 3) + 1, f"s-{number}")

    pages, cursor = [], None
    while True:
        page = api.get(f"/api/usage?by=session&limit=3{f'&cursor={cursor}' if cursor else ''}")
        pages += [row["key"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert pages == ["s-5", "s-2", "s-4", "s-1", "s-6", "s-3", "s-0"]
    assert page["total"] == 7
    for query in ("by=week", "by=day&limit=0", "by=day&cursor=x", "colour=red"):
        assert api.request("GET", f"/api/usage?{query}").status in (400, 422), query


# ---- once ------------------------------------------------------------------------------------------------------------


def forget(app: App) -> None:
    """As if no log had ever been read: the frames' ids and the positions are gone."""
    with app.database.transaction() as tx:
        tx.connection.execute(frames.delete())
        tx.connection.execute(positions.delete())


def test_a_turn_counts_once_although_its_log_is_read_again(app: App, logs: Logs, workspace: Any, home: Any) -> None:
    sprint = running(app, 1_000)
    logs.take(*(logs.frame("GembaUsage", {"input_tokens": 300}) for _ in range(4)))
    before = shown(app, sprint)
    assert (before.tokens_used, before.level) == (1_200, "stop")

    forget(app)
    again = App.open(Workspace(workspace), Settings(), home)
    try:
        assert again.ingest.drain() == 4
    finally:
        again.close()

    assert shown(app, sprint) == before
    assert burnt(app) == ["inform", "warn", "stop"]
    with app.database.read() as connection:
        assert len(connection.execute(turns.select()).all()) == 4
        rows = connection.execute(sums.select().where(sums.c.kind == "session")).all()
    assert [(row.key, row.turns, row.tokens) for row in rows] == [("s", 4, 1_200)]


def test_a_frame_that_comes_twice_in_one_batch_counts_once(app: App, logs: Logs) -> None:
    line = logs.frame("GembaUsage", {"input_tokens": 5})
    shutil.copy(logs.write(line, line, log="s.jsonl"), logs.folder / "t.jsonl")
    logs.take(line, log="u.jsonl")

    with app.database.read() as connection:
        assert [row.tokens_in for row in connection.execute(turns.select())] == [5]


def test_turns_that_come_in_at_the_same_time_all_count(api: Api, app: App) -> None:
    """Two servers of one database: each takes its own logs in."""
    sprint = running(app, 1_000)

    def one(number: int) -> None:
        payload = {"input_tokens": 100, "output_tokens": 0, "cost_usd": None, "bead_id": None, "at": ""}
        draft = Draft("usage_reported", payload, f"s-{number % 3}", f"turn-{number}")
        app.database.change(lambda tx: counting.project(tx, [draft], lambda _connection, _id: None))

    with ThreadPoolExecutor(6) as crowd:
        list(crowd.map(one, range(24)))

    assert shown(app, sprint).tokens_used == 2_400
    assert usage(api, "session") == {"s-0": 800, "s-1": 800, "s-2": 800}
    assert burnt(app) == ["inform", "warn", "stop"]
    # Both are asked about once; which transaction began first is anybody's guess.
    assert sorted(cards(api)) == [("budget_stop", "blocking", "open"), ("budget_warn", "advisory", "open")]


takes = st.lists(
    st.tuples(st.sampled_from(["s-1", "s-2"]), st.integers(0, 400), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=10)
@given(taken=takes)
def test_every_sum_is_what_its_turns_took(api: Api, app: App, taken: list[tuple[str, int, bool]]) -> None:
    before = {by: Counter(usage(api, by, limit=500)) for by in ("session", "day", "sprint", "task")}
    task = item(app)
    sprint = running(app, 1_000, task)
    expected: Counter[str] = Counter()
    for session, tokens, again in taken:
        api.take("GembaState", {"state": "working", "bead_id": task}, session)
        id = turn(api, tokens, session)
        if again:
            turn(api, tokens, session, event_id=id)
        expected[session] += tokens
    whole = sum(expected.values())
    after = {by: Counter(usage(api, by, limit=500)) for by in before}

    assert {key: after["session"][key] - before["session"][key] for key in expected} == dict(expected)
    assert sum(after["day"].values()) - sum(before["day"].values()) == whole
    assert (after["sprint"][sprint], after["task"][task], shown(app, sprint).tokens_used) == (whole, whole, whole)
    close(app, sprint)


# ---- thresholds ------------------------------------------------------------------------------------------------------


def test_each_threshold_is_told_once_in_its_own_way(api: Api, app: App) -> None:
    sprint = running(app, 1_000)

    for tokens, told in (
        (499, []),
        (1, ["inform"]),
        (299, ["inform"]),
        (1, ["inform", "warn"]),
        (1, ["inform", "warn"]),
    ):
        turn(api, tokens)
        assert burnt(app) == told, tokens
    assert cards(api) == [("budget_warn", "advisory", "open")]
    turn(api, 199)
    turn(api, 5_000)

    assert burnt(app) == ["inform", "warn", "stop"]
    assert cards(api) == [("budget_warn", "advisory", "open"), ("budget_stop", "blocking", "open")]
    assert shown(app, sprint).held


def test_one_turn_may_pass_them_all(api: Api, app: App) -> None:
    running(app, 1_000)
    turn(api, 4_000)

    assert burnt(app) == ["inform", "warn", "stop"]
    assert cards(api) == [("budget_warn", "advisory", "open"), ("budget_stop", "blocking", "open")]


def stop_card(api: Api) -> dict[str, Any]:
    (found,) = api.get("/api/escalations?kind=budget_stop&state=unresolved")["escalations"]
    card: dict[str, Any] = found
    return card


def test_the_budget_is_raised_on_the_card_and_what_was_held_goes_on(api: Api, app: App) -> None:
    sprint = running(app, 1_000)
    turn(api, 1_500)
    card = stop_card(api)
    respond = f"/api/escalations/{card['id']}/respond"
    assert (card["options"], card["channel"]) == (["raise", "hold", "close"], "system")

    for text, status in (("", 422), ("lots", 422), ("-5", 422), ("0", 422), ("900", 409), ("1,500", 409)):
        assert api.request("POST", respond, {"action": "raise", "text": text}).status == status, text
        assert shown(app, sprint).token_budget == 1_000
    api.post(respond, {"action": "raise", "text": "4,000"})

    after = shown(app, sprint)
    assert (after.token_budget, after.level, after.held) == (4_000, "none", False)
    assert cards(api) == [("budget_warn", "advisory", "withdrawn"), ("budget_stop", "blocking", "resolved")]
    assert api.get("/api/holds")["holds"] == []
    turn(api, 2_500)
    assert burnt(app) == ["inform", "warn", "stop", "inform", "warn", "stop"]
    assert [state for _, _, state in cards(api)] == ["withdrawn", "resolved", "open", "open"]
    assert api.get(f"/api/sprints/{sprint}/history")["changes"][0]["after"] == {"token_budget": 4_000}


def test_a_sprint_is_closed_on_the_card(api: Api, app: App) -> None:
    sprint = running(app, 1_000)
    turn(api, 1_500)

    api.post(f"/api/escalations/{stop_card(api)['id']}/respond", {"action": "close"})

    assert (shown(app, sprint).state, api.get("/api/holds")["holds"]) == ("closed", [])
    assert cards(api) == [("budget_warn", "advisory", "withdrawn"), ("budget_stop", "blocking", "resolved")]


@pytest.mark.parametrize("end", ["hold", "dismiss"])
def test_a_card_that_is_put_aside_leaves_the_hold(api: Api, app: App, end: str) -> None:
    running(app, 1_000)
    turn(api, 1_500)
    path = f"/api/escalations/{stop_card(api)['id']}"

    api.post(f"{path}/respond", {"action": "hold"}) if end == "hold" else api.post(f"{path}/dismiss", {})
    turn(api, 100)

    assert [hold["kind"] for hold in api.get("/api/holds")["holds"]] == ["sprint_stop"]
    assert len(cards(api)) == 2


def test_a_closed_sprint_takes_its_cards_back_and_burns_no_more(api: Api, app: App) -> None:
    sprint = running(app, 1_000)
    turn(api, 900)
    close(app, sprint)
    turn(api, 900)

    assert cards(api) == [("budget_warn", "advisory", "withdrawn")]
    assert shown(app, sprint).tokens_used == 900
    assert burnt(app) == ["inform", "warn"]
