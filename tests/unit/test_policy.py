"""Policies take what they should, plan what they promise, and are refused where they would do harm or nothing."""

import itertools
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.config import ChannelSettings, Secret, Settings, Workspace
from gemba.errors import Invalid
from gemba.escalations.escalation import Urgency
from gemba.escalations.notify import open_policies
from gemba.escalations.policy import (
    HOUR,
    KINDS,
    LONGEST,
    MINUTE,
    PAIRS,
    Channel,
    Due,
    Policies,
    Policy,
    Verify,
    duration_text,
    parse_duration,
    policies_of,
)
from gemba.escalations.policy_check import MOST, checked_settings


def in_file(folder: Path, text: str) -> Workspace:
    (folder / ".gemba").mkdir(exist_ok=True)
    (folder / ".gemba" / "workspace.toml").write_text(text)
    return Workspace(folder)


# ---- durations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("30s", 30_000_000),
        ("10m", 10 * MINUTE),
        ("2h", 2 * HOUR),
        ("1d", clock.DAY),
        ("1h30m", 90 * MINUTE),
        ("1d12h30m5s", clock.DAY + 12 * HOUR + 30 * MINUTE + 5 * clock.SECOND),
        ("90m", 90 * MINUTE),
        (" 5m ", 5 * MINUTE),
        ("365d", LONGEST),
    ],
)
def test_a_duration_is_read(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "0s",
            "0d0h",
            "-5m",
            "5",
            "m",
            "1.5h",
            "5 m",
            "5min",
            "30m1h",
            "5m5m",
            "\u0665m",
            "5M",
            "1e3s",
            "1h 30m",
        ),
        *("366d", "365d1s", "8761h", "999999999999d", "9" * 30 + "s", "inf", "5m\x00", "5ms"),
    ],
)
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None


