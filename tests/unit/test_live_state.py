"""What of a running system is found in a context contract: examples that people judged, and what holds for any text."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.live_state import live_values

EXAMPLES = Path(__file__).with_name("live_state_examples.jsonl")
KINDS = ("pod_count", "instance_status", "cloud_id", "ip_address", "cloud_dns", "iam_binding")


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document, and what is live in it as people judge; None for what is declared, named by people, documented, or a
    number of another kind. Nothing was fitted to those held out."""

    kind: str | None
    held_out: bool
    document: Any

    @property
    def found(self) -> set[str]:
        return {value.kind for value in live_values(self.document)}


class Score(NamedTuple):
    examples: int
    precision: float
    recall: float


def examples() -> list[Example]:
    return [msgspec.json.decode(line, type=Example) for line in EXAMPLES.read_text().splitlines()]


def score(chosen: list[Example]) -> Score:
    live = [example for example in chosen if example.kind]
    hits = sum(example.kind in example.found for example in live)
    false = sum(len(example.found - {example.kind}) for example in chosen)
    return Score(len(chosen), hits / (hits + false), hits / len(live))


def test_precision_and_recall_on_the_list_of_examples(capsys: pytest.CaptureFixture[str]) -> None:
    known = examples()
    fitted = score([example for example in known if not example.held_out])
    held_out = score([example for example in known if example.held_out])
    with capsys.disabled():
        for name, found in (("fitted", fitted), ("held out", held_out)):
            print(f"\nlive state, {name}: {found.examples}, precision {found.precision:.3f}, recall {found.recall:.3f}")

    assert fitted.examples + held_out.examples >= 350
    assert held_out.examples * 4 >= len(known)
    assert min(fitted.precision, held_out.precision) >= 0.98
    assert min(fitted.recall, held_out.recall) >= 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_found(kind: str) -> None:
    chosen = [example for example in examples() if example.kind == kind]
    assert len(chosen) >= 10
    assert score(chosen).recall >= 0.85


def test_a_finding_says_where_what_and_how_it_reads() -> None:
    document = {
        "services": [{"name": "api", "pods": 3, "host": "10.0.0.9"}],
        "a/b": {"~": ["x", "in vpc-0a1b2c3d4e5f67890 and vpc-1a2b3c4d"]},
        "sg-903004f8": None,
    }
    assert live_values(document) == [
        ("/services/0/pods", "pod_count", "pods: 3"),
        ("/services/0/host", "ip_address", "10.0.0.9"),
        ("/a~1b/~0/1", "cloud_id", "vpc-0a1b2c3d4e5f67890"),
        ("/a~1b/~0/1", "cloud_id", "vpc-1a2b3c4d"),
        ("/sg-903004f8", "cloud_id", "sg-903004f8"),
    ]
    assert live_values("10.0.0.9") == [("", "ip_address", "10.0.0.9")]


def test_a_long_finding_is_shortened() -> None:
    path = "projects/acme/global/networks/" + "n" * 63
    assert [len(found.shown) for found in live_values({"network": path})] == [80]


def test_an_index_of_a_project_has_nothing_live_in_it() -> None:
    index = {
        "services": {
            "checkout": {
                "path": "services/checkout",
                "owner": "team-shop",
                "port": 8080,
                "replicas": 3,
                "image": "registry.example.org/shop/checkout:2.14.0",
                "depends_on": ["payments", "github.com/acme/ledger:services/ledger"],
                "health": "/healthz",
                "namespace": "shop",
            }
        },
        "clusters": {
            "prod": {"region": "eu-west-1", "module": "infra/eks", "version": "1.29", "network": "10.0.0.0/16"}
        },
        "decisions": [{"id": 12, "status": "accepted", "title": "One queue per service"}],
        "commands": {"test": "make test", "pods": "kubectl get pods -n shop"},
    }
    assert live_values(index) == []


# ---- any value ----------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["pods", "status", "instance_id", "ready", "version", "running", "ip", "a/b", ""]) | st.text(
    st.characters()
)
TEXTS = st.sampled_from(
    ["running", "3/3", "10.0.0.1", "5.5.372.40", "::", "fe80::", "1.2.3.4/99", "vpc-1a2b3c4d", "upgrade to 1.2.3.999"]
) | st.text(st.characters())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@given(VALUES)
def test_any_value_is_read(document: Any) -> None:
    for found in live_values(document):
        assert found.kind in KINDS
        assert 0 < len(found.shown) <= 80


@given(st.text("0123456789abcdef:./%", max_size=60), KEYS)
def test_anything_like_an_address_is_read(text: str, key: str) -> None:
    assert all(found.shown in f"{key}: {text}" for found in live_values({key: text}))


def test_huge_numbers_and_deep_documents_are_read() -> None:
    deep: Any = {"ip": "10.0.0.1", "pods": 10**5_000, "instance_id": -(10**5_000)}
    for _ in range(3_000):
        deep = {"a": [deep]}
    assert [found.kind for found in live_values(deep)] == ["ip_address"]


HOSTILE: dict[str, Callable[[int], str]] = {
    "one word": lambda n: "a" * n,
    "hex": lambda n: "1a2b3c4d" * (n // 8),
    "hyphens": lambda n: "a-" * (n // 2),
    "pod names almost": lambda n: "api-7d9f8b6c5d-x2x4 " * (n // 20),
    "digits": lambda n: "1" * n,
    "dots": lambda n: "1.2.3." * (n // 6),
    "addresses almost": lambda n: "10.0.0.256 " * (n // 11),
    "colons": lambda n: "2001:" * (n // 5),
    "double colons": lambda n: "::" * (n // 2),
    "hosts": lambda n: "a-1." * (n // 4) + "elb.amazonaws.com",
    "load balancers almost": lambda n: ":loadbalancer/a/b/c/d" * (n // 21),
    "subscriptions": lambda n: "/subscriptions/" * (n // 15),
    "projects": lambda n: "projects/a" * (n // 10),
    "service accounts": lambda n: "system:serviceaccount:" * (n // 22),
    "counts": lambda n: "3 pods " * (n // 7),
    "instances": lambda n: "instances " * (n // 10),
    "blanks": lambda n: " " * n + "3 pods",
    "long hosts": lambda n: ("a" * 250 + " ") * (n // 251) + "x.elb.amazonaws.com",
    "repos": lambda n: "repo:a/" * (n // 7),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_time_is_linear_in_a_hostile_text(shape: str) -> None:
    def of(size: int) -> float:
        document = {"a": HOSTILE[shape](size)}
        started = time.process_time()
        live_values(document)
        return time.process_time() - started

    small, large = min(of(20_000) for _ in range(3)), of(160_000)
    assert large < max(40 * small, 0.2)  # eight times as much; quadratic would be 64 times


def test_many_findings_under_a_huge_key_take_little_room() -> None:
    found = live_values({"k" * 100_000: ["10.0.0.9"] * 2_000})
    assert len(found) == 2_000
    assert sum(len(value.pointer) for value in found) < 10_000
