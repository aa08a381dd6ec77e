"""Who may talk to the server: every refusal has a status and a code of its own, and every answer its headers."""

import http.client
import json
import os
import re
import socket
import ssl
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gemba.api.server import Bind
from gemba.errors import Unusable
from tests.fixtures.api import Api, converse
from tests.fixtures.servers import BIN, Answer, RunningServer

StartServer = Callable[..., RunningServer]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """Nothing here depends on the kind of database."""
    return sqlite_url


def refused(answer: Answer, status: int, code: str) -> bool:
    return (answer.status, answer.json["code"], answer.json["status"]) == (status, code, status)


# ---- Host and Origin -------------------------------------------------------------------------------------------------


def test_a_host_that_is_not_ours_is_refused(api: Api) -> None:
    port = urlsplit(api.url).port
    for host in (
        "evil.example",
        f"evil.example:{port}",  # a name that was bound again to 127.0.0.1
        f"127.0.0.1.evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"localhost:{(port or 0) + 1}",
        "127.0.0.1",
        f"127.0.0.2:{port}",
        f"0.0.0.0:{port}",
        f"localhost:{port}@evil.example",
        "",
    ):
        answer = converse(
            api.url, "GET /api/escalations HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {api.token}"
        )
        assert refused(answer, 421, "host_refused"), host


def test_the_page_and_the_public_reads_want_the_right_host_too(api: Api) -> None:
    for path in ("/", "/index.html", "/assets/x.js", "/api/health", "/api/version", "/api/openapi.json"):
        assert refused(api.request("GET", path, Host="evil.example"), 421, "host_refused")


def test_a_request_without_a_host_is_refused(api: Api) -> None:
    old = converse(api.url, "GET /api/health HTTP/1.0")
    assert refused(old, 421, "host_refused")
    assert converse(api.url, "GET /api/health HTTP/1.1").status == 400


def test_a_request_with_two_hosts_is_refused(api: Api) -> None:
    netloc = urlsplit(api.url).netloc
    assert converse(api.url, "GET /api/health HTTP/1.1", f"Host: {netloc}", "Host: evil.example").status == 400


@pytest.mark.parametrize("target", ["http://evil.example/api/escalations", "{url}/api/escalations", "*"])
def test_a_target_that_is_no_path_is_refused(api: Api, target: str) -> None:
    answer = converse(
        api.url,
        f"GET {target.format(url=api.url)} HTTP/1.1",
        f"Host: {urlsplit(api.url).netloc}",
        f"Authorization: Bearer {api.token}",
    )

    assert refused(answer, 400, "target_refused")


