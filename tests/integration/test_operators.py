"""Operators by name: a token each, who acted is recorded on both databases, and they come and go without a restart."""

import http.client
import json
import socket
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gemba.errors import Invalid, Unusable
from gemba.operators import Operators, add_operator, list_operators, remove_operator, token_of
from gemba.testing import retry_until
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator
from tests.fixtures.servers import RunningServer

TOKEN = "t" * 43


def add(api: Api, name: str) -> str:
    return add_operator(api.app.workspace.operators_folder, name)


def me(api: Api, token: str) -> Any:
    return api.request("GET", "/api/me", Authorization=f"Bearer {token}")


# ---- over HTTP -------------------------------------------------------------------------------------------------------


def test_the_workspace_s_own_token_is_the_operator_s(api: Api) -> None:
    assert api.get("/api/me") == {"operator": "operator"}


def test_one_who_is_added_may_act_at_once_and_one_who_is_removed_no_more(api: Api) -> None:
    folder = api.app.workspace.operators_folder
    for _ in range(3):  # within one tick of the file system's clock
        token = add(api, "maria")
        assert me(api, token).json == {"operator": "maria"}
        assert api.get("/api/me") == {"operator": "operator"}
        remove_operator(folder, "maria")
        refused = me(api, token)
        assert (refused.status, refused.json["code"]) == (401, "token_wrong")


def test_what_somebody_answers_is_recorded_as_theirs(api: Api) -> None:
    token = add(api, "maria")
    for who, given in (("operator", api.token), ("maria", token)):
        id = api.ask(f"Which port, {who}?")
        answered = api.request(
            "POST", f"/api/escalations/{id}/respond", {"text": "8080"}, Authorization=f"Bearer {given}"
        )
        assert answered.json["resolution"]["who"] == who
        assert api.get(f"/api/escalations/{id}")["resolution"]["who"] == who


def test_a_confirm_id_of_one_is_not_the_other_s(api: Api) -> None:
    token, id = add(api, "maria"), api.ask()
    path, body = f"/api/escalations/{id}/respond", {"text": "8080"}

    first = api.request("POST", path, body, X_GEMBA_Confirm="once")
    again = api.request("POST", path, body, X_GEMBA_Confirm="once")
    other = api.request("POST", path, body, X_GEMBA_Confirm="once", Authorization=f"Bearer {token}")

    assert (first.status, again.json) == (200, first.json)
    assert (other.status, other.json["code"]) == (422, "confirm_reused")


def test_an_open_stream_ends_when_its_operator_is_removed_and_others_go_on(api: Api) -> None:
    owner = api.events()
    own, api.token = api.token, add(api, "maria")
    stream = api.events()
    api.token = own
    api.ask("first")
    assert stream.until("escalation_opened")["data"]["session_id"] == "session-1"

    remove_operator(api.app.workspace.operators_folder, "maria")
    api.ask("second")

    with pytest.raises(EOFError):
        stream.until("escalation_opened")
    assert [owner.until("escalation_opened")["data"]["payload"]["text"] for _ in range(2)] == ["first", "second"]


def test_health_wants_no_token_and_me_does(api: Api) -> None:
    assert api.request("GET", "/api/health", Authorization="").status == 200
    assert api.request("GET", "/api/me", Authorization="").json["code"] == "token_missing"


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "operators"


