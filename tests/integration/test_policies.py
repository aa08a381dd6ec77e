"""Policies over HTTP and at the terminal: shown, checked line by line, tested; a password of a channel never shown."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.cli.policy import find
from gemba.config import Workspace
from gemba.errors import Invalid
from gemba.escalations.policy_check import checked_settings
from tests.fixtures.operator import Operator
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import RunningServer, free_port

POLICIES = """
[channels.team]
members = ["phone", "page"]
[[policy]]
name = "urgent"
urgency = "blocking"
kinds = ["blocker", "needs_input"]
remind_after = "90s"
repeat_every = "1h30m"
repeat_at_most = 5
notify = ["phone"]
then_notify = ["team"]
expire_after = "8h"
default_answer = "Go on."
[[policy]]
name = "checked"
kinds = ["approval"]
verify = { check = ["./check", "answer"], seconds = 20 }
[[policy]]
name = "rest"
expire_after = "1d"
default_option = 2
"""


KEYS = ("url", "url_env", "url_file", "members")
LONGER = "allowed: a longer time, since nobody would be reminded"


def settings_file(workspace: Path) -> Path:
    return workspace / ".gemba" / "workspace.toml"


def write(operator: Operator, phone: str, rest: str = POLICIES) -> None:
    settings_file(operator.workspace).write_text(f"[channels.phone]\n{phone}\n{rest}")


# ---- what is shown ------------------------------------------------------------------------------------------------

URGENT = {
    "name": "urgent",
    "urgency": "blocking",
    "kinds": ["blocker", "needs_input"],
    "remind_after": "1m30s",
    "repeat_every": "1h30m",
    "repeat_at_most": 5,
    "notify": ["phone"],
    "then_notify": ["team"],
    "expire_after": "8h",
    "default_answer": "Go on.",
    "default_option": None,
    "verify": None,
}


def test_the_policies_are_the_same_over_http_and_at_the_terminal(
    alone: Operator, start_server: Callable[..., RunningServer]
) -> None:
    write(alone, 'url = "ntfy://user:canary@host/topic"')
    server = start_server()

    found = server.get("/api/policies")

    assert found["policies"][0] == URGENT
    assert [policy["name"] for policy in found["policies"]] == ["urgent", "checked", "rest"]
    assert found["policies"][1]["verify"] == {"check": ["./check", "answer"], "seconds": 20, "person": False}
    assert found["channels"] == [
        {"name": "page", "kind": "page", "target": None, "members": [], "ok": True, "problem": None},
        {"name": "phone", "kind": "apprise", "target": "ntfy", "members": [], "ok": True, "problem": None},
        {"name": "team", "kind": "group", "target": None, "members": ["phone", "page"], "ok": True, "problem": None},
    ]
    assert found["file"] == ".gemba/workspace.toml"
    assert json.loads(alone.ok("policy", "--json")) == found
    assert json.loads(alone.ok("policy", "show", "--json")) == found


def test_the_table_says_what_happens_to_whom(alone: Operator) -> None:
    write(alone, 'url_env = "PHONE_URL"')

    shown = alone.ok("policy")

    assert shown == (
        "1. urgent  blocker, needs_input, blocking only\n"
        "    remind: after 1m30s, again every 1h30m, at most 5 times more, until somebody looks\n"
        "    notify: phone; again: team\n"
        "    expire: after 8h, answered by default where there are no options: Go on.\n"
        "\n"
        "2. checked  approval\n"
        "    verify: by a check within 20s: ./check answer\n"
        "\n"
        "3. rest  everything\n"
        "    expire: after 1d, answered by default with option 2\n"
        "\n"
        "CHANNEL  KIND     TARGET         STATE\n"
        "page     page     the open page  ok\n"
        "phone    apprise  unknown        PHONE_URL is not set in the environment\n"
        "team     group    phone, page    ok\n"
    )


def test_without_policies_it_is_said_where_they_would_stand(alone: Operator) -> None:
    shown = alone.ok("policy")

    assert shown.startswith("No policies: what nobody answers waits. They stand in .gemba/workspace.toml.\n")
    assert json.loads(alone.ok("policy", "--json"))["policies"] == []


# ---- check --------------------------------------------------------------------------------------------------------


def make_check(workspace: Path, mode: int = 0o755) -> None:
    (workspace / "check").write_text("#!/bin/sh\n")
    (workspace / "check").chmod(mode)


def test_a_right_file_is_said_to_be_right(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host/topic"', '[[policy]]\nname = "one"\nverify = { check = ["./check"] }\n')
    make_check(alone.workspace)

    assert alone.ok("policy", "check") == f"{settings_file(alone.workspace)}: nothing is wrong\n"
    assert json.loads(alone.ok("policy", "check", "--json")) == {
        "file": str(settings_file(alone.workspace)),
        "ok": True,
        "findings": [],
        "warnings": [],
    }


def test_every_finding_is_listed_with_its_line_and_the_exit_is_1(alone: Operator) -> None:
    write(
        alone,
        'url = "ntfy://host"\nurl_env = "X"',
        '[[policy]]\nname = "p"\nremind_after = "10m"\nexpire_after = "5m"\n',
    )
    file = settings_file(alone.workspace)

    shown, as_json = alone.run("policy", "check"), alone.run("policy", "check", "--json")

    assert (shown.returncode, shown.stderr, as_json.returncode, as_json.stderr) == (1, "", 1, "")
    assert shown.stdout.splitlines() == [
        f'{file}:3: channel "phone": a channel has exactly one of {", ".join(KEYS)}; it has url and url_env',
        f'{file}:6: policy "p": remind_after reminds nobody; allowed: with notify, a list of channels',
        f'{file}:7: policy "p": expire_after (5m) comes before remind_after (10m); {LONGER}',
    ]
    found = json.loads(as_json.stdout)
    assert found["ok"] is False
    assert [f"{file}:{row['line']}: {row['message']}" for row in found["findings"]] == shown.stdout.splitlines()


def test_what_does_not_fit_hides_nothing_else(alone: Operator) -> None:
    write(
        alone,
        'url_env = "PHONE_URL"',
        """[[policy]]
