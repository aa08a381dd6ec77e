"""From `gemba-ask` to the operator and back, through real processes, on both databases."""

from tests.fixtures.servers import RunningServer


def test_a_waiting_ask_prints_the_answer_given_over_http(server: RunningServer) -> None:
    stream = server.events()
    asker = server.ask("--kind", "blocker", "--role", "manager", "--text", "Which port?", "--wait")
    opened = stream.until("escalation_opened")
    assert opened["data"]["payload"]["urgency"] == "blocking"

    answered = server.post(f"/api/escalations/{opened['data']['ref']}/respond", {"text": "8080"})

    stdout, stderr = asker.communicate(timeout=30)
    assert (stdout, asker.returncode) == ("8080\n", 0), stderr
    assert answered["delivery"] == "pending"
    stream.until("escalation.delivered")
    assert server.get(f"/api/escalations/{answered['id']}")["delivery"] == "delivered"


def test_a_waiting_ask_prints_the_option_chosen_on_the_command_line(server: RunningServer) -> None:
    stream = server.events()
    asker = server.ask(
        *("--kind", "question", "--role", "coach", "--text", "Which colour?", "--wait"),
        *("--option", "red", "--option", "green"),
        GEMBA_INTERACTION_MODE="cautious",
    )
    ref = stream.until("escalation_opened")["data"]["ref"]

    answered = server.gemba("answer", ref[-6:], "--option", "2")

    assert answered.returncode == 0, answered.stderr
    stdout, stderr = asker.communicate(timeout=30)
    assert (stdout, asker.returncode) == ("green\n", 0), stderr
