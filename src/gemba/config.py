"""A workspace (the folder that has `.gemba/`) and its settings, read once and checked whole.

`Settings` is the type of `.gemba/workspace.toml`; what the file does not say has the default written here.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from gemba import toml, typed, wire
from gemba.errors import Invalid, Unusable

# A unix socket's path is limited to 108 bytes on Linux and 104 elsewhere.
_LONGEST_SOCKET_PATH = 100
_LONGEST_PREFIX = 20  # of one that is made of a folder's name
_LISTED = ": `gemba policy check` lists them"

Need = Literal["off", "report", "require"]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Duration = Annotated[str, msgspec.Meta(description="a duration such as 30s, 10m, 2h, 1d or 1h30m")]


class Secret:
    """A text that holds a password, or may: nothing that prints, logs or encodes it gets more than its scheme."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    @property
    def scheme(self) -> str | None:
        """What stands before `://`, in small letters."""
        return scheme_of(self._text)

    def __repr__(self) -> str:
        return f"Secret({self.scheme or ''}://…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`url` of a PostgreSQL database; without one, SQLite in `.gemba/gemba.db`. GEMBA_DATABASE_URL goes before it."""

    url: str = ""


class EventSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much of the event log is kept. Escalations and assumptions themselves are kept for ever."""

    keep_days: AtLeastOne = 30
    keep_at_most: AtLeastOne = 1_000_000


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where `gemba serve` listens unless its flags say otherwise."""

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 4680
    max_body_bytes: Annotated[int, msgspec.Meta(ge=1024)] = 1_048_576


class ReplySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reply that nobody has read for this long is shown as undelivered (and is still delivered when it is read)."""

    undelivered_after_seconds: AtLeastOne = 60


class SessionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent that Gemba started printed is kept for so many days after its end."""

    keep_transcripts_days: Annotated[int, msgspec.Meta(ge=1, le=36_500)] = 30


class FlowSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A process that runs flows and has not been heard of for this long is dead: another one takes them over."""

    lease_seconds: Annotated[int, msgspec.Meta(ge=2, le=3600)] = 15


class ChannelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to reach somebody, exactly one of: an apprise URL, where one is kept, a group of other channels."""

    url: Secret | None = None
    url_env: str | None = None
    url_file: str | None = None
    members: tuple[str, ...] | None = None


class VerifySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an answer must pass before it is delivered: a command that exits 0 within `seconds`, or a second person."""

    check: tuple[str, ...] | None = None
    seconds: Annotated[int, msgspec.Meta(ge=1, le=600)] = 30
    person: bool = False


class PolicySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to an escalation that nobody answers. The first policy of the file that fits is the one."""

    name: str
    urgency: Literal["blocking", "advisory"] | None = None
    kinds: tuple[str, ...] = ()
    remind_after: Duration | None = None
    repeat_every: Duration | None = None
    repeat_at_most: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = None
    notify: tuple[str, ...] = ()
    then_notify: tuple[str, ...] = ()
    expire_after: Duration | None = None
    default_answer: str | None = None
    default_option: Annotated[int, msgspec.Meta(ge=1, le=wire.MAX_OPTIONS)] | None = None
    verify: VerifySettings | None = None


class AttentionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a minute of an agent that waits costs; 0 leaves costs out."""

    cost_per_agent_minute: Annotated[float, msgspec.Meta(ge=0, le=1_000_000)] = 0.0
    currency: Annotated[str, msgspec.Meta(min_length=1, max_length=8)] = "EUR"


class GateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[handoff.gate]`: what a gate makes of each check of the world: none of it, a line in the verdict, or a refusal
    of a COMPLETE that fails it. A dispatch may say otherwise.

    A command is the agent's own words, and to run it again is the operator's choice: off unless a gate says otherwise.
    """

    files_produced: Need = "report"
    artifacts_written: Need = "report"
    files_modified: Need = "report"
    line_counts: Need = "report"
    commands_run: Need = "report"
    verification: Need = "report"
    tool_calls: Need = "report"
    uncommitted: Need = "report"
    unpushed: Need = "report"
    rerun_verification: Need = "off"
    rerun_commands: Need = "off"


class HandoffSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of the envelopes that agents send back."""

    gate: GateSettings = GateSettings()


class WorkSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`prefix` of the ids that new work items get; empty: made of the name of the workspace's folder."""

    prefix: Annotated[
        str,
        msgspec.Meta(
            max_length=32,
            pattern=r"^([A-Za-z][A-Za-z0-9_-]*)?$",
            description="a letter, then up to 31 letters, digits, '_' or '-'",
        ),
    ] = ""


class ConsultSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[consults]`: who answers where neither a request nor a persona says it (`builtin`: the advisor that needs no
    model), how long one may take, and how long its lines can be applied."""

    agent_type: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)] = "builtin"
    timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=86_400)] = 600
    applicable_days: Annotated[int, msgspec.Meta(ge=1, le=3_650)] = 7


class AutoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[auto]`: whether ready work is given to agents without a person, for types of agents that say so too, and how
    many pieces of it may run at once. An operator's switch goes before `enabled`."""

    enabled: bool = False
    max_parallel: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 4


class TeamSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[teams]`: the type of agent that a run has unless it names one (`builtin` needs no model), how many of its tasks
    may be worked on at once, and how long one whose worker is not heard of is left to it."""

    agent: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)] = "builtin"
    max_parallel: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 8
    lease_seconds: Annotated[int, msgspec.Meta(ge=2, le=3_600)] = 45


class CapSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[caps]`: what the whole workspace may take, whatever it costs; 0 is no cap. Each type of agent has limits of its
    own in agents.toml."""

    max_parallel: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0  # agents at once
    turns_per_hour: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 0
    tokens_per_hour: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 0
    no_progress_tokens: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 0  # since an item was handed in or finished


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of workspace.toml."""

    store: StoreSettings = StoreSettings()
    events: EventSettings = EventSettings()
    server: ServerSettings = ServerSettings()
    reply: ReplySettings = ReplySettings()
    sessions: SessionSettings = SessionSettings()
    flows: FlowSettings = FlowSettings()
    attention: AttentionSettings = AttentionSettings()
    handoff: HandoffSettings = HandoffSettings()
    work: WorkSettings = WorkSettings()
    consults: ConsultSettings = ConsultSettings()
    auto: AutoSettings = AutoSettings()
    teams: TeamSettings = TeamSettings()
    caps: CapSettings = CapSettings()
    channels: dict[str, ChannelSettings] = {}
    policy: tuple[PolicySettings, ...] = ()


class Finding(msgspec.Struct, frozen=True):
    """One fault of workspace.toml: the line it stands in, and a sentence: what was found, what is allowed."""

    line: int
    message: str


class Workspace(msgspec.Struct, frozen=True):
    """A workspace's places on disk. It is identified by its real path."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".gemba"

    @property
    def settings_file(self) -> Path:
        return self.folder / "workspace.toml"

    @property
    def database_file(self) -> Path:
        return self.folder / "gemba.db"

    @property
    def backups(self) -> Path:
        return self.folder / "backups"

    @property
    def signal_folder(self) -> Path:
        return self.folder / "signal"

    @property
    def flows_file(self) -> Path:
        """The durable engine's own tables, where the database is SQLite."""
        return self.folder / "flows.db"

    @property
    def executors_folder(self) -> Path:
        return self.folder / "executors"

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    @property
    def operators_folder(self) -> Path:
        """The tokens of those who were added by name."""
        return self.folder / "operators"

    @property
    def lock_file(self) -> Path:
        return self.folder / "serve.lock"

    @property
    def port_file(self) -> Path:
        """The port that the last server got, so that pages that are open find the next one."""
        return self.folder / "port"

    @property
    def server_file(self) -> Path:
        """What a running server says of itself: pid, address, socket. It never holds the token."""
        return self.folder / "server.json"

    @property
    def socket_fits(self) -> bool:
        return len(os.fsencode(self.folder / "gemba.sock")) <= _LONGEST_SOCKET_PATH

    def work_prefix(self, settings: Settings) -> str:
        """What the ids of new work items begin with."""
        name = re.sub("[^a-z0-9]+", "-", self.root.name.lower())[:_LONGEST_PREFIX].strip("-")
        return settings.work.prefix or (name if name[:1].isalpha() else f"w{name}" if name else "work")

    def database_url(self, settings: Settings) -> str:
        url = os.environ.get("GEMBA_DATABASE_URL") or settings.store.url
        return url or f"sqlite:///{self.database_file}"


def open_workspace(start: Path | None = None) -> Workspace:
    """The workspace of a folder, or of the current one as agents find it; an error says how to make one."""
    folder = start or _here()
    if not folder.is_dir():
        raise Unusable(f"{folder} is not a folder", code="no_folder")
    try:
        found = wire.find_workspace(str(folder)) if start is None else wire.workspace_above(str(folder))
    except wire.Refused as error:
        raise Unusable(str(error), code="no_home") from None
    if found and (Path(found) / ".gemba").is_dir():
        return Workspace(Path(found))
    if found:
        raise Unusable(
            f"GEMBA_WORKSPACE is {found}, which has no .gemba folder: correct it, or unset it to use the workspace of "
            "the current folder",
            code="no_workspace",
        )
    raise Unusable(
        f"no workspace: neither {folder} nor a folder above it has a .gemba folder; `gemba init` makes one",
        code="no_workspace",
    )


def read_settings(workspace: Workspace, judge: Callable[[Settings], Iterable[toml.Fault]] | None = None) -> Settings:
    """The settings; a fault is an Invalid, as in `parse_settings`. Without the file, what goes without saying."""
    path = workspace.settings_file
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="settings_unreadable") from None
    return parse_settings(raw, path, judge)


