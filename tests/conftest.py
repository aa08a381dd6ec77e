"""Where the fixtures come from, and how much a run does. See CONTRIBUTING.md for what there is."""

import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.database import InMemoryExampleDatabase

from gemba.testing import FULL, SEED, effort

pytest_plugins = [
    "tests.fixtures.databases",
    "tests.fixtures.environment",
    "tests.fixtures.leftovers",
    "tests.fixtures.logs",
    "tests.fixtures.processes",
    "tests.fixtures.receiver",
    "tests.fixtures.runs",
    "tests.fixtures.servers",
    "tests.fixtures.api",  # after servers, which it imports
    "tests.fixtures.operator",  # the same
    "tests.fixtures.terminal",  # after operator
    "tests.fixtures.disks",  # the same
    "tests.fixtures.flowing",  # the same
    "tests.fixtures.team_floor",  # after flowing
    "tests.fixtures.workers",  # the same
    "tests.fixtures.clocks",  # the same
]

# Nothing of one run reaches the next: no deadline to miss on a busy machine, no examples kept between runs.
settings.register_profile(
    "gemba",
    max_examples=effort(60, 2_000),
    derandomize=not FULL,
    deadline=None,
    database=InMemoryExampleDatabase() if FULL else None,
    # The environment of a test is set once for all its examples, which is what the tests mean.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("gemba")
set_hypothesis_home_dir(Path(__file__).parents[1] / ".cache/hypothesis")


def pytest_report_header() -> str:
    return f"gemba: {'full' if FULL else 'short'} effort, seed {SEED}"


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "run what every change has to pass, or the rest, which takes as long again; all of it without this"
    parser.addoption("--part", choices=["first", "rest"], help=words)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every property is part of `make fuzz`, without being told."""
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            item.add_marker(pytest.mark.fuzz)
    part = config.getoption("--part")
    if part is not None:
        chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
        for item in items:
            chosen[_can_wait(item) == (part == "rest")].append(item)
        config.hook.pytest_deselected(items=chosen[False])
        items[:] = chosen[True]


def _can_wait(item: pytest.Item) -> bool:
    """Whether it belongs to `make rest`: what is marked `long`, and of what runs in several ways some, always the same.

    Seven of eight tests on PostgreSQL, of those that run on SQLite too and are about neither of them; of commands with
    a server and without one of the two; and one of three of the page's tests, but for those of who can use it.
    """
    name, _, given = item.nodeid.partition("[")
    draw = zlib.crc32(name.encode())
    if item.get_closest_marker("long") is not None:
        return True
    if (
        "postgresql" in given
        and draw % 8
        and not _is_about(name, "chaos", "store_", "flows", "reliab", "concurr", "at_once")
    ):
        return True
    if "with a server" in given or "without a server" in given:
        return ("without a server" in given) == bool(draw % 2)
    return "/browser/" in name and not draw % 3 and not _is_about(name, "axe", "access", "serious", "keyboard", "phone")


def _is_about(name: str, *words: str) -> bool:
    return any(word in name for word in words)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Coroutine tests (`pytest.mark.anyio`) run on the loop that the server uses."""
    return "asyncio"
