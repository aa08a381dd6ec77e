"""What keeps a client in: its network has nothing in it but loopback, and what it sends elsewhere is noticed."""

import contextlib
import http.client
import socket
from functools import partial

import pytest

from tests.clients.island import Island
from tests.clients.model import Model
from tests.clients.script import Say

pytestmark = pytest.mark.clients


def connects(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(address) == 0


def test_nothing_outside_is_reached_from_an_island() -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside, contextlib.closing(Island()) as island:
        inside = island.do(lambda: socket.create_server(("127.0.0.1", 0)))
        with inside:
            assert island.do(lambda: connects(inside.getsockname()))
            assert island.do(lambda: connects(outside.getsockname())) != island.is_cut_off


def test_a_request_that_nobody_foresaw_is_refused_and_kept(island: Island) -> None:
    running = Model(island.do(lambda: socket.create_server(("127.0.0.1", 0))))
    running.play("hello", Say("good day"))
    with contextlib.closing(running):
        for method, path in (("CONNECT", "elsewhere.example:443"), ("GET", "http://elsewhere.example/")):
            assert island.do(partial(status, running, method, path)) == 400
        assert running.faults == ["CONNECT elsewhere.example:443", "GET http://elsewhere.example/"]


def status(model: Model, method: str, path: str) -> int:
    with contextlib.closing(http.client.HTTPConnection(model.url.removeprefix("http://"))) as connection:
        connection.request(method, path)
        return connection.getresponse().status
