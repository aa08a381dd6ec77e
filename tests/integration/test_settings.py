"""The settings' files over the API, on both databases: what they say, what is wrong with a text, and what is saved."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gemba.app import App
from gemba.operators import add_operator
from gemba.settings.file import FILES
from gemba.settings.store import SaveSettings, read_text, save_settings
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs
from tests.fixtures.servers import Answer

WORKSPACE = """\
[consults]
timeout_seconds = 300

[channels.phone]
url = "ntfys://user:secret-word@host/topic"

[[policy]]
name = "urgent"
urgency = "blocking"
remind_after = "10m"
notify = ["phone"]
"""


@pytest.fixture
def folder(workspace: Path) -> Path:
    folder = workspace / ".gemba"
    (folder / "workspace.toml").write_text(WORKSPACE)
    return folder


@pytest.fixture
def maria(folder: Path, api: Api) -> dict[str, str]:
    """The headers of an added operator."""
    return {"Authorization": f"Bearer {add_operator(folder / 'operators', 'maria')}"}


def save(api: Api, file: str, text: str, digest: str, **headers: str) -> Answer:
    return api.request("PUT", f"/api/settings/{file}", {"text": text, "digest": digest}, **headers)


def digest_of(api: Api, file: str) -> str:
    digest: str = api.get(f"/api/settings/{file}")["file"]["digest"]
    return digest


def said(view: dict[str, Any], name: str) -> tuple[str, str, int | None]:
    (found,) = (each for each in view["said"] if each["name"] == name)
    return found["value"], found["file"], found["line"]


def test_everything_that_the_files_say_has_its_line_and_nothing_secret_is_told(folder: Path, api: Api) -> None:
    (folder / "agents.toml").write_text(
        '\n[agent.reviewer]\ncommand = ["cat"]\nenvironment = { KEY = "secret-word" }\n'
    )
    answer = api.request("GET", "/api/settings")

    assert said(answer.json, "consults.timeout_seconds") == ("300", "workspace.toml", 2)
    assert said(answer.json, "phone") == ("ntfys://…", "workspace.toml", 4)
    assert said(answer.json, "urgent") == ("blocking; reminds phone after 10m", "workspace.toml", 7)
    assert said(answer.json, "caps.turns_per_hour") == ("0", "workspace.toml", None)
    assert said(answer.json, "reviewer")[1:] == ("agents.toml", 2)
    assert said(answer.json, "claude")[2] is None
    assert {each["part"] for each in answer.json["said"]} >= {"modes", "policies", "channels", "budgets", "agents"}
    assert [file["name"] for file in answer.json["files"]] == list(FILES)
    assert answer.json["may_edit"] is True
    # What the server was started with.
    new = "nothing: it is new"
    assert answer.json["waiting"] == {"consults.timeout_seconds": "600", "phone": new, "urgent": new}
    assert b"secret-word" not in answer.body


def test_a_text_is_checked_line_by_line_and_what_would_change_is_told(folder: Path, api: Api) -> None:
    body = {"file": "workspace.toml", "text": WORKSPACE.replace("300", "0").replace('["phone"]', '["fone"]')}
    wrong = api.post("/api/settings/check", body)
    assert [finding["line"] for finding in wrong["findings"]] == [2, 11]

    right = api.post("/api/settings/check", {**body, "text": WORKSPACE.replace("300", "120") + 'expire_after = "8h"\n'})
    assert right["findings"] == []
    assert right["changes"] == [
        {"name": "consults.timeout_seconds", "before": "300", "after": "120"},
        {
            "name": "urgent",
            "before": "blocking; reminds phone after 10m",
            "after": "blocking; reminds phone after 10m; ends after 8h",
        },
    ]
    assert (folder / "workspace.toml").read_text() == WORKSPACE
    assert right["digest"] == digest_of(api, "workspace.toml")


FAULTS = (
    ("workspace.toml", "[caps]\nmany = 1\n", 2),
    ("workspace.toml", '[[policy]]\nname = "x"\n', 1),
    ("agents.toml", "\n[agent.x]\ncommand = ''\n", 3),
    ("approvals.toml", '[[rule]]\nprogram = "make"\nclass = "T9"\n', 3),
    ("context.toml", "[section.a]\npaths = 7\n", 2),
    ("team.toml", "[capability.cook]\nrun = 'x'\n", 1),
    ("team.toml", "= \n", 1),
)


def test_a_file_with_a_fault_is_not_saved(folder: Path, api: Api) -> None:
    for file, text, line in FAULTS:
        before = digest_of(api, file)
        answer = save(api, file, text, before)

        assert (answer.status, answer.json["code"]) == (422, "settings_invalid")
        assert answer.json["findings"][0]["line"] == line
        assert f".gemba/{file}:{line}: " in answer.json["detail"]
        assert digest_of(api, file) == before


def test_a_saved_file_keeps_its_mode_is_told_of_and_counts(folder: Path, api: Api, logs: Logs) -> None:
    path = folder / "agents.toml"
    path.write_text("")
    path.chmod(0o600)
    text = '[agent.reviewer]\ncommand = ["cat"]\n'
    answer = save(api, "agents.toml", text, digest_of(api, "agents.toml"))

    assert (answer.status, answer.json["changed"]) == (200, True)
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600
    assert "reviewer" in [agent["name"] for agent in api.get("/api/agents")["agents"]]
    (told,) = logs.told("settings.changed")
    assert told.ref == "agents.toml"
    assert not [left for left in folder.iterdir() if "partial" in left.name]


def test_a_file_that_is_not_there_is_written_and_the_same_again_changes_nothing(
    folder: Path, api: Api, logs: Logs
) -> None:
    text = "# Mine\n\n## balanced\n\nAsk.\n"
    assert digest_of(api, "interaction_profile.md") == ""
    assert save(api, "interaction_profile.md", text, "").json["changed"] is True
    again = save(api, "interaction_profile.md", text, digest_of(api, "interaction_profile.md"))

    assert (again.status, again.json["changed"]) == (200, False)
    assert len(logs.told("settings.changed")) == 1


def test_a_file_that_changed_since_it_was_read_is_left_alone(folder: Path, api: Api) -> None:
    before = digest_of(api, "workspace.toml")
    (folder / "workspace.toml").write_text("[caps]\nmax_parallel = 3\n")
    answer = save(api, "workspace.toml", "", before)

    assert (answer.status, answer.json["code"]) == (409, "settings_changed")
    assert (folder / "workspace.toml").read_text() == "[caps]\nmax_parallel = 3\n"
    assert save(api, "team.toml", "", "0" * 64).status == 409


def test_of_two_who_save_at_once_one_does(folder: Path, api: Api) -> None:
    before = digest_of(api, "workspace.toml")
    start = threading.Barrier(4)

    def attempt(number: int) -> int:
        start.wait()
        return save(api, "workspace.toml", f"[caps]\nmax_parallel = {number + 1}\n", before).status

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(attempt, range(4)))
    assert statuses == [200, 409, 409, 409]


def test_what_a_crash_left_between_the_file_and_its_event_is_made_up_for(app: App, folder: Path) -> None:
    body = SaveSettings(text="[caps]\nmax_parallel = 3\n", digest=_digest(app))

    def save_and_end() -> None:
        with app.database.transaction() as tx:
            assert save_settings(tx, body, file="workspace.toml").changed
            raise RuntimeError("the process ends here")

    with pytest.raises(RuntimeError):
        save_and_end()
    assert (folder / "workspace.toml").read_text() == body.text

    with app.database.transaction() as tx:
        assert save_settings(tx, body, file="workspace.toml").changed
        assert [draft.name for draft in tx.drafts] == ["settings.changed"]


def _digest(app: App) -> str:
    return read_text(app.workspace, "workspace.toml", "operator").file.digest


def test_nothing_but_the_known_files_is_read_or_written(folder: Path, api: Api) -> None:
    for file in ("token", "gemba.db", "operators", "..%2FREADME.md", "%2e%2e", "personas%2Fx.toml", "team.toml%00"):
        assert api.request("GET", f"/api/settings/{file}").status == 404
        assert save(api, file, "x", "").status in (404, 405)
    assert api.request("POST", "/api/settings/check", {"file": "token", "text": ""}).status == 404


def test_a_link_is_neither_followed_nor_replaced(folder: Path, api: Api, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (folder / "team.toml").symlink_to(outside)

    assert api.request("GET", "/api/settings/team.toml").json["code"] == "settings_no_file"
    assert save(api, "team.toml", "", "").status == 503
    assert outside.read_text() == "mine"
    assert (folder / "team.toml").is_symlink()


def test_an_added_operator_sees_what_the_files_say_and_neither_reads_nor_saves_one(
    folder: Path, api: Api, maria: dict[str, str]
) -> None:
    view = api.request("GET", "/api/settings", **maria)
    assert (view.status, view.json["may_edit"]) == (200, False)
    assert api.request("GET", "/api/settings/workspace.toml", **maria).json["code"] == "operator_refused"
    refused = save(api, "workspace.toml", "", digest_of(api, "workspace.toml"), **maria)
    assert (refused.status, refused.json["code"]) == (403, "operator_refused")
    assert api.request("POST", "/api/settings/check", {"file": "team.toml", "text": ""}, **maria).status == 403
    assert (folder / "workspace.toml").read_text() == WORKSPACE