@given(st.integers(1, LONGEST // clock.SECOND))
def test_a_duration_that_is_written_is_read_as_the_same(seconds: int) -> None:
    assert parse_duration(duration_text(seconds * clock.SECOND)) == seconds * clock.SECOND


# ---- matching -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("urgency", [None, *Urgency])
@pytest.mark.parametrize("kinds", [(), ("question",), ("question", "blocker")])
def test_a_policy_takes_its_kinds_and_its_urgency(urgency: Urgency | None, kinds: tuple[str, ...]) -> None:
    policy = Policy("p", urgency, kinds)

    for kind, given_urgency in itertools.product(KINDS, Urgency):
        wanted = (not kinds or kind in kinds) and urgency in (None, given_urgency)
        assert policy.takes(kind, given_urgency) is wanted


def test_the_first_policy_that_fits_is_the_one() -> None:
    policies = Policies(
        (
            Policy("narrow", Urgency.BLOCKING, ("blocker",)),
            Policy("blocking", Urgency.BLOCKING),
            Policy("stalled", kinds=("stalled",)),
        )
    )

    def name(kind: str, urgency: str) -> str | None:
        found = policies.match(kind, urgency)
        return None if found is None else found.name

    assert name("blocker", "blocking") == "narrow"
    assert name("question", "blocking") == "blocking"
    assert name("stalled", "advisory") == "stalled"
    assert name("question", "advisory") is None
    assert Policies().match("question", "advisory") is None


def test_every_kind_has_an_urgency_and_the_asks_of_agents_have_theirs_from_the_mode() -> None:
    assert {kind for kind, _ in PAIRS} == set(KINDS)
    assert ("blocker", "advisory") not in PAIRS
    assert {("question", "advisory"), ("question", "blocking")} <= PAIRS
    assert {("purview_violation", "advisory"), ("purview_violation", "blocking")} <= PAIRS


# ---- what is due next ---------------------------------------------------------------------------------------------

FULL = Policy(
    "full",
    remind_after=10 * MINUTE,
    repeat_every=30 * MINUTE,
    repeat_at_most=2,
    notify=("phone",),
    then_notify=("team",),
    expire_after=8 * HOUR,
)
START = 1_000_000 * clock.SECOND


def test_reminders_come_in_their_order_and_then_the_end() -> None:
    planned, reminders, at = [], 0, None
    while (due := FULL.plan(START, reminders, at)) is not None:
        planned.append(due)
        if due.what == "expire":
            break
        reminders, at = reminders + 1, due.at

    assert planned == [
        Due("remind", START + 10 * MINUTE, 1, ("phone",)),
        Due("remind", START + 40 * MINUTE, 2, ("team",)),
        Due("remind", START + 70 * MINUTE, 3, ("team",)),
        Due("expire", START + 8 * HOUR),
    ]
    assert FULL.expires_at(START) == START + 8 * HOUR


def test_without_others_to_notify_the_same_are_notified_again() -> None:
    due = msgspec.structs.replace(FULL, then_notify=()).plan(START, 1, START)

    assert due is not None
    assert due.notify == ("phone",)


def test_what_somebody_has_seen_reminds_nobody_and_expires_all_the_same() -> None:
    assert FULL.plan(START, seen=True) == Due("expire", START + 8 * HOUR)
    assert msgspec.structs.replace(FULL, expire_after=None).plan(START, seen=True) is None


def test_a_reminder_that_came_late_is_followed_after_the_whole_interval() -> None:
    """The server was down for hours: one reminder when it is back, not all that it missed."""
    late = START + 3 * HOUR

    assert FULL.plan(START, 1, late) == Due("remind", late + 30 * MINUTE, 2, ("team",))


def test_no_reminder_comes_at_the_end_or_after_it() -> None:
    late = START + 8 * HOUR - 30 * MINUTE

    assert FULL.plan(START, 1, late) == Due("expire", START + 8 * HOUR)
    assert FULL.plan(START, 1, late - 1) == Due("remind", START + 8 * HOUR - 1, 2, ("team",))


def test_one_reminder_without_a_repetition_is_all() -> None:
    once = Policy("once", remind_after=MINUTE, notify=("page",))

    assert once.plan(START) == Due("remind", START + MINUTE, 1, ("page",))
    assert once.plan(START, 1, START + MINUTE) is None


def test_a_policy_that_only_verifies_has_nothing_due() -> None:
    assert Policy("check", verify=Verify(person=True)).plan(START) is None


@given(
    st.builds(
        Policy,
        name=st.just("p"),
        remind_after=st.none() | st.integers(1, 10**9),
        repeat_every=st.none() | st.integers(10 * clock.SECOND, 10**9),
        repeat_at_most=st.none() | st.integers(1, 20),
        expire_after=st.none() | st.integers(1, 10**10),
        notify=st.just(("page",)),
    ),
    st.lists(st.integers(0, 10**9), min_size=60, max_size=60),
)
def test_every_plan_goes_forward_and_a_plan_that_may_end_ends(policy: Policy, delays: list[int]) -> None:
    reminders, at = 0, None
    for delay in delays:
        due = policy.plan(START, reminders, at)
        if due is None or due.what == "expire":
            break
        assert due.number == reminders + 1
        assert due.at > (at or START)
        assert policy.expire_after is None or due.at < START + policy.expire_after
        if at is not None and policy.repeat_every is not None:
            assert due.at - at >= policy.repeat_every
        reminders, at = reminders + 1, due.at + delay
    else:
        assert policy.repeat_at_most is None
    assert policy.repeat_at_most is None or reminders <= 1 + policy.repeat_at_most


def test_a_policy_is_plain_data_that_a_flow_can_keep() -> None:
    policy = msgspec.structs.replace(FULL, verify=Verify(("./check", "x"), 5), default_answer="é", kinds=("blocker",))

    assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(policy)), Policy) == policy


# ---- channels -----------------------------------------------------------------------------------------------------


def channels(**members: tuple[str, ...] | None) -> Policies:
    return Policies(
        (),
        {
            "page": Channel("page", "page"),
            **{
                name: Channel(name, "group", members=given)
                if given is not None
                else Channel(name, "apprise", Secret(f"json://{name}"))
                for name, given in members.items()
            },
        },
    )