name = "urgent"
urgency = "very"
remind_aftr = "10m"
expire_after = "8 hours"
notify = ["pager"]

[[policy]]
name = "urgent"
kinds = ["stalled"]
expire_after = "1h"
""",
    )

    found = alone.run("policy", "check").stdout.splitlines()

    assert [line.partition(": ")[2].partition(";")[0] for line in found] == [
        'channel "phone": PHONE_URL is not set in the environment',
        'policy "urgent": urgency is "very"',
        'policy "urgent": unknown key "remind_aftr"',
        'policy "urgent": expire_after is "8 hours"',
        'policy "urgent": no channel is called "pager"',
        'policy "urgent": policy 1 has this name already',
    ]


def test_a_second_person_is_missed_where_there_is_one_operator_alone(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host/topic"', '[[policy]]\nname = "two"\nverify = { person = true }\n')
    file = settings_file(alone.workspace)

    done, as_json = alone.run("policy", "check"), alone.run("policy", "check", "--json")

    words = (
        'policy "two": this workspace has one operator, and nobody who could agree: gemba operator add NAME adds one'
    )
    assert (done.returncode, done.stdout) == (0, f"{file}:5: warning: {words}\n{file}: nothing is wrong\n")
    assert (as_json.returncode, json.loads(as_json.stdout)["warnings"]) == (0, [{"line": 5, "message": words}])
    alone.ok("operator", "add", "maria")
    assert alone.ok("policy", "check") == f"{file}: nothing is wrong\n"


def test_an_answer_by_default_that_asks_with_options_never_get_is_told(alone: Operator) -> None:
    policy = '[[policy]]\nname = "night"\n{}expire_after = "8h"\ndefault_answer = "Go on."\n'
    write(alone, 'url = "ntfy://host/topic"', policy.format('kinds = ["question"]\n'))

    done = alone.run("policy", "check")

    assert done.returncode == 0
    assert done.stdout.splitlines()[0].endswith(
        ':7: warning: policy "night": an ask with options gets no default_answer, unless it is one of them: '
        "it expires; default_option gives it one of its own"
    )
    assert "answered by default where there are no options: Go on." in alone.ok("policy")
    write(alone, 'url = "ntfy://host/topic"', policy.format('kinds = ["stalled"]\n'))
    assert alone.ok("policy", "check").count("\n") == 1


def test_a_check_that_cannot_be_run_is_found(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host/topic"')
    missing = find(Workspace(alone.workspace))
    make_check(alone.workspace, mode=0o644)

    assert find(Workspace(alone.workspace)) == missing
    assert [(row.line, row.message) for row in missing] == [(20, 'policy "checked": verify: "./check" cannot be run')]


@pytest.mark.parametrize(
    ("text", "line"),
    [("[server\n", 1), ("\n\n[server]\nprot = 5\n", 4), ("[server]\nport = 1.5\n", 2)],
)
def test_what_is_wrong_elsewhere_in_the_file_is_found_too(alone: Operator, text: str, line: int) -> None:
    settings_file(alone.workspace).write_text(text)

    done = alone.run("policy", "check", "--json")

    assert done.returncode == 1
    assert [row["line"] for row in json.loads(done.stdout)["findings"]] == [line]


def test_a_channel_that_cannot_be_used_is_a_finding_and_keeps_no_server_from_starting(
    alone: Operator, start_server: Callable[..., RunningServer]
) -> None:
    write(alone, 'url_env = "PHONE_URL"', '[channels.desk]\nurl = "nfty://host"\n')
    file = settings_file(alone.workspace)

    done = alone.run("policy", "check")

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f'{file}:2: channel "phone": PHONE_URL is not set in the environment',
        f'{file}:4: channel "desk": apprise knows no nfty:// addresses; did you mean ntfy://?',
    ]
    assert alone.run("policy", "check", PHONE_URL="ntfy://host/topic").stdout.count("\n") == 1
    server = start_server()
    channels = {row["name"]: row for row in server.get("/api/policies")["channels"]}
    health = {row["id"]: row for row in server.get("/api/doctor")["checks"]}["channels"]
    assert (channels["phone"]["ok"], channels["phone"]["problem"]) == (False, "PHONE_URL is not set in the environment")
    assert channels["desk"]["target"] == "nfty"
    assert health["status"] == "warn"
    assert health["detail"].startswith("phone: PHONE_URL is not set in the environment; desk: apprise knows no nfty://")
    code, log = server.stop()
    assert code == 0
    assert "event='a channel reaches nobody' channel='phone'" in log


def test_a_policy_that_makes_no_sense_is_refused_by_every_command_and_nothing_is_made(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host"', '[[policy]]\nname = "p"\nremind_after = "10m"\n')

    for arguments in (["serve", "--port", "0"], ["inbox"], ["policy"], ["policy", "test", "phone"]):
        line = alone.refused(*arguments)
        assert line.startswith(f'gemba: {settings_file(alone.workspace)}:5: policy "p": remind_after reminds nobody')
    assert [path.name for path in (alone.workspace / ".gemba").iterdir()] == ["workspace.toml"]


# ---- test ---------------------------------------------------------------------------------------------------------


def test_a_test_reaches_everybody_in_a_group(alone: Operator, receiver: Receiver) -> None:
    write(alone, f'url = "{receiver.url}"')

    assert alone.ok("policy", "test", "team") == "sent to phone: look whether it arrived\n"
    assert json.loads(alone.ok("policy", "test", "phone", "--json")) == {
        "channel": "phone",
        "ok": True,
        "problem": None,
        "reached": ["phone"],
    }

    assert [request.document["title"] for request in receiver.requests] == ["Gemba: a test"] * 2
    assert "a test of the channel team" in receiver.messages[0]


def test_a_test_that_reaches_nobody_says_why_and_exits_1(alone: Operator, receiver: Receiver) -> None:
    write(alone, f'url = "{receiver.url}"')
    receiver.status = 500

    assert alone.refused("policy", "test", "phone") == "gemba: phone: the json service refused it with 500"
    failed = alone.run("policy", "test", "phone", "--json")

    assert (failed.returncode, json.loads(failed.stdout)["ok"]) == (1, False)


def test_the_page_needs_no_test(alone: Operator) -> None:
    assert alone.ok("policy", "test", "page") == "page: shown by every page that is open; there is nothing to send\n"


def test_a_channel_that_does_not_exist_is_named_with_the_nearest(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host"')

    assert alone.refused("policy", "test", "pone") == 'gemba: no channel is called "pone"; did you mean phone?'
    assert alone.refused("policy", "test", "ntfy://user:canary@host").startswith(
        'gemba: no channel is called "ntfy://…"'
    )
    assert alone.refused("policy", "--json", "check", code=2).startswith("gemba policy: --json goes behind check.")


def test_a_shell_completes_the_names_of_channels(alone: Operator) -> None:
    write(alone, 'url = "ntfy://host"')

    done = alone.run(_GEMBA_COMPLETE="bash_complete", COMP_WORDS="gemba policy test ", COMP_CWORD="3")

    assert [line.partition(",")[2] for line in done.stdout.split()] == ["phone", "team"]


# ---- secrets ------------------------------------------------------------------------------------------------------

CANARY = "canary7f3a"

# Each is a file in which a password stands where it may, or where somebody might put it by mistake.
WRONG = {
    "syntax": 'url = "ntfy://user:{c}@host',
    "unquoted": "url = ntfy://user:{c}@host",
    "twice": 'url = "ntfy://user:{c}@host"\nurl = "ntfy://user:{c}@host"',
    "several": 'url = "ntfy://user:{c}@host"\nurl_env = "X"',
    "list": 'url = ["ntfy://user:{c}@host"]',
    "no scheme": 'url = "user:{c}@host"',
    "variable": 'url_env = "ntfy://user:{c}@host"',
    "file": 'url_file = "ntfy://user:{c}@host"',
    "member": 'members = ["ntfy://user:{c}@host"]',
    "key": '"ntfy://user:{c}@host" = 1',
    "key of a table": 'url = "ntfy://x"\n["ntfy://user:{c}@host"]\nx = 1',
    "name of a channel": 'url = "ntfy://x"\n[channels."ntfy://user:{c}@host"]\nurl = 5',
    "channel": 'url = "ntfy://x"\n[[policy]]\nname = "p"\nremind_after = "1m"\nnotify = ["ntfy://user:{c}@host"]',
    "name of a policy": 'url = "ntfy://x"\n[[policy]]\nname = "ntfy://user:{c}@host"\nremind_after = "1m"',
    "duration": 'url = "ntfy://x"\n[[policy]]\nname = "p"\nremind_after = "ntfy://user:{c}@host"',
    "kind": 'url = "ntfy://x"\n[[policy]]\nname = "p"\nkinds = ["ntfy://user:{c}@host"]\nexpire_after = "1h"',
    "urgency": 'url = "ntfy://x"\n[[policy]]\nname = "p"\nurgency = "ntfy://user:{c}@host"',
    "unknown to apprise": 'url = "nfty://user:{c}@host/{c}?token={c}"',
    "incomplete": 'url = "slack://{c}"',
}


@pytest.mark.parametrize("what", WRONG)
def test_no_finding_repeats_a_password(alone: Operator, what: str) -> None:
    write(alone, WRONG[what].format(c=CANARY), "")

    findings = find(Workspace(alone.workspace))

    assert findings
    assert CANARY not in str(findings)
    try:
        shown = repr(checked_settings(Workspace(alone.workspace)))
    except Invalid as error:
        shown = error.message + repr(error) + repr(error.extra)
    assert CANARY not in shown


def test_no_command_repeats_a_password(alone: Operator) -> None:
    write(alone, WRONG["member"].format(c=CANARY), "")

    ended = [
        alone.run(*words) for words in (["policy", "check"], ["policy", "check", "--json"], ["policy"], ["doctor"])
    ]

    assert ended[0].returncode == ended[1].returncode == 1
    assert [CANARY in done.stdout + done.stderr for done in ended] == [False] * 4


@pytest.fixture
def readable(workspace: Path, home: Path) -> Callable[[], dict[str, bytes]]:
    """Every file that the program has made, in the workspace and in its home."""

    def read() -> dict[str, bytes]:
        files = [path for folder in (workspace, home) for path in folder.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in files if path != settings_file(workspace)}

    return read


@pytest.mark.usefixtures("cold_starts")  # its command line is looked at
def test_a_password_is_shown_by_nothing_that_runs_with_it(
    alone: Operator,
    receiver: Receiver,
    start_server: Callable[..., RunningServer],
    readable: Callable[[], dict[str, bytes]],
) -> None:
    dead = f"json://user:{CANARY}@127.0.0.1:{free_port()}/{CANARY}?token={CANARY}"
    write(
        alone,
        f'url = "{receiver.url_with(CANARY)}"',
        f'[channels.dead]\nurl = "{dead}"\n'
        '[[policy]]\nname = "p"\nremind_after = "1s"\nnotify = ["phone", "dead"]\nexpire_after = "1h"\n',
    )
    server = start_server("", "--verbose")
    shown: list[Any] = [server.gemba("policy", *words) for words in (["show"], ["check"], ["test", "dead"])]
    shown += [
        server.gemba("policy", "test", "phone", "--json"),
        server.gemba("doctor"),
        server.gemba("inbox", "--json"),
    ]

    stream = server.events(after=0)
    asked = server.ask("--kind", "blocker", "--role", "manager", "--text", "Which port?")
    asked.communicate(timeout=30)
    reminded = stream.until("escalation.reminded")
    receiver.wait_for(2)

    for path in ("/api/policies", "/api/doctor", "/api/escalations", "/openapi.json", "/api/sessions"):
        shown.append(server.request("GET", path).body)
    shown += [reminded, Path(f"/proc/{server.process.pid}/cmdline").read_bytes(), *readable().items()]
    code, log = server.stop()
    assert code == 0
    shown += [log, *readable().items()]
    assert CANARY not in "\n".join(map(str, shown))
    assert receiver.requests[-1].document["title"] == "Blocking blocker: Which port?"


def test_a_url_from_the_environment_is_shown_by_nothing_either(alone: Operator, receiver: Receiver) -> None:
    write(alone, 'url_env = "PHONE_URL"', '[channels.kept]\nurl_file = "kept"\n')
    (alone.workspace / "kept").write_text(receiver.url_with(CANARY))
    alone.environment["PHONE_URL"] = receiver.url_with(CANARY)

    shown = [alone.run("policy", *words) for words in (["test", "phone"], ["test", "kept"], ["--json"])]

    assert [done.returncode for done in shown] == [0, 0, 0]
    assert len(receiver.requests) == 2
    assert CANARY not in "".join(done.stdout + done.stderr for done in shown)


def test_the_command_starts_without_the_store_and_without_apprise(alone: Operator) -> None:
    """What it costs to ask for help, or to check a file without channels."""
    program = (
        "import sys\nfrom gemba.cli.main import main\n"
        "sys.argv = ['gemba', 'policy', 'check']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'apprise', 'sqlalchemy', 'dbos', 'starlette'} & set(sys.modules)))\n"
    )

    done = subprocess.run(
        [Path(sys.executable), "-c", program], cwd=alone.workspace, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"
