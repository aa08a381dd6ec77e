"""References to other repositories: one identity for every way to write a remote, and no secret in it."""

import itertools
import re
import string
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.references import Identity, Reference, normalise, parse, resolve, why_not

GITHUB = Identity("github.com", "acme", "shop")
NESTED = Identity("gitlab.example.org", "group/sub/team", "api")

SAME = {
    GITHUB: [
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/",
        "https://github.com/acme/shop.git/",
        "https://github.com//acme//shop.git//",
        "https://github.com/acme/shop.git.git",
        "https://github.com/acme/shop.GIT",
        "https://github.com/acme/shop/.git",
        "http://github.com/acme/shop.git",
        "HTTPS://GitHub.COM/acme/shop.git",
        "https://github.com./acme/shop.git",
        "https://github.com:443/acme/shop.git",
        "https://github.com:/acme/shop.git",
        "https://someone@github.com/acme/shop.git",
        "https://someone:secret@github.com/acme/shop.git",
        "https://someone:@github.com/acme/shop.git",
        "https://:secret@github.com:8443/acme/shop.git",
        "https://x-access-token:ghs_secret@github.com/acme/shop.git",
        "https://some%40one:sec%2Fr%3Aet@github.com/acme/shop.git",
        "https://someone:sec@ret@github.com/acme/shop.git",
        "https://github.com/acme/shop.git?access_token=secret",
        "https://github.com/acme/shop.git#secret",
        "https://github.com/%61cme/sh%6Fp.git",
        "git://github.com/acme/shop.git",
        "git://github.com:9418/acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "ssh://github.com/acme/shop.git",
        "ssh://git:secret@github.com:22/acme/shop.git",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "git+ssh://git@github.com/acme/shop.git",
        "ssh+git://git@github.com/acme/shop.git",
        "git+ssh://git@github.com:acme/shop.git",
        "git+https://github.com/acme/shop.git",
        "ftp://github.com/acme/shop.git",
        "ftps://github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "git@github.com:/acme/shop.git",
        "git@github.com:acme/shop",
        "git@github.com:acme/shop/",
        "github.com:acme/shop.git",
        "@github.com:acme/shop.git",
        "git@GITHUB.com:acme/shop.git",
        "[git@github.com:2222]:acme/shop.git",
        "[github.com:2222]:acme/shop.git",
        "  https://github.com/acme/shop.git\n",
    ],
    NESTED: [
        "https://gitlab.example.org/group/sub/team/api.git",
        "ssh://git@gitlab.example.org:2222/group/sub/team/api.git",
        "git@gitlab.example.org:group/sub/team/api.git",
        "https://oauth2:glpat-secret@gitlab.example.org:8443/group/sub/team/api/",
    ],
    Identity("[2001:db8::1]", "acme", "shop"): [
        "https://[2001:db8::1]/acme/shop.git",
        "https://[2001:DB8:0:0::1]:8443/acme/shop.git",
        "ssh://git@[2001:db8::1]:22/acme/shop.git",
        "git@[2001:db8::1]:acme/shop.git",
        "[2001:db8::1]:acme/shop.git",
    ],
    Identity("[fe80::1]", "acme", "shop"): ["https://[fe80::1%25eth0]/acme/shop.git"],
    Identity("192.0.2.7", "acme", "shop"): ["https://192.0.2.7:8080/acme/shop", "git@192.0.2.7:acme/shop.git"],
    Identity("git.example.org", "~user", "shop"): [
        "https://git.example.org/~user/shop",
        "git@git.example.org:~user/shop",
    ],
    Identity("git.example.org", "srv/git", "shop"): [
        "git@git.example.org:/srv/git/shop.git",
        "ssh://git.example.org/srv/git/shop.git",
    ],
    Identity("intranet", "my group", "shop"): [
        "https://intranet/my%20group/shop.git",
        "git@intranet:my group/shop.git",
    ],
    Identity("xn--bcher-kva.example", "acme", "shöp"): [
        "https://bücher.example/acme/sh%C3%B6p.git",
        "git@BÜCHER.example:acme/shöp.git",
    ],
    Identity("dev.azure.com", "acme/shop", "api"): [
        "https://acme@dev.azure.com/acme/shop/_git/api",
        "git@ssh.dev.azure.com:v3/acme/shop/api",
    ],
    Identity("dev.azure.com", "acme/shop", "shop"): ["https://dev.azure.com/acme/_git/shop"],
    # To git a number behind `host:` is a folder, not a port.
    Identity("git.example.org", "2222/acme", "shop"): ["git@git.example.org:2222/acme/shop.git"],
}

