"""What holds new work back: a sprint's stop, tokens without progress, a rate, agents at once; each with its reason."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine

from gemba.app import App
from gemba.config import CapSettings, Settings, Workspace, read_settings
from gemba.errors import Invalid
from gemba.sessions.runs import runs
from gemba.work.item import State
from tests.fixtures.api import Api, served
from tests.fixtures.sprinting import cards, change, item, running, shown, turn

SLEEPER = '[agent.sleeper]\ncommand = ["sleep", "60"]\nprompt = "stdin"\nmax_parallel = 100\n'

Capped = Callable[..., Api]


@pytest.fixture
def capped(
    workspace: Path, home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Api]]:
    """The API of a workspace with these caps."""
    monkeypatch.setenv("GEMBA_DATABASE_URL", database_url)
    (workspace / ".gemba/agents.toml").write_text(SLEEPER)
    with ExitStack() as stack:

        def opened(**caps: int) -> Api:
            app = App.open(Workspace(workspace), Settings(caps=CapSettings(**caps)), home)
            stack.callback(app.close)
            return stack.enter_context(served(app))

        yield opened


def holds(api: Api) -> list[str]:
    return [hold["kind"] for hold in api.get("/api/holds")["holds"]]


def start(api: Api, **body: Any) -> Any:
    return api.request("POST", "/api/sessions", {"agent": "sleeper", "task": "wait", **body})


# ---- a sprint that stops ---------------------------------------------------------------------------------------------


def test_past_its_stop_nothing_new_is_begun_and_what_runs_goes_on(api: Api, app: App) -> None:
    (app.workspace.folder / "agents.toml").write_text(SLEEPER)
    ready, mine = item(app, "Index"), item(app, "Query")
    api.post(f"/api/work-items/{mine}/claim", {"owner": "s-1"})
    sprint = running(app, 1_000)
    assert [choice["item_id"] for choice in api.get("/api/work-items/selection")["sessions"][0]["choices"]] == [ready]
    turn(api, 1_000)

    refused = [
        api.request("POST", f"/api/work-items/{ready}/claim", {"owner": "s-2"}),
        api.request("POST", "/api/dispatches", {"goal": "do it"}),
        start(api),
    ]

    for answer in refused:
        assert (answer.status, answer.json["code"], answer.json["found"]) == (409, "dispatch_held", "sprint_stop")
        said = "nothing new is begun: sprint-1 has used 1,000 of 1,000 tokens, and stops at 100%; raise its budget"
        assert said in answer.json["detail"]
    found = api.get("/api/work-items/selection")
    (anyone,) = [each for each in found["sessions"] if each["session_id"] is None]
    assert (anyone["choices"], found["ready"], found["batch"]["items"]) == ([], 0, [])
    gates = {gate["kind"] for out in anyone["ruled_out"] for gate in out["gates"]}
    assert gates == {"held", "claim"}
    assert found["holds"][0]["sprint_id"] == sprint
    # What is begun goes on.
    api.post(f"/api/work-items/{mine}/claim/extend", {"owner": "s-1"})
    change(app, mine, state=State.IN_PROGRESS)

    api.request("PATCH", f"/api/sprints/{sprint}", {"token_budget": 5_000})
    assert (holds(api), shown(app, sprint).held) == ([], False)
    api.post(f"/api/work-items/{ready}/claim", {"owner": "s-2"})
    api.post("/api/dispatches", {"goal": "do it"})
    assert start(api).status == 200


def test_advice_may_be_asked_for_while_work_is_held(api: Api, app: App) -> None:
    (app.workspace.folder / "agents.toml").write_text(SLEEPER)
    running(app, 1_000)
    turn(api, 1_000)
    body = {"persona_id": "project-manager", "skill_id": "ask", "raw_input": {"question": "What now?"}}

    assert api.request("POST", "/api/consults", {**body, "agent_type": "sleeper"}).status == 201


# ---- tokens without progress -----------------------------------------------------------------------------------------


def test_tokens_that_bring_nothing_about_are_asked_about_once(capped: Capped) -> None:
    api = capped(no_progress_tokens=1_000)
    work = item(api.app)
    turn(api, 999)
    assert (holds(api), cards(api)) == ([], [])
    turn(api, 1)
    turn(api, 500)

    assert (holds(api), cards(api)) == (["no_progress"], [("budget_stop", "blocking", "open")])
    refused = api.request("POST", f"/api/work-items/{work}/claim", {"owner": "s-2"})
    assert "1,500 tokens were used since an item was last handed in or finished" in refused.json["detail"]
    assert "no_progress_tokens of [caps] in .gemba/workspace.toml" in refused.json["detail"]

    change(api.app, work, state=State.REVIEW)
    assert (holds(api), cards(api)) == ([], [("budget_stop", "blocking", "withdrawn")])
    turn(api, 1_000)
    assert [state for _, _, state in cards(api)] == ["withdrawn", "open"]


@pytest.mark.parametrize(("action", "held"), [("go on", []), ("hold", ["no_progress"])])
def test_a_person_says_whether_to_go_on_without_progress(capped: Capped, action: str, held: list[str]) -> None:
    api = capped(no_progress_tokens=100)
    turn(api, 150)
    (card,) = api.get("/api/escalations?kind=budget_stop")["escalations"]

    api.post(f"/api/escalations/{card['id']}/respond", {"action": action})

    assert holds(api) == held
    turn(api, 50)
    assert len(cards(api)) == 1


def test_an_item_that_is_given_up_is_no_progress(capped: Capped) -> None:
    api = capped(no_progress_tokens=100)
    work = item(api.app)
    turn(api, 150)

    change(api.app, work, state=State.IN_PROGRESS)
    change(api.app, work, state=State.CANCELLED)

    assert holds(api) == ["no_progress"]


# ---- a rate, and agents at once --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caps", "said"), [({"turns_per_hour": 2}, "2 turns"), ({"tokens_per_hour": 300}, "300 tokens")]
)
def test_too_much_within_the_hour_waits_for_the_hour_to_pass(capped: Capped, caps: dict[str, int], said: str) -> None:
    api = capped(**caps)
    work = item(api.app)
    turn(api, 150)
    assert holds(api) == []
    turn(api, 150)

    (hold,) = api.get("/api/holds")["holds"]
    assert (hold["kind"], said in hold["reason"], hold["until"] is not None) == ("run_rate", True, True)
    assert start(api).json["code"] == "dispatch_held"
    assert cards(api) == []
    with time_machine.travel(timedelta(minutes=61), tick=True):
        assert holds(api) == []
        api.post(f"/api/work-items/{work}/claim", {"owner": "s-2"})


def test_no_more_agents_run_at_once_than_the_workspace_allows(capped: Capped) -> None:
    api = capped(max_parallel=3)

    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(lambda _: start(api), range(8)))

    assert sorted(answer.status for answer in answers) == [200] * 3 + [409] * 5
    said = next(answer.json["detail"] for answer in answers if answer.status == 409)
    assert "3 agents run at once, and the cap is 3" in said
    assert holds(api) == []  # one that runs may still take the next item
    with api.app.database.transaction() as tx:
        tx.connection.execute(runs.update().values(ended_at=tx.now))
    assert start(api).status == 200


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[caps]\nmax_parallel = -1\n", 2, "max_parallel"),
        ("[work]\n\n[caps]\ntokens_per_hour = 'many'\n", 4, "tokens_per_hour"),
        ("[caps]\nturns_per_hour = 1.5\n", 2, "turns_per_hour"),
        ("[caps]\nno_progress_seconds = 5\n", 2, "no_progress_seconds"),
    ],
)
def test_a_cap_that_is_none_is_named_with_its_line(workspace: Path, text: str, line: int, said: str) -> None:
    opened = Workspace(workspace)
    opened.settings_file.write_text(text)

    with pytest.raises(Invalid, match=rf"workspace\.toml:{line}: \[caps\].*{said}"):
        read_settings(opened)


def test_without_caps_nothing_is_held(api: Api, app: App) -> None:
    turn(api, 10**9)
    turn(api, 10**9)

    assert (holds(api), cards(api)) == ([], [])
    api.post(f"/api/work-items/{item(app)}/claim", {"owner": "s-1"})


# ---- the days --------------------------------------------------------------------------------------------------------


def test_the_days_tell_what_was_used_begun_and_asked(api: Api, app: App) -> None:
    turn(api, 40)
    turn(api, 2)
    api.post("/api/dispatches", {"goal": "one"})
    (app.workspace.folder / "agents.toml").write_text(SLEEPER)
    assert start(api).status == 200
    asked = api.ask("Which port?", kind="blocker", session="s-9")
    api.ask("Which name?", session="s-9")
    api.post(f"/api/escalations/{asked}/respond", {"text": "80"})

    found = api.get("/api/insights?days=3")["days"]

    assert len(found) == 3
    before, today = found[-2], found[-1]
    assert (today["tokens"], today["turns"], today["dispatched"]) == (42, 2, 2)
    assert (today["asked"], today["answered"]) == (2, 1)
    assert 0 <= today["to_answer_p50"] < 60
    assert 0 < today["blocked_minutes"] < 1
    assert (before["tokens"], before["asked"], before["to_answer_p50"]) == (0, 0, None)
    for days in (0, 367, "x"):
        assert api.request("GET", f"/api/insights?days={days}").status in (400, 422)