def test_groups_are_opened_and_everybody_is_named_once() -> None:
    policies = channels(phone=None, desk=None, team=("phone", "page", "inner"), inner=("desk", "phone"))

    found = policies.urls(["team", "desk", "page", "phone"])

    assert [channel.name for channel in found.urls] == ["phone", "desk"]
    assert found.to_page
    assert policies.urls(["desk"]) == ((policies.channels["desk"],), False)


def test_names_that_are_gone_and_groups_in_a_circle_reach_nobody() -> None:
    policies = channels(one=("two",), two=("one",))

    assert policies.urls(["one", "gone"]) == ((), False)


def test_settings_become_policies_and_channels_with_their_urls() -> None:
    settings = Settings(channels={"phone": ChannelSettings(url_env="X"), "team": ChannelSettings(members=("phone",))})

    policies = policies_of(settings, lambda channel: (None, f"{channel.url_env} is not set"))

    assert policies.channels == {
        "page": Channel("page", "page"),
        "phone": Channel("phone", "apprise", problem="X is not set"),
        "team": Channel("team", "group", members=("phone",)),
    }


def test_a_url_is_found_in_the_file_in_the_environment_and_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("json://kept\n")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "two").write_text("json://canary\njson://canary\n")
    (tmp_path / "bytes").write_bytes(b"\xffcanary")
    keys = {
        "plain": 'url = "json://plain"',
        "variable": 'url_env = "SET"',
        "unset": 'url_env = "UNSET"',
        "blank": 'url_env = "BLANK"',
        "file": 'url_file = "kept"',
        "absolute": f'url_file = "{tmp_path}/kept"',
        "gone": 'url_file = "gone"',
        "folder": f'url_file = "{tmp_path}"',
        "empty": 'url_file = "empty"',
        "two": 'url_file = "two"',
        "bytes": 'url_file = "bytes"',
    }
    workspace = in_file(tmp_path, "\n".join(f"[channels.{name}]\n{line}" for name, line in keys.items()))

    opened = open_policies(checked_settings(workspace), workspace, {"SET": "json://set", "BLANK": " "}).channels

    urls = {name: channel.url.reveal() for name, channel in opened.items() if channel.url is not None}
    assert urls == {
        "plain": "json://plain",
        "variable": "json://set",
        "file": "json://kept",
        "absolute": "json://kept",
    }
    assert {name: channel.problem for name, channel in opened.items() if channel.problem is not None} == {
        "unset": "UNSET is not set in the environment",
        "blank": "BLANK is not set in the environment",
        "gone": "gone cannot be read: No such file or directory",
        "folder": f"{tmp_path.name} cannot be read: Is a directory",
        "empty": "empty holds no URL; allowed: one and nothing else",
        "two": "two holds more than one URL; allowed: one and nothing else",
        "bytes": "bytes is not text",
    }


# ---- what is refused ----------------------------------------------------------------------------------------------

GOOD = """\
[channels.phone]
url = "ntfy://user:secret@host/topic"
[channels.team]
members = ["phone", "page"]
[[policy]]
name = "urgent"
urgency = "blocking"
kinds = ["blocker"]
remind_after = "10m"
repeat_every = "30m"
repeat_at_most = 5
notify = ["phone"]
then_notify = ["team"]
expire_after = "8h"
default_answer = "Go on."
verify = { check = ["./check-answer"], seconds = 30 }
[[policy]]
name = "rest"
remind_after = "1d"
notify = ["page"]
"""