def parse_settings(
    raw: bytes, path: Path | str, judge: Callable[[Settings], Iterable[toml.Fault]] | None = None
) -> Settings:
    """The settings that a file's bytes say, or an Invalid that names the line of the first fault and has all of them as
    `extra["findings"]`.

    `judge` finds what no type can say, of everything that fits its type.
    """
    try:
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "settings_syntax", _LISTED) from None
    try:
        settings = typed.convert(document, Settings, dec_hook=_revive)
        faults = [] if judge is None else list(judge(settings))
    except msgspec.ValidationError as error:
        faults = toml.misfits(document, Settings) or [toml.Fault((), str(error))]
        faults += _faults_of_the_rest(document, faults, judge)
    else:
        if not faults:
            return settings
    lines = toml.places(text)
    findings = [Finding(toml.line_of(place, lines), _where(place, document) + words) for place, words in faults]
    raise refused(path, findings, "settings_invalid", _LISTED)


def _faults_of_the_rest(
    document: dict[str, Any], misfits: list[toml.Fault], judge: Callable[[Settings], Iterable[toml.Fault]] | None
) -> list[toml.Fault]:
    """What a judge finds in what fits its type. A value that does not fit counts as not given: what is wrong only
    where something is not given cannot be told beside it."""
    rest = _fitting(document, misfits)
    if judge is None or rest is None:
        return []
    at_fault = {fault.place for fault in misfits}
    incomplete = any(place[:1] in (("policy",), ("channels",)) for place in at_fault)
    found = (fault for fault in judge(rest) if not (incomplete and isinstance(fault, toml.Absence)))
    return [fault for fault in found if fault.place not in at_fault]


def fitting_settings(raw: bytes) -> Settings | None:
    """What a file says as far as it fits its types; None when that is not to be told."""
    try:
        document = toml.load(raw)[1]
    except toml.NotToml:
        return None
    return _fitting(document, toml.misfits(document, Settings))


def _fitting(document: dict[str, Any], misfits: list[toml.Fault]) -> Settings | None:
    rest = toml.fitting(document, misfits)
    policies = rest.get("policy", [])
    for number, policy in enumerate(policies if isinstance(policies, list) else []):
        if isinstance(policy, dict):
            policy.setdefault("name", f"\0{number}")  # like no other, so that no second one is found to have it
    try:
        return typed.convert(rest, Settings, dec_hook=_revive)
    except msgspec.ValidationError:
        return None


def refused(path: Path | str, findings: list[Finding], code: str, listed: str = "") -> Invalid:
    """What says that a file is not used: its first fault with the line, and all of them as `extra["findings"]`."""
    findings = sorted(findings, key=lambda finding: finding.line)
    first, more = findings[0], len(findings) - 1
    rest = f" (and {more} more{listed})" if more else ""
    return Invalid(f"{path}:{first.line}: {first.message}{rest}", code=code, findings=findings)


def _where(place: toml.Place, document: dict[str, Any]) -> str:
    """What a place belongs to, as its sentence begins."""
    match place:
        case ("policy", int(number), *inside):
            name = document["policy"][number].get("name") if isinstance(document["policy"][number], dict) else None
            shown = toml.quoted(name) if isinstance(name, str) and name else str(number + 1)
            return f"policy {shown}: " + ("verify: " if len(inside) > 1 and inside[0] == "verify" else "")
        case ("channels", str(name), *_):
            return f"channel {toml.quoted(name)}: "
        case ("handoff", "gate", _, *_):
            return "[handoff.gate] "
        case (str(table), _, *_):
            return f"[{table}] "
    return ""


def scheme_of(text: str) -> str | None:
    found = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]{0,31})://", text)
    return None if found is None else found[1].lower()


def _revive(kind: type, value: Any) -> Any:
    """msgspec's way to the types that it does not know."""
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    raise NotImplementedError if kind is not Secret else TypeError("Expected `str`")


def origin_of(home: Path) -> str:
    """A name for this home that no other home has: where frames came from, and so where their replies go.

    Several machines may share a database; each reads its own logs and writes its own replies.
    """
    file = home / "origin"
    try:
        if not file.exists():
            (home / "sessions").mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=home, prefix=".origin-") as partial:
                partial.write(wire.new_event_id())
                partial.flush()
                with contextlib.suppress(FileExistsError):
                    os.link(partial.name, file)  # unlike a rename it keeps one that was made meanwhile
        origin = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Unusable(f"{home} cannot be used: {reason}", code="home_unusable") from None
    if not wire.valid_event_id(origin):
        raise Unusable(f"{file} holds no id; without it a new one is made", code="home_unusable")
    return origin


def home() -> Path:
    """GEMBA_HOME: session logs and replies of every workspace of this user."""
    try:
        return Path(wire.home())
    except wire.Refused as error:
        raise Unusable(str(error), code="no_home") from None


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise Unusable("the current folder does not exist any more", code="no_folder") from None
