"""A workspace is found where it should be, and its settings are read whole or refused with the place of the fault."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from gemba.cli.init import make_workspace
from gemba.config import Settings, Workspace, home, open_workspace, read_settings
from gemba.errors import Invalid, Unusable


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
    assert tomllib.loads(shown) == msgspec.to_builtins(Settings())


def test_what_the_file_says_counts(workspace: Path) -> None:
    read = read_settings(write_settings(workspace, '[server]\nport = 5000\n[store]\nurl = "postgresql://db/gemba"'))

    assert (read.server.port, read.store.url) == (5000, "postgresql://db/gemba")
    assert read.events == Settings().events


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port = 5", "unknown field `port`"),
        ("[server]\nport = 70000", r"<= 65535 .* `\$\.server\.port`"),
        ('[server]\nport = "5000"', r"Expected `int`, got `str` .*port"),
        ("[server]\nprot = 5", "unknown field `prot`"),
        ("[events]\nkeep_days = 0", r">= 1 .*keep_days"),
        ("[server\nport = 5", "is not TOML"),
        ("\x00", "is not TOML"),
    ],
)
def test_a_fault_in_the_file_is_named_with_its_place(workspace: Path, text: str, message: str) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        read_settings(write_settings(workspace, text))

    assert "workspace.toml" in refused.value.message


def test_a_file_that_is_not_text_is_refused(workspace: Path) -> None:
    (workspace / ".gemba" / "workspace.toml").write_bytes(b"\xff\xfe")

    with pytest.raises(Invalid, match="is not TOML"):
        read_settings(Workspace(workspace))


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