def test_a_file_in_which_everything_is_said_has_no_fault(tmp_path: Path) -> None:
    settings = checked_settings(in_file(tmp_path, GOOD))

    policies = policies_of(settings, lambda channel: (channel.url, None))

    assert policies.policies == (
        Policy(
            name="urgent",
            urgency=Urgency.BLOCKING,
            kinds=("blocker",),
            remind_after=10 * MINUTE,
            repeat_every=30 * MINUTE,
            repeat_at_most=5,
            notify=("phone",),
            then_notify=("team",),
            expire_after=8 * HOUR,
            default_answer="Go on.",
            verify=Verify(("./check-answer",), 30),
        ),
        Policy("rest", remind_after=clock.DAY, notify=("page",)),
    )


CHANNELS = """\
[channels.phone]
url = "ntfy://host/topic"
[channels.team]
members = ["phone"]
"""
REMINDS = 'name = "p"\nremind_after = "10m"\nnotify = ["phone"]\n'

# What is wrong with a channel or a policy; the line that is named has the mark #!
CHANNEL_FAULTS = {
    "none of them": ("[channels.c] #!\n", "exactly one of url, url_env, url_file, members; it has none"),
    "several": (
        '[channels.c]\nurl = "ntfy://x"\nurl_env = "X" #!',
        "exactly one of url, url_env, url_file, members; it has url and url_env",
    ),
    "url and members": ('[channels.c]\nurl = "ntfy://x"\nmembers = ["page"] #!', "it has url and members"),
    "no url": ('[channels.c]\nurl = "host/topic" #!', 'channel "c": url is no URL; allowed: an apprise URL'),
    "empty url": ('[channels.c]\nurl = "" #!', "url is no URL"),
    "url as a variable": ('[channels.c]\nurl_env = "ntfy://canary" #!', "url_env is no name; allowed: the name of"),
    "url as a path": ('[channels.c]\nurl_file = "ntfy://canary" #!', "url_file is no path; allowed: the path of"),
    "empty path": ('[channels.c]\nurl_file = " " #!', "url_file is no path"),
    "page": ('[channels.page] #!\nurl = "ntfy://x"', 'channel "page": page is built in'),
    "name": ('[channels."a b"] #!\nurl = "ntfy://x"', 'channel "a b": this name cannot be used; allowed: letters,'),
    "url as a name": ('[channels."ntfy://canary@h"] #!\nurl = "ntfy://x"', 'channel "ntfy://…": this name cannot be'),
    "empty group": ("[channels.c]\nmembers = [] #!", "the group has nobody in it; allowed: names of other channels"),
    "only itself": ('[channels.c]\nmembers = ["c"] #!', "the group has only itself in it"),
    "unknown member": (
        '[channels.c]\nmembers = [\n"page",\n"pone" #!\n]',
        'no channel is called "pone"; did you mean phone?',
    ),
    "url as a member": ('[channels.c]\nmembers = ["ntfy://canary@h"] #!', 'no channel is called "ntfy://…"'),
    "member twice": ('[channels.c]\nmembers = ["page", "phone", "page"] #!', '"page" stands in members twice'),
    "two in a circle": (
        '[channels.a]\nmembers = ["b"] #!\n[channels.b]\nmembers = ["page", "a"]',
        'channel "a": groups contain each other: "a" → "b" → "a"',
    ),
    "three in a circle": (
        (
            '[channels.start]\nmembers = ["a"]\n'
            '[channels.a]\nmembers = ["b"] #!\n[channels.b]\nmembers = ["c"]\n[channels.c]\nmembers = ["a"]'
        ),
        '"a" → "b" → "c" → "a"',
    ),
}