NONE = {
    "": "empty",
    "   ": "empty",
    "/srv/git/shop.git": "local",
    "./shop": "local",
    "../acme/shop.git": "local",
    "~/acme/shop": "local",
    "C:\\acme\\shop": "local",
    "c:/acme/shop": "local",
    "\\\\server\\acme\\shop": "local",
    "file:///srv/git/shop.git": "local",
    "file://host/acme/shop.git": "local",
    "FILE:/srv/acme/shop": "local",
    "shop": "neither",
    "github.com/acme/shop": "neither",
    "ext::sh -c 'cat /etc/passwd' acme/shop": "helper",
    "codecommit::eu-west-1://profile@shop": "helper",
    "https::https://github.com/acme/shop": "helper",
    "svn://host/acme/shop": "scheme",
    "javascript://github.com/acme/shop": "scheme",
    "https://github.com": "owner",
    "https://github.com/": "owner",
    "https://github.com/shop.git": "owner",
    "git@github.com:shop.git": "owner",
    "git@github.com:": "owner",
    "https://github.com/acme/.git": "owner",
    "https:///acme/shop.git": "host",
    "https://-oProxyCommand=x/acme/shop": "host",
    "https://ho st/acme/shop": "host",
    "https://ho%2Fst/acme/shop": "host",
    "https://[::1/acme/shop": "host",
    "https://[zz::1]/acme/shop": "host",
    "https://" + "a" * 300 + "/acme/shop": "host",
    "https://github.com:https/acme/shop": "port",
    "https://github.com:999999/acme/shop": "port",
    "https://github.com/../shop": "path",
    "https://github.com/%2e%2e/shop": "path",
    "https://github.com/acme/sh%2Fop": "path",
    "https://github.com/acme/sh%00op": "path",
    "https://github.com/acme/sh%FFop": "path",
    "https://github.com/acme/sh\u202eop": "path",
    "https://github.com/acme/sh\ud800op": "path",
    "https://github.com/acme/sh\nop": "path",
    "https://someone:sec/ret@github.com/acme/shop": "@",
    "https://someone:12/34@github.com/acme/shop": "@",
    "ssh://someone:se/cr?et@github.com/acme/shop": "@",
    "https://someone:12/3/4#secret@github.com/acme/shop": "@",
    "someone:secret@github.com:acme/shop": "path",
    "https://github.com/" + "a/" * 2_000: "longer",
}


@pytest.mark.parametrize(("remote", "identity"), [(remote, known) for known, all_ in SAME.items() for remote in all_])
def test_every_way_to_write_a_remote_gives_one_identity(remote: str, identity: Identity) -> None:
    assert normalise(remote) == identity
    assert why_not(remote) is None


@pytest.mark.parametrize("remote", NONE, ids=lambda remote: ascii(remote)[:60])
def test_what_is_no_remote_has_no_identity_and_a_reason(remote: str) -> None:
    assert normalise(remote) is None
    assert NONE[remote] in str(why_not(remote))


def test_no_secret_user_or_port_comes_out() -> None:
    for remote in [*NONE, *itertools.chain(*SAME.values())]:
        out = f"{normalise(remote)} {why_not(remote)}"
        assert not re.search(r"sec|ret|someone|ghs_|:22|8443|\.git|token", out), remote


# ---- any remote ---------------------------------------------------------------------------------------------------

WORDS = st.text(string.ascii_letters + string.digits + "-_.+~ é", min_size=1, max_size=12).filter(
    lambda word: word == word.strip() and word not in (".", "..") and not word.lower().endswith(".git")
)
LABELS = st.text(string.ascii_letters + string.digits, min_size=2, max_size=8)
HOSTS = st.lists(LABELS, min_size=1, max_size=3).map(".".join) | st.sampled_from(["[2001:db8::7]", "192.0.2.1"])
SECRETS = st.text(min_size=1, max_size=10).map(lambda text: quote(f"QQ{text}QQ", safe=""))


@given(
    HOSTS,
    st.lists(WORDS, min_size=2, max_size=5),
    SECRETS,
    st.integers(1, 65_535),
    st.sampled_from(["", ".git", "/", ".git/"]),
)
def test_all_forms_of_one_address_agree(host: str, path: list[str], secret: str, port: int, end: str) -> None:
    written, coded = "/".join(path), "/".join(quote(part, safe="") for part in path)
    identity = Identity(host.lower(), "/".join(path[:-1]), path[-1])
    forms = [
        f"https://{host}/{coded}{end}",
        f"HTTPS://u:{secret}@{host.upper()}:{port}/{coded}{end}?q={port}",
        f"ssh://git@{host}:{port}/{coded}{end}",
        f"git://{host}/{coded}{end}",
        f"git@{host}:{written}{end}",
    ]
    assert {normalise(form) for form in forms} == {identity}