def test_every_loopback_name_of_ours_is_answered(api: Api) -> None:
    port = urlsplit(api.url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert api.request("GET", "/api/escalations", Host=host, Origin=f"http://{host}").status == 200


def test_another_page_s_origin_is_refused_and_so_is_none_that_can_be_named(api: Api) -> None:
    port = urlsplit(api.url).port
    for origin in (
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{(port or 0) + 1}",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://127.0.0.1:{port}/",
        "file://",
    ):
        for method, path in (("GET", "/api/escalations"), ("POST", "/api/escalations/1/ack"), ("GET", "/api/health")):
            assert refused(api.request(method, path, Origin=origin), 403, "origin_refused"), origin


def test_no_answer_lets_another_origin_read_it(api: Api) -> None:
    preflight = api.request(
        "OPTIONS", "/api/escalations", Origin="http://evil.example", Access_Control_Request_Method="POST"
    )

    assert refused(preflight, 403, "origin_refused")
    for answer in (preflight, api.request("GET", "/api/escalations", Origin=api.url)):
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


# ---- the token -------------------------------------------------------------------------------------------------------


def test_everything_but_the_page_and_the_public_reads_wants_the_token(api: Api) -> None:
    for method, path in (
        ("GET", "/api/escalations"),
        ("GET", "/api/escalations/1"),
        ("GET", "/api/assumptions"),
        ("GET", "/api/sessions"),
        ("GET", "/api/doctor"),
        ("GET", "/api/events"),
        ("POST", "/api/escalations/1/respond"),
        ("POST", "/api/assumptions/1/overturn"),
        ("GET", "/api/unknown"),
        ("DELETE", "/api/health/"),
        ("GET", "/api"),
        ("GET", "/%61pi/escalations"),
        ("GET", "/api%2Fescalations"),
        ("GET", "/api/health/../escalations"),
    ):
        missing = api.request(method, path, Authorization="")
        assert refused(missing, 401, "token_missing"), path
        assert missing.headers["www-authenticate"] == "Bearer"


def test_a_wrong_token_is_refused_in_every_disguise(api: Api) -> None:
    for given in (
        "Bearer wrong",
        f"Bearer {api.token}x",
        f"Bearer {api.token[:-1]}",
        f"Bearer  {api.token}",
        f"Basic {api.token}",
        f"Bearer Bearer {api.token}",
        "Bearer ü",
    ):
        assert refused(api.request("GET", "/api/escalations", Authorization=given), 401, "token_wrong"), given
    for given in ("Bearer", api.token):
        assert refused(api.request("GET", "/api/escalations", Authorization=given), 401, "token_missing"), given
    assert api.request("GET", "/api/escalations", Authorization=f"bearer {api.token}").status == 200


def test_a_token_in_the_address_or_in_a_cookie_counts_for_nothing(api: Api) -> None:
    for query in (f"?token={api.token}", f"?access_token={api.token}"):
        assert refused(api.request("GET", f"/api/escalations{query}", Authorization=""), 401, "token_missing")
        assert api.request("GET", f"/api/escalations{query}").status == 422
    cookie = api.request("GET", "/api/escalations", Authorization="", Cookie=f"token={api.token}")
    assert refused(cookie, 401, "token_missing")


def test_the_refusals_come_in_one_order(api: Api) -> None:
    wrong = {"Host": "evil.example", "Origin": "null", "Authorization": "Bearer wrong", "X_GEMBA_Confirm": ""}
    codes = []
    while wrong:
        codes.append(api.request("POST", "/api/escalations/1/ack", {}, **wrong).json["code"])
        del wrong[next(iter(wrong))]

    assert codes == ["host_refused", "origin_refused", "token_wrong", "confirm_missing"]


# ---- what every answer carries ---------------------------------------------------------------------------------------


def test_every_answer_carries_the_security_headers(api: Api) -> None:
    for answer in (
        api.request("GET", "/"),
        api.request("GET", "/api/health"),
        api.request("GET", "/api/escalations"),
        api.request("HEAD", "/api/events"),
        api.request("GET", "/api/escalations", Host="evil.example"),
        api.request("GET", "/api/escalations", Authorization=""),
        api.request("GET", "/api/unknown"),
        api.request("PUT", "/api/escalations"),
        api.request("POST", "/api/escalations/1/ack", b"{"),
    ):
        headers = {name.lower(): value for name, value in answer.headers.items()}
        policy = headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
        assert "set-cookie" not in headers


def test_nothing_that_the_api_answers_is_kept_by_a_cache(api: Api) -> None:
    for path in ("/api/escalations", "/api/health", "/api/unknown", "/api/openapi.json"):
        assert api.request("GET", path).headers["cache-control"] == "no-store"


def test_the_page_s_paths_never_leave_its_folder(api: Api) -> None:
    for path in ("/../asgi.py", "/%2e%2e/asgi.py", "/..%2fasgi.py", "/assets/../../asgi.py", "/assets/%2e%2e/asgi.py"):
        assert b"make_asgi" not in api.request("GET", path).body


# ---- files and sockets -----------------------------------------------------------------------------------------------


def test_the_unix_socket_is_its_owner_s_and_wants_no_token(sqlite_server: RunningServer) -> None:
    path = sqlite_server.workspace / ".gemba" / "gemba.sock"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert over_unix_socket(path, "/api/escalations") == (
        200,
        {"escalations": [], "total": 0, "next_cursor": None, "as_of": 0},
    )
    # Still with a confirm id, and whatever the Host says.
    assert over_unix_socket(path, "/api/escalations/1/ack", "POST")[0] == 428
    sqlite_server.stop()
    assert not path.exists()


def test_token_and_database_are_for_their_owner_s_eyes_alone(sqlite_server: RunningServer) -> None:
    folder = sqlite_server.workspace / ".gemba"

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if file.is_file()}

    assert modes["token"] == 0o600
    assert {modes[name] for name in modes if name.startswith("gemba.db")} == {0o600}
    assert len((folder / "token").read_text().strip()) >= 43


def test_the_token_outlives_a_restart(sqlite_server: RunningServer) -> None:
    before = sqlite_server.token
    sqlite_server.stop()
    sqlite_server.start()

    assert sqlite_server.token == before


def test_the_token_stands_in_no_log_and_not_in_the_server_s_file(sqlite_server: RunningServer) -> None:
    token = sqlite_server.token
    told = (sqlite_server.workspace / ".gemba" / "server.json").read_text()
    sqlite_server.request("GET", f"/api/escalations?token={token}")
    sqlite_server.request("GET", f"/api/unknown/{token}")
    sqlite_server.request("POST", "/api/escalations/1/ack", token.encode())
    converse(sqlite_server.url, f"nonsense {token}")

    _, errors = sqlite_server.stop()

    assert set(json.loads(told)) == {"pid", "url", "socket", "started_at", "version"}
    assert token not in told
    assert token not in errors
    with_token = [file for file in (sqlite_server.workspace / ".gemba").rglob("*") if holds(file, token)]
    assert [file.name for file in with_token] == ["token"]


def test_an_empty_token_is_no_token(sqlite_server: RunningServer) -> None:
    sqlite_server.stop()
    (sqlite_server.workspace / ".gemba" / "token").write_text("\n")

    failed = sqlite_server.gemba("serve", "--port", "0")

    assert (failed.returncode, failed.stdout) == (1, "")
    assert "is empty" in failed.stderr