POLICY_FAULTS = {
    "empty name": (REMINDS.replace('"p"', '"" #!'), "policy 1: name is empty; allowed: letters, digits,"),
    "name": (REMINDS.replace('"p"', '"a b" #!'), 'policy "a b": name is "a b"; allowed: letters, digits,'),
    "name twice": (
        f'{REMINDS}kinds = ["stalled"]\n[[policy]]\nexpire_after = "1h"\nname = "p" #!',
        'policy "p": policy 1 has this name already',
    ),
    "unknown kind": (
        f'kinds = ["question",\n"bloker"] #!\n{REMINDS}',
        'no escalation is of kind "bloker"; did you mean blocker?',
    ),
    "impossible": (
        f'urgency = "advisory"\nkinds = ["blocker"] #!\n{REMINDS}',
        "it can never match: blocker is never advisory",
    ),
    "shadowed": (
        f'{REMINDS}[[policy]] #!\nname = "late"\nexpire_after = "1h"\n',
        'policy "late": it can never match: "p" before it takes everything; the narrower one goes first',
    ),
    "shadowed by two": (
        (
            'name = "a"\nurgency = "blocking"\nexpire_after = "1h"\n[[policy]]\nname = "b"\nurgency = "advisory"\n'
            'expire_after = "1h"\n[[policy]] #!\nname = "c"\nkinds = ["question"]\nexpire_after = "1h"\n'
        ),
        'policy "c": it can never match: "a", "b" before it takes everything',
    ),
    "nothing": (
        '[[policy]] #!\nname = "p"\nurgency = "blocking"\n',
        "this policy does nothing; allowed: at least one of",
    ),
    "nobody": ('name = "p"\nremind_after = "10m" #!\n', "remind_after reminds nobody; allowed: with notify, a list of"),
    "empty list": ('name = "p"\nremind_after = "10m" #!\nnotify = []\n', "remind_after reminds nobody"),
    "unknown channel": (REMINDS.replace('["phone"]', '["tem"] #!'), 'no channel is called "tem"; did you mean team?'),
    "url as a channel": (REMINDS.replace('"phone"]', '"ntfy://u:canary@h"] #!'), 'no channel is called "ntfy://…"'),
    "unknown later": (f'{REMINDS}repeat_every = "1h"\nrepeat_at_most = 1\nthen_notify = ["x"] #!', 'is called "x"'),
    "notify without reminder": (
        'name = "p"\nexpire_after = "1h"\nnotify = ["phone"] #!',
        "notify without remind_after",
    ),
    "repeat without reminder": (
        'name = "p"\nexpire_after = "1h"\nrepeat_every = "10m" #!',
        "repeat_every without remind_after does nothing",
    ),
    "most without repetition": (f"{REMINDS}repeat_at_most = 3 #!", "repeat_at_most without repeat_every does nothing"),
    "then without repetition": (f'{REMINDS}then_notify = ["team"] #!', "then_notify without repeat_every does nothing"),
    "endless": (f'{REMINDS}repeat_every = "10m" #!', "repeat_every would never end; allowed: with repeat_at_most, or"),
    "too fast": (f'{REMINDS}repeat_at_most = 2\nrepeat_every = "9s" #!', "repeat_every is 9s; allowed: 10s or more"),
    "repetition after the end": (
        f'{REMINDS}expire_after = "20m"\nrepeat_every = "10m" #!',
        "repeat_every (10m) never comes: expire_after (20m) is before it",
    ),
    "expires before": (
        f'{REMINDS}expire_after = "5m" #!',
        "expire_after (5m) comes before remind_after (10m); allowed:",
    ),
    "expires at once": (f'{REMINDS}expire_after = "600s" #!', "expire_after (600s) is remind_after (10m)"),
    "default and no end": (
        f'{REMINDS}default_answer = "x" #!',
        "default_answer is never given; allowed: with expire_after",
    ),
    "option and no end": (f"{REMINDS}default_option = 1 #!", "default_option is never given"),
    "two defaults": (
        'name = "p"\nexpire_after = "1h"\ndefault_answer = "x"\ndefault_option = 1 #!',
        "default_answer and default_option stand together; allowed: one of them",
    ),
    "empty default": (
        'name = "p"\nexpire_after = "1h"\ndefault_answer = " " #!',
        "default_answer is empty; allowed: a text",
    ),
    "long default": (
        f'name = "p"\nexpire_after = "1h"\ndefault_answer = "{"x" * 100_001}" #!',
        "default_answer is too long; allowed: 100,000 characters",
    ),
    "verify with nothing": (
        'name = "p"\nverify = { seconds = 5 } #!',
        "verify has nothing to verify with; allowed: check =",
    ),
    "verify no person": ('name = "p"\nverify = { person = false } #!', "verify has nothing to verify with"),
    "verify both": ('name = "p"\nverify = { check = ["x"], person = true } #!', "check and person stand together"),
    "verify empty": ('name = "p"\n[policy.verify]\ncheck = [] #!', "verify: check is empty; allowed: a command and"),
    "verify blank": ('name = "p"\nverify = { check = [" "] } #!', "check is empty"),
    "verify NUL": ('name = "p"\nverify = { check = ["x", "\\u0000"] } #!', "check has a NUL character"),
    **{
        f"duration {text!r}": (
            f'{REMINDS}expire_after = "{text}" #!',
            f'expire_after is "{text}"; allowed: a duration such as 30s, 10m, 2h, 1d or 1h30m, from 1s to 365d',
        )
        for text in ("", "-5m", "0s", "366d", "99999999999d", "soon")
    },
}