@given(HOSTS, st.lists(WORDS, min_size=2, max_size=4), WORDS, WORDS)
def test_a_reference_is_read_back_as_it_was_written(host: str, path: list[str], table: str, name: str) -> None:
    reference = Reference(host.lower(), "/".join(path[:-1]), path[-1], table, name)
    assert parse(str(reference)) == reference
    assert normalise(f"https://{reference.identity}.git") == reference.identity


PIECES = [*"abC1@:/[]%.?#~\\ \n", "://", "https", "ssh", "ssh://", ".git", "%2e", "::", "a/b", "é", "\ud800"]
HOSTILE = st.lists(st.sampled_from(PIECES)).map("".join)


@given(HOSTILE | st.text(st.characters()))
def test_any_text_is_read_or_refused(text: str) -> None:
    identity, reference = normalise(text), parse(text)
    assert (identity is None) == (why_not(text) is not None)
    for found in (identity, reference and reference.identity):
        if found is not None:
            assert not set("@:?#\\") & set(found.owner + found.repo)
            assert not found.repo.lower().endswith(".git")
            assert normalise(f"https://{found}") == found


@given(
    st.text(string.ascii_letters + string.digits + ":/@?#%[]", min_size=1, max_size=20),
    st.sampled_from(["https", "ssh", "git"]),
)
def test_an_unescaped_password_is_left_out_or_the_remote_refused(password: str, scheme: str) -> None:
    assert normalise(f"{scheme}://u:{password}@github.com/acme/shop") in (GITHUB, None)
    assert normalise(f"u:{password}@github.com:acme/shop") is None


# ---- references ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github.com/acme/shop:services/api", (*GITHUB, "services", "api")),
        ("GitHub.com/acme/shop.git:services/api", (*GITHUB, "services", "api")),
        (" github.com/acme/shop:services/api ", (*GITHUB, "services", "api")),
        ("gitlab.example.org/group/sub/team/api:queues/orders.v2", (*NESTED, "queues", "orders.v2")),
        ("[2001:DB8::1]/acme/shop:services/api", ("[2001:db8::1]", "acme", "shop", "services", "api")),
        ("intranet/my%20group/shop:a%20table/x", ("intranet", "my group", "shop", "a table", "x")),
    ],
)
def test_a_reference_names_a_repository_and_an_entry(text: str, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "github.com/acme/shop",
        "github.com/acme/shop:",
        "github.com/acme/shop:services",
        "github.com/acme/shop:services/",
        "github.com/acme/shop:/api",
        "github.com/acme/shop:services//api",
        "github.com/acme/shop:services/api/x",
        "github.com/acme/shop:services/..",
        "github.com/acme/shop:a:b/c",
        "github.com/shop:services/api",
        "shop:services/api",
        "https://github.com/acme/shop:services/api",
        "git@github.com:acme/shop:services/api",
        "github.com:443/acme/shop:services/api",
        "someone:secret@github.com/acme/shop:services/api",
        "someone@github.com/acme/shop:services/api",
        "github.com/../shop:services/api",
        "/acme/shop:services/api",
        "github.com/acme/shop:services/a\npi",
        "github.com/acme/shop:services/" + "a" * 5_000,
    ],
    ids=lambda text: ascii(text)[:60],
)
def test_anything_else_is_no_reference(text: str) -> None:
    assert parse(text) is None


def reference(text: str) -> Reference:
    found = parse(text)
    assert found is not None
    return found


def test_a_reference_leads_to_the_known_checkout() -> None:
    known = {GITHUB: "/code/shop", NESTED: "/code/api"}
    assert resolve(reference("github.com/acme/shop:services/api"), known) == "/code/shop"
    assert resolve(reference("gitlab.example.org/group/sub/team/api:t/n"), known) == "/code/api"
    assert resolve(reference("gitlab.example.org/group/sub/api:t/n"), known) is None


def test_case_makes_no_difference_only_on_hosts_that_fold_it() -> None:
    known = {GITHUB: "/code/shop", NESTED: "/code/api"}
    assert resolve(reference("github.com/Acme/Shop:t/n"), known) == "/code/shop"
    assert resolve(reference("gitlab.example.org/Group/sub/team/api:t/n"), known) is None
    exact = {**known, Identity("github.com", "Acme", "Shop"): "/code/other"}
    assert resolve(reference("github.com/Acme/Shop:t/n"), exact) == "/code/other"
