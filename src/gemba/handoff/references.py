"""References from one repository's context to another's, `host/owner/repo:table/name`, and remotes as identities.

One parser (`parse`), one normaliser for what git takes as a remote (`normalise`), one resolver (`resolve`). All ways
to write a repository's address give one `Identity`: the host in lower case, the owner (on GitLab the whole path of
groups) and the repository as they are written. User, password, port, `.git`, query and fragment never reach it, nor the
reason why a remote is refused: `why_not` quotes nothing of it. Pure, total, linear; for context contracts and messages.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

_LONGEST = 2_000
_SCHEMES = frozenset({"http", "https", "ssh", "git", "ftp", "ftps"})
_SSH = frozenset({"ssh", "git+ssh", "ssh+git"})
_ALIASES = {  # other doors of the same host
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_FOLDING = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})  # where case makes no difference

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = re.compile(r"(?:[^@:/\[\]]*@)?(\[[^\]/]*\]|[^:/@\[\]]+):(.*)")
_SCP_IN_BRACKETS = re.compile(r"\[(?:[^@\]/]*@)?([^:@\]/]+)(?::[0-9]*)?\]:(.*)")  # git: [user@host:port]:path
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*")
_PORT = re.compile(r"[0-9]{0,5}")
_FORBIDDEN = re.compile(r"""[@:/\\?#\[\]<>"'`|*^{}$%\ufffd]""")  # in a name, beside what cannot be printed
_LOCAL = re.compile(r"[./~\\]|[A-Za-z]:|file:", re.IGNORECASE)


class Identity(NamedTuple):
    """Which repository, however its remote is written."""

    host: str
    owner: str  # with slashes where groups are nested
    repo: str

    def __str__(self) -> str:
        return "/".join((self.host, quote(self.owner, "/~"), quote(self.repo, "~")))


class Reference(NamedTuple):
    """An entry of another repository's context."""

    host: str
    owner: str
    repo: str
    table: str
    name: str

    @property
    def identity(self) -> Identity:
        return Identity(self.host, self.owner, self.repo)

    def __str__(self) -> str:
        return f"{self.identity}:{quote(self.table, '~')}/{quote(self.name, '~')}"


def parse(text: str) -> Reference | None:
    """What a reference names; None for anything else, such as a URL or what has a user or a port in it."""
    if len(text) > _LONGEST:
        return None
    before, colon, entry = text.strip().rpartition(":")
    host, slash, path = before.partition("/")
    identity = _identity(host, path, decode=True) if colon and slash else None
    names = _segments(entry, decode=True)
    if not isinstance(identity, Identity) or names is None or len(names) != 2 or entry.count("/") != 1:
        return None
    return Reference(*identity, *names)


def normalise(remote: str) -> Identity | None:
    """The repository that a remote leads to; None for a local path and for what git would not take."""
    found = _read(remote)
    return found if isinstance(found, Identity) else None


def why_not(remote: str) -> str | None:
    """Why a remote has no identity, in words that quote nothing of it; None when it has one."""
    found = _read(remote)
    return found if isinstance(found, str) else None


def resolve(named: Reference | Identity, known: Mapping[Identity, str]) -> str | None:
    """Where the repository is, of those that are known; on hosts that fold case, in any case."""
    wanted = named.identity if isinstance(named, Reference) else named
    if wanted in known or wanted.host not in _FOLDING:
        return known.get(wanted)
    return next((path for identity, path in known.items() if _folded(identity) == _folded(wanted)), None)


def _folded(identity: Identity) -> Identity:
    return Identity(identity.host, identity.owner.casefold(), identity.repo.casefold())


def _read(remote: str) -> Identity | str:
    """The identity, or why there is none."""
    remote = remote.strip()
    if not remote:
        return "the remote is empty"
    if len(remote) > _LONGEST:
        return f"the remote is longer than {_LONGEST} characters"
    if url := _URL.match(remote):
        if (
            "@" in remote[url.end(2) :]
        ):  # git ends a password at its first / ? or #, and so the rest of it would be seen
            return "the remote has an @ behind its host: in a user or password write / ? # and @ as %2F %3F %23 and %40"
        return _read_url(url[1].lower(), url[2], url[3])
    if _LOCAL.match(remote):
        return "the remote is a local path"
    if "::" in remote.partition("/")[0].partition("[")[0]:
        return "the remote needs a helper program, of which nothing is known"
    found = _SCP_IN_BRACKETS.fullmatch(remote) or _SCP.fullmatch(remote)
    if found is None:
        return "the remote is neither a URL nor host:path"
    return _identity(found[1], found[2], decode=False)


def _read_url(scheme: str, authority: str, path: str) -> Identity | str:
    if scheme == "file":
        return "the remote is a local path"
    if scheme not in _SSH and scheme.removeprefix("git+") not in _SCHEMES:
        return "the remote has a scheme other than https, http, ssh, git, ftp and ftps"
    place = authority.rpartition("@")[2]
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not colon:
        host = place
    elif not _PORT.fullmatch(port):
        if scheme not in _SSH:
            return "the remote's port is not a number"
        path = f"{port}/{path}"  # ssh://git@host:owner/repo, as package managers write it
    return _identity(host, path, decode=True)


def _identity(host: str, path: str, *, decode: bool) -> Identity | str:
    name = _host(unquote(host) if decode else host)
    if name is None:
        return "the remote's host is not a name or an address"
    segments = _segments(path, decode=decode)
    if segments is None:
        return "the remote's path has characters that no owner or repository has"
    if name == "dev.azure.com":
        segments = _without_azure_words(segments)
    while segments and not (repo := _without_git(segments[-1])):
        segments.pop()
    if len(segments) < 2:
        return "the remote's path has no owner and repository"
    return Identity(name, "/".join(segments[:-1]), repo)


def _without_git(repo: str) -> str:
    while repo.lower().endswith(".git"):
        repo = repo[:-4]
    return repo


def _without_azure_words(segments: list[str]) -> list[str]:
    """https has `_git` before the repository, ssh has `v3` before the organisation."""
    match segments:
        case ["v3", organisation, project, repo] | [organisation, project, "_git", repo]:
            return [organisation, project, repo]
        case [organisation, "_git", repo]:  # of the project that has the same name
            return [organisation, repo, repo]
    return segments


def _segments(path: str, *, decode: bool) -> list[str] | None:
    """The parts of a path that say something; None when one of them could not be part of a name."""
    found = []
    for part in path.split("/"):
        segment = unquote(part) if decode else part
        if segment in (".", "..") or segment != segment.strip() or not _is_name(segment):
            return None
        if segment:
            found.append(segment)
    return found


def _is_name(segment: str) -> bool:
    return segment.isprintable() and not _FORBIDDEN.search(segment)


def _host(host: str) -> str | None:
    host = host.lower()
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1].partition("%")[0])
    host = host.removesuffix(".")
    if not host.isascii():
        try:
            host = host.encode("idna").decode() if len(host) <= 253 else ""
        except UnicodeError:
            return None
    if len(host) > 253 or len(host) < 2 or not _HOST.fullmatch(host):
        return None
    return _ALIASES.get(host, host)


def _ipv6(text: str) -> str | None:
    try:
        return f"[{ipaddress.IPv6Address(text)}]"
    except ValueError:
        return None