def refused(folder: Path, text: str) -> tuple[str, int]:
    """The sentence about a file, and the line that it names."""
    with pytest.raises(Invalid, match=r"workspace\.toml:\d+: ") as error:
        checked_settings(in_file(folder, text))
    assert error.value.code == "settings_invalid"
    assert "canary" not in str(error.value) + repr(error.value.extra)
    findings = error.value.extra["findings"]
    assert len(findings) == 1, findings
    found = re.match(r".*workspace\.toml:(\d+): (.*)", error.value.message)
    assert found is not None
    return found[2], int(found[1])


def marked(text: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#!"))


@pytest.mark.parametrize("what", CHANNEL_FAULTS)
def test_a_channel_that_cannot_work_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    text = CHANNELS + CHANNEL_FAULTS[what][0]

    sentence, line = refused(tmp_path, text)

    assert CHANNEL_FAULTS[what][1] in sentence
    assert line == marked(text)


@pytest.mark.parametrize("what", POLICY_FAULTS)
def test_a_policy_that_makes_no_sense_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    given_policy, words = POLICY_FAULTS[what]
    text = CHANNELS + ("" if given_policy.startswith("[[") else "[[policy]]\n") + given_policy

    sentence, line = refused(tmp_path, text)

    assert words in sentence
    assert line == marked(text)


def test_a_narrow_policy_before_a_wide_one_is_no_fault(tmp_path: Path) -> None:
    policies = "".join(
        f'[[policy]]\nname = "{kind}"\nkinds = ["{kind}"]\nexpire_after = "1h"\n'
        for kind in KINDS
        if kind != "question"
    )
    text = policies + '[[policy]]\nname = "rest"\nexpire_after = "1h"\n'

    assert len(checked_settings(in_file(tmp_path, text)).policy) == len(KINDS)


def test_more_channels_and_policies_than_anybody_writes_are_refused(tmp_path: Path) -> None:
    chain = "".join(f'[channels.c{n}]\nmembers = ["c{n + 1}"]\n' for n in range(3_000))
    policies = '[[policy]]\nname = "p"\n' * (MOST + 1)

    with pytest.raises(Invalid, match=r"has more than 200 entries") as error:
        checked_settings(in_file(tmp_path, chain + '[channels.c3000]\nurl = "ntfy://x"\n' + policies))

    messages = [finding.message for finding in error.value.extra["findings"]]
    assert "channels has more than 200 entries; allowed: at most that many" in messages
    assert "policy has more than 200 entries; allowed: at most that many" in messages


def test_all_faults_of_all_policies_are_found_at_once(tmp_path: Path) -> None:
    text = "[channels.c]\n" + "".join(f"[[policy]]\nname = 'p{n}'\nkinds = ['stalled']\n" for n in range(3))

    with pytest.raises(Invalid, match="and 5 more") as error:
        checked_settings(in_file(tmp_path, text))

    assert [finding.line for finding in error.value.extra["findings"]] == [1, 2, 5, 5, 8, 8]