def test_a_token_is_private_and_of_its_own(folder: Path) -> None:
    tokens = {add_operator(folder, name) for name in ("maria", "ada", "x" * 32)}

    assert {len(token) for token in tokens} == {43}
    assert len(tokens) == 3
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_a_token_that_others_can_read_or_that_is_none_counts_for_nothing(folder: Path) -> None:
    operators = Operators(TOKEN, folder)
    shared = add_operator(folder, "shared")
    (folder / "shared").chmod(0o644)
    for name, text in (("empty", ""), ("short", "secret"), ("two", "a" * 43 + "\n" + "b" * 43)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    (folder / "linked").symlink_to(folder / "short")
    (folder / "NOT A NAME").write_text("n" * 43)
    (folder / "NOT A NAME").chmod(0o600)

    assert [operators.name_of(text.encode()) for text in (shared, "", "secret", "a" * 43, "n" * 43)] == [None] * 5
    assert operators.name_of(TOKEN.encode()) == "operator"
    assert {listed.name for listed in list_operators(folder) if listed.problem} == {
        *("empty", "linked", "shared", "short", "two"),
    }


def test_a_folder_that_others_can_write_to_or_that_leads_elsewhere_counts_for_nothing(
    folder: Path, tmp_path: Path
) -> None:
    token = add_operator(folder, "maria").encode()
    assert Operators(TOKEN, folder).name_of(token) == "maria"
    folder.chmod(0o777)
    assert Operators(TOKEN, folder).name_of(token) is None
    folder.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(folder)

    assert Operators(TOKEN, link).name_of(token) is None
    with pytest.raises(Unusable):
        add_operator(link, "ada")


def test_what_is_changed_counts_at_once(folder: Path) -> None:
    operators = Operators(TOKEN, folder)
    token = add_operator(folder, "maria").encode()
    # What was changed long ago: its time differs from any that a change now would give it.
    retry_until(lambda: folder.stat().st_ctime_ns < time.time_ns() - 1_100_000_000)
    assert operators.name_of(token) == "maria"

    (folder / "maria").chmod(0o644)  # readable by others
    assert operators.name_of(token) is None
    (folder / "maria").chmod(0o600)
    assert operators.name_of(token) == "maria"
    (folder / "maria").write_text("other" * 10)  # in place: the folder itself stays as it is
    assert operators.name_of(token) is None
    assert operators.name_of(b"other" * 10) == "maria"


# ---- on the unix socket ----------------------------------------------------------------------------------------------


def over_unix_socket(path: Path, target: str, *headers: str) -> tuple[int, Any]:
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.connect(str(path))
        connection.sendall("\r\n".join([f"GET {target} HTTP/1.1", "Host: x", *headers, "", ""]).encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def test_on_the_unix_socket_a_token_only_says_who_it_is(sqlite_server: RunningServer) -> None:
    path = sqlite_server.workspace / ".gemba/gemba.sock"
    token = add_operator(sqlite_server.workspace / ".gemba/operators", "maria")

    assert over_unix_socket(path, "/api/me") == (200, {"operator": "operator"})
    assert over_unix_socket(path, "/api/me", f"Authorization: Bearer {token}") == (200, {"operator": "maria"})
    status, refused = over_unix_socket(path, "/api/me", "Authorization: Bearer nonsense")
    assert (status, refused["code"]) == (401, "token_wrong")


# ---- gemba operator --------------------------------------------------------------------------------------------------


def test_an_operator_is_added_listed_and_removed(operator: Operator) -> None:
    address = json.loads(operator.ok("operator", "add", "maria", "--json"))["address"]
    url, _, token = address.partition("/#token=")

    listed = json.loads(operator.ok("operator", "list", "--json"))["operators"]
    shown = operator.ok("operator")
    if operator.server is not None:
        assert url == operator.server.url
        operator.server.token = token
        assert operator.server.get("/api/me") == {"operator": "maria"}
    assert [(row["name"], row["problem"]) for row in listed] == [("operator", None), ("maria", None)]
    assert shown.splitlines()[1].startswith("maria     since ")
    assert token not in shown + json.dumps(listed)

    assert operator.ok("operator", "remove", "maria") == "removed maria\n"
    assert "no added operator named maria" in operator.refused("operator", "remove", "maria")
    if operator.server is not None:
        assert operator.server.request("GET", "/api/me").status == 401


def test_commands_act_as_the_operator_that_the_environment_names(operator: Operator) -> None:
    operator.ok("operator", "add", "maria")
    first, second = operator.ask(text="Which port?"), operator.ask(text="Which host?")

    operator.ok("answer", first, "8080", GEMBA_OPERATOR="maria")
    operator.ok("answer", second, "localhost", GEMBA_OPERATOR="")

    who = {id: json.loads(operator.ok("inbox", id, "--json"))["resolution"]["who"] for id in (first, second)}
    assert who == {first: "maria", second: "operator"}


def test_an_operator_nobody_knows_is_refused_in_one_line(operator: Operator) -> None:
    for name, words in (("nobody", "no operator named nobody; it has operator,"), ("../token", "no operator's name")):
        assert words in operator.refused("inbox", GEMBA_OPERATOR=name)


@pytest.mark.parametrize("name", ["", "Maria", "a/b", "..", "é", "x" * 33, "a b", "a\n"])
def test_a_name_that_is_none_is_refused_before_anything_is_made(folder: Path, name: str) -> None:
    for use in (add_operator, remove_operator, token_of):
        with pytest.raises(Invalid, match="no operator's name"):
            use(folder, name)
    assert not folder.exists()


def test_the_name_of_the_operator_that_every_workspace_has_is_taken(alone: Operator) -> None:
    assert "every workspace has" in alone.refused("operator", "add", "operator")


def test_adding_twice_shows_no_second_token(alone: Operator) -> None:
    alone.ok("operator", "add", "maria")
    before = (alone.workspace / ".gemba/operators/maria").read_text()

    assert "already" in alone.refused("operator", "add", "maria")
    assert (alone.workspace / ".gemba/operators/maria").read_text() == before


def test_the_page_opens_as_the_operator_that_the_environment_names(served: Operator) -> None:
    address = json.loads(served.ok("operator", "add", "maria", "--json"))["address"]

    assert served.ok("open", "--print", GEMBA_OPERATOR="maria").strip() == address
    assert served.server is not None
    assert served.ok("open", "--print").strip() == served.server.address
