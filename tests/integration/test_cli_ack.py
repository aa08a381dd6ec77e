"""`gemba ack`: seen, and waiting all the same; with a server and without."""

import json

from tests.fixtures.operator import Operator


def test_seeing_is_not_answering(operator: Operator) -> None:
    id = operator.ask()

    assert operator.ok("ack", id[-6:]) == f"seen {id}; it waits for your answer without reminders\n"

    (shown,) = json.loads(operator.ok("inbox", "--json"))["escalations"]
    assert (shown["id"], shown["state"], shown["resolution"]) == (id, "acknowledged", None)
    assert shown["seen_at"] is not None
    seen = json.loads(operator.ok("ack", id, "--json"))
    assert seen["seen_at"] == shown["seen_at"]
