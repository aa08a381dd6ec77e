"""The fixtures keep their own promises: real, empty, separate, and nothing left."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, inspect, text

from gemba.testing import retry_until
from tests.fixtures.cluster import Cluster
from tests.fixtures.leftovers import ROOT, left_processes, repository_files


def test_postgresql_answers(postgres: Cluster) -> None:
    with psycopg.connect(postgres.conninfo()) as connection:
        assert connection.execute("select 1").fetchone() == (1,)


@pytest.mark.parametrize("round_", [1, 2])
def test_every_test_has_an_empty_database_of_its_own(database_url: str, round_: int) -> None:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        assert inspect(connection).get_table_names() == []
        connection.execute(text("create table mine (id integer)"))
    engine.dispose()


def test_a_connection_that_a_test_forgot_does_not_keep_its_database(
    request: pytest.FixtureRequest, postgres: Cluster
) -> None:
    url = request.getfixturevalue("postgresql_url")
    name = url.split("/")[3].split("?")[0]
    forgotten = psycopg.connect(postgres.conninfo(name))
    request.addfinalizer(forgotten.close)


def test_a_durable_cluster_keeps_a_commit_through_a_crash(durable_postgres: Cluster) -> None:
    with psycopg.connect(durable_postgres.conninfo()) as connection:
        assert connection.execute("show fsync").fetchone() == ("on",)
        connection.execute("create table kept as select 7 as number")

    durable_postgres.stop("immediate")
    durable_postgres.start()

    with psycopg.connect(durable_postgres.conninfo()) as connection:
        assert connection.execute("select number from kept").fetchone() == (7,)


def test_the_shared_cluster_serves_all_its_users_and_goes_with_the_last_even_if_killed(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys; from tests.fixtures.cluster import shared_cluster\n"
        "with shared_cluster(pathlib.Path(sys.argv[1])) as cluster:\n"
        "    print(cluster.folder, cluster.pid, flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]

    def join() -> tuple[subprocess.Popen[str], Path, int]:
        user = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert user.stdout is not None
        folder, pid = user.stdout.readline().split()
        return user, Path(folder), int(pid)

    first, folder, pid = join()
    second, same_folder, same_pid = join()
    assert (same_folder, same_pid) == (folder, pid)

    first.communicate("\n")
    assert Path(f"/proc/{pid}").exists()
    second.kill()
    second.communicate()
    retry_until(lambda: not Path(f"/proc/{pid}").exists() and not folder.exists())

    third, new_folder, new_pid = join()
    assert new_pid != pid
    third.communicate("\n")
    retry_until(lambda: not Path(f"/proc/{new_pid}").exists() and not new_folder.exists())


def test_a_test_sees_nothing_of_the_users_settings(tmp_path: Path) -> None:
    left = [name for name in os.environ if name.startswith("GEMBA_") and not name.startswith("GEMBA_TEST_")]

    assert left == []
    assert Path.home().is_relative_to(tmp_path)
    assert Path.cwd().is_relative_to(tmp_path)


def test_home_is_empty_and_in_the_environment(home: Path) -> None:
    assert os.environ["GEMBA_HOME"] == str(home)
    assert list(home.iterdir()) == []


def test_workspace_is_a_repository_with_a_commit(workspace: Path) -> None:
    git = subprocess.run(["git", "log", "--format=%an %s"], cwd=workspace, capture_output=True, text=True, check=True)

    assert git.stdout == "Test begin\n"
    assert (workspace / ".gemba").is_dir()


def test_a_process_is_recognised_by_its_mark_or_by_where_it_works(tmp_path: Path) -> None:
    def described(environment: dict[str, str], folder: Path) -> str:
        cat = subprocess.Popen(["cat"], env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert cat.stdin is not None
        assert cat.stdout is not None
        cat.stdin.write(b"up?\n")
        cat.stdin.flush()
        cat.stdout.readline()  # the kernel shows a process's environment only some time after it was started
        found = [line for line in left_processes("a-mark", tmp_path) if line.startswith(f"process {cat.pid},")]
        cat.communicate()
        return "".join(found)

    named = {"GEMBA_TEST_RUN": "a-mark", "PYTEST_CURRENT_TEST": "tests/unit/test_x.py::test_y (call)"}
    assert described(named, Path("/")).endswith("'cat', of tests/unit/test_x.py::test_y (call)")
    assert "'cat'" in described({}, tmp_path)
    assert described({"GEMBA_TEST_RUN": "another"}, Path("/")) == ""


def test_what_a_test_leaves_behind_fails_the_run_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_messy.py").write_text(
        "import pathlib, subprocess\n"
        "def test_messy():\n"
        "    process = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "    pathlib.Path('pid').write_text(str(process.pid))\n"
        "    process.returncode = 0  # forgotten\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.fixtures.leftovers", "-p", "no:cacheprovider", "-q", "."]

    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )

    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, 9)
    assert run.returncode == 1
    assert f"process {pid}, 'sleep 60', of test_messy.py::test_messy (call)" in run.stdout
    assert run.stdout.rstrip().splitlines()[-1].startswith("1 passed")


def test_the_repository_is_watched_where_people_write_and_not_where_tools_build() -> None:
    files = repository_files()

    assert Path("pyproject.toml") in files
    assert not [path for path in files if {".venv", "node_modules", ".cache"} & set(path.parts)]


@pytest.mark.anyio
async def test_coroutine_tests_run_on_asyncio(anyio_backend_name: str) -> None:
    assert anyio_backend_name == "asyncio"


@given(st.integers())
def test_a_property_is_part_of_make_fuzz(request: pytest.FixtureRequest, number: int) -> None:
    assert request.node.get_closest_marker("fuzz") is not None
    assert settings().deadline is None
