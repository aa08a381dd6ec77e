"""Over HTTP: everything that is refused or fails leaves as a problem, and shows nothing of the inside."""

import http.client
import json
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import literal, select, text, update
from structlog.testing import capture_logs

from gemba.api.problem import TITLES
from gemba.app import App
from gemba.errors import Invalid
from gemba.escalations.store import escalations
from gemba.store.database import connect
from tests.fixtures.api import Api, converse
from tests.fixtures.servers import Answer, RunningServer

MIB = 1024 * 1024


def assert_problem(answer: Answer, status: int, code: str) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json
    assert (answer.status, told["status"], told["code"]) == (status, status, code), told
    assert (told["type"], told["title"]) == ("about:blank", TITLES[status])
    assert told["detail"]


def signed(api: Api) -> tuple[str, str]:
    return f"Host: {urlsplit(api.url).netloc}", f"Authorization: Bearer {api.token}"


# ---- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_that_is_not_json_is_a_bad_request(api: Api) -> None:
    path = f"/api/escalations/{api.ask()}/respond"

    for body in (
        b"{",
        b"nonsense",
        b'{"text": "\xff"}',
        b'{"text": NaN}',
        b'{"text": "a"} {}',
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
    ):
        assert_problem(api.request("POST", path, body), 400, "malformed_json")


def test_an_id_that_no_database_takes_is_refused_with_its_place(api: Api) -> None:
    ids = [api.ask(), "a\0b"]

    for path, body, pointer in (
        ("/api/escalations/respond", {"ids": ids, "text": "yes"}, "/ids/1"),
        ("/api/escalations/reopen", {"ids": ids}, "/ids/1"),
        ("/api/rules", {"escalation_id": "\0", "text": "yes"}, "/escalation_id"),
    ):
        refused = api.request("POST", path, body)
        assert_problem(refused, 422, "invalid_value")
        assert refused.json["pointer"] == pointer
    assert api.get("/api/escalations")["escalations"][0]["state"] == "open"


def test_a_text_that_reaches_the_database_with_a_nul_is_the_senders_fault(app: App) -> None:
    with app.database.read() as connection:
        if connection.dialect.name == "sqlite":
            assert connection.execute(select(literal("a\0b") == "a\0b")).scalar()
        else:
            with pytest.raises(Invalid, match="a text has a NUL"):
                connection.execute(select(literal("a\0b")))


def test_a_document_that_does_not_fit_is_told_where_what_and_what_would(api: Api) -> None:
    path = f"/api/escalations/{api.ask()}/respond"

    unknown = api.request("POST", path, {"text": "a", "to/o~": 1})
    assert_problem(unknown, 422, "unknown_field")
    assert unknown.json["pointer"] == "/to~1o~0"
    assert (unknown.json["found"], unknown.json["allowed"]) == (
        "to/o~",
        ["text", "option", "value", "decision", "action", "hold"],
    )

    wrong = api.request("POST", path, {"text": ["a"]})
    assert_problem(wrong, 422, "wrong_type")
    assert (wrong.json["pointer"], wrong.json["found"], wrong.json["allowed"]) == ("/text", "a list", "text")

    missing = api.request("POST", f"/api/assumptions/{api.assume()}/overturn", {})
    assert_problem(missing, 422, "missing_field")
    assert (missing.json["pointer"], missing.json["allowed"]) == ("/text", "text")


def test_what_was_found_is_shown_cut(api: Api) -> None:
    refused = api.request("POST", f"/api/escalations/{api.ask()}/respond", {"decision": "x" * 10_000})

    assert refused.json["found"] == "x" * 200 + "…"


def test_another_media_type_is_refused_and_json_s_parameters_are_not(api: Api) -> None:
    path = f"/api/escalations/{api.ask()}/ack"

    for media in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        refused = api.request("POST", path, b"{}", Content_Type=media)
        assert_problem(refused, 415, "wrong_media_type")
        assert (refused.json["found"], refused.json["allowed"]) == (media, "application/json")
    assert api.request("POST", path, b"{}", Content_Type="Application/JSON; charset=utf-8").status == 200


def test_no_body_is_an_empty_object(api: Api) -> None:
    assert api.request("POST", f"/api/escalations/{api.ask()}/ack", Content_Type="").status == 200
    assert_problem(api.request("POST", f"/api/escalations/{api.ask()}/respond"), 422, "missing_field")


def test_a_body_that_is_declared_too_large_is_refused_before_it_is_sent(api: Api) -> None:
    answer = converse(
        api.url,
        f"POST /api/escalations/{api.ask()}/respond HTTP/1.1",
        *signed(api),
        "Content-Type: application/json",
        "X-GEMBA-Confirm: one",
        f"Content-Length: {MIB + 1}",
    )

    assert_problem(answer, 413, "body_too_large")
    assert (answer.json["found"], answer.json["allowed"]) == (MIB + 1, MIB)