@pytest.mark.usefixtures("cold_starts")
def test_a_private_file_is_private_whatever_the_umask(workspace: Path, home: Path, start_server: StartServer) -> None:
    before = os.umask(0o000)
    try:
        server = start_server()
    finally:
        os.umask(before)
    folder = server.workspace / ".gemba"

    for name in ("token", "gemba.db", "gemba.sock", "serve.lock"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name


# ---- beyond loopback -------------------------------------------------------------------------------------------------


def test_plain_http_beyond_loopback_is_refused(workspace: Path, home: Path) -> None:
    for host in ("0.0.0.0", "gemba.example"):
        failed = subprocess.run(
            [BIN / "gemba", "serve", "--host", host, "--port", "0"], cwd=workspace, capture_output=True, text=True
        )
        assert (failed.returncode, failed.stdout) == (1, "")
        assert "--tls-cert" in failed.stderr
        assert "--insecure-bind" in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
    assert list((workspace / ".gemba").iterdir()) == []


def test_plain_http_beyond_loopback_when_it_is_meant_still_wants_token_and_host(start_server: StartServer) -> None:
    server = start_server("", "--host", "0.0.0.0", "--insecure-bind", "--allow-host", "gemba.example")
    port = urlsplit(server.url).port
    local = f"http://127.0.0.1:{port}"
    server.url = local

    assert server.get("/api/escalations")["total"] == 0
    assert refused(server.request("GET", "/api/escalations", Authorization=""), 401, "token_missing")
    assert server.request("GET", "/api/escalations", Host=f"gemba.example:{port}").status == 200
    assert server.request("GET", "/api/escalations", Origin=f"http://gemba.example:{port}").status == 200
    assert refused(server.request("GET", "/api/escalations", Host=f"evil.example:{port}"), 421, "host_refused")


def test_tls_covers_tcp_and_leaves_the_commands_their_socket(start_server: StartServer, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    server = start_server("", "--tls-cert", str(cert), "--tls-key", str(key), "--allow-host", "gemba.example")
    assert server.url.startswith("https://127.0.0.1:")
    address = urlsplit(server.url)
    trusting = ssl.create_default_context(cafile=str(cert))

    with closing(http.client.HTTPSConnection("127.0.0.1", address.port, context=trusting, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {server.token}", "Origin": server.url}
        connection.request("GET", "/api/escalations", headers=headers)
        assert connection.getresponse().read() == b'{"escalations":[],"total":0,"next_cursor":null,"as_of":0}'
        connection.request("GET", "/api/escalations")
        assert connection.getresponse().status == 401
    with closing(socket.create_connection(("127.0.0.1", address.port), timeout=30)) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert plain.recv(4)[:4] != b"HTTP"
    shown = server.gemba("inbox", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("broken", ["key missing", "not a certificate", "another's key", "with a passphrase"])
def test_tls_files_that_do_not_work_are_refused_in_one_line(
    broken: str, workspace: Path, home: Path, tmp_path: Path
) -> None:
    cert, key = certificate(tmp_path)
    if broken == "not a certificate":
        cert.write_text("nonsense")
    elif broken == "another's key":
        (tmp_path / "other").mkdir()
        _, key = certificate(tmp_path / "other")
    elif broken == "with a passphrase":
        locked = tmp_path / "locked.pem"
        lock = ["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked)]
        subprocess.run(lock, check=True, capture_output=True)
        key = locked
    arguments = ["--tls-cert", str(cert)] + ([] if broken == "key missing" else ["--tls-key", str(key)])

    failed = subprocess.run(
        [BIN / "gemba", "serve", "--host", "0.0.0.0", "--port", "0", *arguments],
        cwd=workspace,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (failed.returncode, failed.stdout) == (1, "")
    assert "TLS" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_only_loopback_needs_no_word(host: str, is_loopback: bool) -> None:
    bind = Bind(host, 0)
    if is_loopback:
        bind.check()
    else:
        with pytest.raises(Unusable, match="other machines"):
            bind.check()


def test_a_browser_leaves_the_scheme_s_own_port_out() -> None:
    assert {"http://localhost", "http://localhost:80"} <= Bind("localhost", 80).origins(80)
    assert "http://localhost" not in Bind("localhost", 443).origins(443)
    secured = Bind("gemba.example", 443, tls_cert=Path("cert"), tls_key=Path("key"))
    assert secured.origins(443) == {"https://gemba.example", "https://gemba.example:443"}


# ---- tools -----------------------------------------------------------------------------------------------------------


def over_unix_socket(path: Path, target: str, method: str = "GET") -> tuple[int, object]:
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.connect(str(path))
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: whatever\r\n\r\n".encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key, made for this test."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert),
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


def holds(file: Path, words: str) -> bool:
    return file.is_file() and re.search(re.escape(words).encode(), file.read_bytes()) is not None


def test_a_token_that_a_checkout_brought_is_replaced(start_server: StartServer, workspace: Path) -> None:
    file = workspace / ".gemba/token"
    file.write_text("known-to-everybody\n")
    file.chmod(0o644)

    server = start_server()

    assert server.token != "known-to-everybody"
    assert server.request("GET", "/api/escalations", Authorization="Bearer known-to-everybody").status == 401
    assert file.stat().st_mode & 0o777 == 0o600
