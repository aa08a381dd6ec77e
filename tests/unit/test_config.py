"""A workspace is found where it should be, and its settings are read whole or refused with the place of the fault."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from gemba.cli.init import make_workspace
from gemba.config import (
    ChannelSettings,
    PolicySettings,
    Secret,
    Settings,
    VerifySettings,
    Workspace,
    home,
    open_workspace,
    read_settings,
)
from gemba.errors import Invalid, Unusable
from gemba.escalations.policy_check import checked_settings
from gemba.toml import MOST_BYTES


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """Every test has a GEMBA_HOME that is no workspace."""


def write_settings(workspace: Path, text: str) -> Workspace:
    (workspace / ".gemba" / "workspace.toml").write_text(text)
    return Workspace(workspace)


# ---- which workspace --------------------------------------------------------------------------------------------


def test_the_workspace_is_the_nearest_folder_above_that_has_one(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = workspace / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    assert open_workspace().root == workspace
    assert open_workspace(deep).root == workspace

    (deep / ".gemba").mkdir()

    assert open_workspace().root == deep


def test_gemba_workspace_names_it_for_commands_without_a_folder(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other" / ".gemba").mkdir(parents=True)
    monkeypatch.setenv("GEMBA_WORKSPACE", str(workspace))

    assert open_workspace().root == workspace
    assert open_workspace(tmp_path / "other").root == tmp_path / "other"


def test_a_workspace_is_known_by_its_real_path(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)

    assert open_workspace(tmp_path / "link").root == workspace


def test_no_workspace_says_how_to_make_one(tmp_path: Path) -> None:
    for start in (None, tmp_path):
        with pytest.raises(Unusable, match=r"no workspace: .*`gemba init` makes one") as refused:
            open_workspace(start)
        assert refused.value.code == "no_workspace"


def test_a_gemba_workspace_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_WORKSPACE", str(tmp_path / "gone"))

    with pytest.raises(Unusable, match=r"GEMBA_WORKSPACE is .*/gone, which has no \.gemba folder"):
        open_workspace()


def test_a_folder_that_does_not_exist_is_named(workspace: Path) -> None:
    with pytest.raises(Unusable, match="nowhere is not a folder"):
        open_workspace(workspace / "nowhere")


def test_a_current_folder_that_was_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(Unusable, match="the current folder does not exist any more"):
        open_workspace()


def test_the_home_of_the_logs_is_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gemba").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("GEMBA_HOME", str(tmp_path / ".gemba"))

    with pytest.raises(Unusable, match="no workspace"):
        open_workspace(tmp_path / "project")


def test_a_home_that_cannot_be_found_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_HOME", "~nobody-of-this-name/x")

    with pytest.raises(Unusable, match="set GEMBA_HOME"):
        home()
    with pytest.raises(Unusable, match="set GEMBA_HOME"):
        open_workspace()


# ---- its settings -----------------------------------------------------------------------------------------------


def test_without_a_file_everything_has_its_default(workspace: Path) -> None:
    assert read_settings(Workspace(workspace)) == Settings()


def test_the_file_that_init_writes_says_the_defaults(tmp_path: Path) -> None:
    make_workspace(tmp_path)

    assert read_settings(Workspace(tmp_path)) == Settings()


def test_every_setting_stands_in_the_written_file_with_its_true_default(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    file = tmp_path / ".gemba" / "workspace.toml"
    shown = re.sub(r"^# (?=\w+ = )", "", file.read_text(), flags=re.MULTILINE)
    file.write_text(shown)

    assert read_settings(Workspace(tmp_path)) == Settings()
    # Channels and policies have no default to show: they stand there as an example.
    assert {**tomllib.loads(shown), "channels": {}, "policy": ()} == msgspec.to_builtins(Settings())


def test_the_example_in_the_written_file_has_no_fault(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    file = tmp_path / ".gemba" / "workspace.toml"
    file.write_text(re.sub(r"^#  (?=\[|\w+ = )", "", file.read_text(), flags=re.MULTILINE))

    read = checked_settings(Workspace(tmp_path))

    assert [policy.name for policy in read.policy] == ["urgent", "approvals"]
    assert list(read.channels) == ["phone", "team"]
    # Every key that there is stands in it, or in a comment beside it.
    for kind in (ChannelSettings, PolicySettings, VerifySettings):
        for field in msgspec.structs.fields(kind):
            assert re.search(rf"\b{field.encode_name} =", file.read_text()), field.encode_name


def test_what_the_file_says_counts(workspace: Path) -> None:
    read = read_settings(write_settings(workspace, '[server]\nport = 5000\n[store]\nurl = "postgresql://db/gemba"'))

    assert (read.server.port, read.store.url) == (5000, "postgresql://db/gemba")
    assert read.events == Settings().events


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("port = 5", 1, 'unknown key "port"; known: store, events, server,'),
        ("\n[sever]\nport = 5", 2, 'unknown key "sever"; did you mean server?'),
        ("[server]\nport = 70000", 2, "[server] port is 70000; allowed: a whole number from 0 to 65,535"),
        ('[server]\nport = "5000"', 2, "[server] port is a text; allowed: a whole number from 0 to 65,535"),
        ("[server]\nhost = 5", 2, "[server] host is 5; allowed: a text"),
        ("[server]\nprot = 5", 2, '[server] unknown key "prot"; did you mean port?'),
        ("[events]\n\n\nkeep_days = 0", 4, "[events] keep_days is 0; allowed: a whole number, 1 or more"),
        ("[events]\nkeep_days = true", 2, "keep_days is true; allowed: a whole number, 1 or more"),
        (
            "[sessions]\n\nkeep_transcripts_days = 0",
            3,
            "[sessions] keep_transcripts_days is 0; allowed: a whole number from 1 to 36,500",
        ),
        ("[sessions]\nkeep_transcript_days = 5", 2, '[sessions] unknown key "keep_transcript_days"; did you mean'),
        ("server = 5", 1, "server is 5; allowed: a table"),
        ("[[policy]]\nname = 'a'\n[[policy]]\nname = 7", 4, "policy 2: name is 7; allowed: a text"),
        ("[[policy]]\nremind_after = '5m'", 1, "policy 1: name is missing; allowed: a text"),
        ("[[policy]]\nname = 'a'\nremind_afer = '5m'", 3, 'policy "a": unknown key "remind_afer"; did you mean'),
        ("[[policy]]\nname = 'a'\nremind_after = 5", 3, 'policy "a": remind_after is 5; allowed: a duration such as'),
        ("[[policy]]\nname = 'a'\nurgency = 'high'", 3, 'urgency is "high"; allowed: advisory or blocking'),
        ("[[policy]]\nname = 'a'\nnotify = [\n'x',\n5]", 5, 'policy "a": notify[2] is 5; allowed: a text'),
        ("[[policy]]\nname = 'a'\nverify = {check = 5}", 3, 'policy "a": verify: check is 5; allowed: a list'),
        ("[[policy]]\nname = 'a'\n[policy.verify]\nseconds = 601", 4, "seconds is 601; allowed: a whole number from 1"),
        (
            "[[policy]]\nname = 'a'\nrepeat_at_most = 0",
            3,
            "repeat_at_most is 0; allowed: a whole number from 1 to 1,000",
        ),
        ("policy = 5", 1, "policy is 5; allowed: a list of tables, each with a header in [[ ]]"),
        ("\n[policy]\nname = 'a'", 2, "policy is a table; allowed: a list of tables, each with a header in [[ ]]"),
        ("policy = [1]", 1, "policy 1: policy[1] is 1; allowed: a table"),
        ("[channels]\nphone = 'x'", 2, 'channel "phone": phone is a text; allowed: a table'),
        ("[channels.phone]\nurl = 5", 2, 'channel "phone": url is 5; allowed: a text'),
        ("[channels.phone]\nulr = 'x'", 2, 'channel "phone": unknown key "ulr"; did you mean url?'),
        ("[attention]\ncurrency = ''", 2, "currency is empty; allowed: a text of 1 to 8 characters"),
        ("[attention]\ncost_per_agent_minute = -1", 2, "is -1; allowed: a number from 0 to 1,000,000"),
        ("[attention]\ncost_per_agent_minute = nan", 2, "is nan; allowed: a number from 0 to 1,000,000"),
        ("[attention]\ncost_per_agent_minute = 1979-05-27", 2, "is a date or time; allowed: a number"),
        ("[handoff.gate]\nunpushed = 'no'", 2, '[handoff.gate] unpushed is "no"; allowed: off or report or require'),
        ("[handoff.gate]\nunpushd = 'off'", 2, '[handoff.gate] unknown key "unpushd"; did you mean unpushed?'),
        ("[handoff]\ngate = 'off'", 2, "[handoff] gate is a text; allowed: a table"),
        ("[server\nport = 5", 1, "this is not TOML: "),
        ("[server]\nport = 5\nport = 6", 3, "this is not TOML: Cannot overwrite a value"),
        ("[server]\nport = ", 2, "this is not TOML: "),
        ("\x00", 1, "this is not TOML: "),
        ("a = " + "[" * 5000, 1, "this is not TOML"),
    ],
)
def test_a_fault_in_the_file_is_named_with_its_line(workspace: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(Invalid, match=re.escape(message)) as refused:
        read_settings(write_settings(workspace, text))

    assert refused.value.message.startswith(f"{workspace}/.gemba/workspace.toml:{line}: ")


def test_every_fault_is_found_at_once_in_the_order_of_the_file(workspace: Path) -> None:
    text = "[server]\nprot = 5\nport = 'x'\n[reply]\nundelivered_after_seconds = 0\n[[policy]]\nkinds = [1]\n"

    with pytest.raises(Invalid, match=r":2: .* \(and 4 more: `gemba policy check` lists them\)$") as refused:
        read_settings(write_settings(workspace, text))

    assert [finding.line for finding in refused.value.extra["findings"]] == [2, 3, 5, 6, 7]


def test_a_file_that_is_not_text_is_refused_with_the_line(workspace: Path) -> None:
    (workspace / ".gemba" / "workspace.toml").write_bytes(b"# one\n\n\xff\xfe")

    with pytest.raises(Invalid, match=r"workspace\.toml:3: this is not TOML: 'utf-8' codec"):
        read_settings(Workspace(workspace))


@pytest.mark.parametrize(
    ("text", "line"),
    [("\n" + "a." * 30_000 + "a = 1", 2), ("#" * (MOST_BYTES + 1), 1), ("[" + "a." * 30_000 + "a]", 1)],
)
def test_a_file_that_would_take_long_to_read_is_refused_with_the_line(workspace: Path, text: str, line: int) -> None:
    with pytest.raises(Invalid, match=rf"workspace\.toml:{line}: .* allowed: [0-9,]+"):
        read_settings(write_settings(workspace, text))


def test_a_secret_shows_no_more_than_its_scheme(workspace: Path) -> None:
    read = read_settings(write_settings(workspace, '[channels.phone]\nurl = "NTFY://user:canary@host/canary"'))
    secret = read.channels["phone"].url

    assert secret is not None
    assert secret.reveal() == "NTFY://user:canary@host/canary"
    assert secret.scheme == "ntfy"
    for shown in (repr(read), str(secret), f"{secret}", repr([secret])):
        assert "canary" not in shown
        assert "ntfy://…" in shown
    with pytest.raises(TypeError):
        msgspec.json.encode(read)
    assert secret == Secret("NTFY://user:canary@host/canary") != Secret("ntfy://")


def test_a_file_that_cannot_be_read_is_said(workspace: Path) -> None:
    (workspace / ".gemba" / "workspace.toml").mkdir()

    with pytest.raises(Unusable, match=r"workspace\.toml: Is a directory"):
        read_settings(Workspace(workspace))


# ---- its database -----------------------------------------------------------------------------------------------


def test_the_database_is_named_by_the_environment_then_the_file_then_a_default(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write_settings(workspace, "")

    assert place.database_url(read_settings(place)) == f"sqlite:///{workspace}/.gemba/gemba.db"

    write_settings(workspace, '[store]\nurl = "postgresql://db/gemba"')
    assert place.database_url(read_settings(place)) == "postgresql://db/gemba"

    monkeypatch.setenv("GEMBA_DATABASE_URL", "sqlite:////elsewhere.db")
    assert place.database_url(read_settings(place)) == "sqlite:////elsewhere.db"


@pytest.mark.parametrize(("length", "fits"), [(40, True), (100, True), (120, False)])
def test_a_path_too_long_for_a_socket_is_noticed(length: int, fits: bool) -> None:
    root = Path("/" + "x" * (length - len("/.gemba/gemba.sock") - 1))

    assert Workspace(root).socket_fits is fits