def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_large(api: Api) -> None:
    id = api.ask()
    answer = converse(
        api.url,
        f"POST /api/escalations/{id}/respond HTTP/1.1",
        *signed(api),
        "Content-Type: application/json",
        "X-GEMBA-Confirm: one",
        "Transfer-Encoding: chunked",
        # The last chunk never comes: it is not waited for.
        body=b"%x\r\n%s\r\n" % (MIB + 1, b" " * (MIB + 1)),
    )

    assert_problem(answer, 413, "body_too_large")
    assert api.get(f"/api/escalations/{id}")["state"] == "open"


def test_a_body_of_just_the_limit_is_taken_with_and_without_a_length(api: Api) -> None:
    body = b'{"text": "yes"}'.ljust(MIB)
    assert api.request("POST", f"/api/escalations/{api.ask()}/respond", body).status == 200

    with closing(http.client.HTTPConnection(urlsplit(api.url).netloc)) as connection:
        headers = {
            "Authorization": f"Bearer {api.token}",
            "Content-Type": "application/json",
            "X-GEMBA-Confirm": "chunked",
        }
        connection.request("POST", f"/api/escalations/{api.ask()}/respond", iter([body]), headers, encode_chunked=True)
        assert connection.getresponse().status == 200


# ---- paths and methods -----------------------------------------------------------------------------------------------


def test_an_unknown_path_is_not_found_by_any_method(api: Api) -> None:
    for path in ("/api", "/api/", "/api/nothing", "/api/escalations/", "/api/escalations/1/explode"):
        for method in ("GET", "POST", "DELETE"):
            assert_problem(api.request(method, path), 404, "not_found")


def test_a_wrong_method_is_told_which_ones_are_allowed(api: Api) -> None:
    for method, path, allow in (
        ("POST", "/api/escalations", {"GET", "HEAD"}),
        ("DELETE", "/api/escalations/1", {"GET", "HEAD"}),
        ("GET", "/api/escalations/1/respond", {"POST"}),
        ("PUT", "/api/escalations/1/respond", {"POST"}),
        ("POST", "/api/events", {"GET", "HEAD"}),
        ("POST", "/api/openapi.json", {"GET", "HEAD"}),
        ("OPTIONS", "/api/escalations", {"GET", "HEAD"}),
        ("OPTIONS", "/api/escalations/1/respond", {"POST"}),
        ("POST", "/", {"GET", "HEAD"}),
    ):
        refused = api.request(method, path)
        assert_problem(refused, 405, "method_not_allowed")
        assert set(refused.headers["allow"].split(", ")) == allow


def test_head_answers_as_get_would_without_a_body(api: Api) -> None:
    for path in ("/api/escalations", "/api/events", "/api/health", "/api/openapi.json"):
        answer = api.request("HEAD", path)
        media = "text/event-stream; charset=utf-8" if path == "/api/events" else "application/json"
        assert (answer.status, answer.headers["content-type"], answer.body) == (200, media, b"")


# ---- failures --------------------------------------------------------------------------------------------------------


def test_a_row_that_cannot_be_read_is_an_internal_error_that_shows_nothing(api: Api) -> None:
    id = api.ask("a secret question")
    with api.app.database.transaction() as tx:
        tx.connection.execute(update(escalations).values(options="no JSON, but /etc/secret"))

    with capture_logs() as logged:
        answers = [
            api.request("GET", f"/api/escalations/{id}"),
            api.request("GET", "/api/escalations"),
            api.request("POST", f"/api/escalations/{id}/respond", {"text": "x"}),
        ]

    assert [line["event"] for line in logged if line["log_level"] == "error"] == ["unexpected error"] * 3
    for failed in answers:
        assert_problem(failed, 500, "internal")
        assert failed.json["detail"] == "something went wrong inside; the server's log has it"
        assert set(failed.json) == {"type", "title", "status", "code", "detail"}


def test_a_broken_database_opens_no_gate_and_what_people_wrote_stays_out_of_the_log(
    server: RunningServer, database_url: str
) -> None:
    stream = server.events()
    server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "a secret question"})
    id = stream.until("escalation_opened")["data"]["ref"]
    database = connect(database_url or f"sqlite:///{server.workspace}/.gemba/gemba.db")
    with database.transaction() as tx:
        tx.connection.execute(text("drop table replies"))
    database.close()
    respond, answer = f"/api/escalations/{id}/respond", {"text": "a secret answer"}

    failed = server.request("POST", respond, answer)

    # SQLite calls a table that is gone an operational error, PostgreSQL a programming error.
    assert (failed.status, failed.json["code"]) in ((503, "database"), (500, "internal"))
    assert_shows_nothing(failed.json)
    assert server.request("POST", respond, answer, Authorization="").status == 401
    assert server.request("POST", respond, answer, Host="evil.example").status == 421
    assert server.request("POST", respond, answer, Origin="http://evil.example").status == 403
    assert server.request("POST", respond, answer, X_GEMBA_Confirm="").status == 428
    assert server.get(f"/api/escalations/{id}")["state"] == "open"
    code, errors = server.stop()
    assert code == 0
    assert "replies" in errors
    assert "secret" not in errors
    assert server.token not in errors


def assert_shows_nothing(document: Any) -> None:
    shown = json.dumps(document).lower()
    for word in ("replies", "select", "insert", "sqlite", "psycopg", "traceback", ".py", "/", "secret"):
        assert word not in shown.replace("about:blank", "")
