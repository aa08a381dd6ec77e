"""Finds in a context contract what belongs to a running system: an index says where things are, not how they are now.

`live_values(payload)` names the places of pod counts, states of instances, ids of live cloud resources (AWS, GCP,
Azure), IP addresses, DNS names given out by a cloud, and IAM bindings derived from OIDC, each with its JSON pointer.
They become the warning `LIVE_STATE`, and a refusal where a section is strict. In doubt nothing is found: version
numbers, ranges (10.0.0.0/16), declared sizes (`replicas`, `max_pods`) and names that people chose are no live state.
Pure; takes any JSON value at any depth; linear in its size. What texts give it away is in `live_text.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gemba.handoff.live_text import IAM_KEYS, live_texts, word_set
from gemba.handoff.value import Place

_LONGEST_SHOWN = 80
_LONGEST_KEY = 200  # a longer key is text, not a name


class LiveValue(NamedTuple):
    pointer: str
    kind: str  # pod_count, instance_status, cloud_id, ip_address, cloud_dns, iam_binding
    shown: str  # what was found, shortened


def live_values(payload: Any) -> list[LiveValue]:
    """What of a running system stands in a payload, in the order of the document."""
    found: list[LiveValue] = []
    for node in _nodes(payload):
        found += (LiveValue(node.place.pointer, kind, _shown(text)) for kind, text in _findings(node))
    return found


class _Node(NamedTuple):
    """A value with the words of the keys above it, the nearest last."""

    place: Place
    key: str  # the nearest key; an item of a list has its list's
    words: tuple[str, ...]
    above: tuple[str, ...]  # words of the two keys above that one
    value: Any
    is_item: bool


def _nodes(payload: Any) -> Iterator[_Node]:
    waiting = [_Node(Place(), "", (), (), payload, False)]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node.value, dict):
            above = (*node.above[-4:], *node.words[-4:])
            children = [
                _Node(node.place.child(key), str(key), _words_of(str(key)), above, value, False)
                for key, value in node.value.items()
            ]
        elif isinstance(node.value, list):
            children = [
                node._replace(place=node.place.child(position), value=value, is_item=True)
                for position, value in enumerate(node.value)
            ]
        else:
            continue
        waiting += reversed(children)


def _findings(node: _Node) -> Iterator[tuple[str, str]]:
    if node.key and not node.is_item:
        yield from live_texts(node.key, frozenset(), frozenset(node.above))
        if isinstance(node.value, str) and _binds_identity(node):
            yield "iam_binding", f"{node.key}: {node.value}"
    if isinstance(node.value, dict | list):
        return
    words = frozenset(node.words)
    if not node.is_item and _is_pod_count(words, node):
        yield "pod_count", f"{node.key}: {node.value}"
    elif not node.is_item and _is_status(words, node):
        yield "instance_status", f"{node.key}: {node.value}"
    elif _is_known_id(node.words, node.value):
        yield "cloud_id", f"{node.key}: {node.value}"
    elif isinstance(node.value, str):
        yield from live_texts(node.value, words, frozenset(node.above))


def _binds_identity(node: _Node) -> bool:
    """A value that its key says to be what a token of OIDC becomes."""
    is_named_so = not _OIDC.isdisjoint(node.words) or {"workload", "identity"} <= set(node.words)
    return bool(node.value and IAM_KEYS.fullmatch(node.key)) or (is_named_so and bool(_IAM_ROLE.match(node.value)))


_OIDC = frozenset({"oidc", "irsa", "federated"})
_IAM_ROLE = re.compile(r"arn:aws[\w-]{0,10}:iam::[0-9]{12}:role/|[\w-]{1,60}@[\w-]{1,60}\.iam\.gserviceaccount\.com$")


def _is_pod_count(words: frozenset[str], node: _Node) -> bool:
    if isinstance(node.value, bool) or not isinstance(node.value, int | str) or words & _DECLARED:
        return False
    if isinstance(node.value, str):
        if len(node.value) > 20 or not _COUNTED.fullmatch(node.value):
            return False
        if "/" in node.value:
            return bool(words & _COUNTABLE or "ready" in words or "pods" in words)
    elif not 0 <= node.value < 10_000_000:
        return False
    if words & {"pod", "pods"}:
        return words == {"pods"} or bool(words & _COUNTING or words & _LIVELY)
    if words & _COUNTABLE:
        return bool(words & _LIVELY) or "status" in node.above[-2:]
    if words <= _LIVELY | _COUNTING and node.above[-1:] and node.above[-1] in _COUNTABLE | {"pods"}:
        return True
    return words in ({"running", "count"}, {"restart", "count"})


_COUNTED = re.compile(r"[0-9]{1,7}(?: ?/ ?[0-9]{1,7})?")
_COUNTING = word_set("count counts number num total current")
_COUNTABLE = word_set("replica replicas container containers node nodes instance instances vms machines hosts")
_LIVELY = word_set(
    "running ready available live healthy unhealthy updated pending failed actual observed online unavailable current"
    " crashing restarting terminated"
)
_DECLARED = word_set(
    "max min maximum minimum limit limits quota desired target default requested per allowed expected budget surge"
    " capacity cidr port ports timeout seconds size initial required wanted age cpu memory id index version interval"
    " threshold warm spec"
)


def _is_status(words: frozenset[str], node: _Node) -> bool:
    if isinstance(node.value, bool):
        is_about = words & {"running", "healthy"} or (words & {"ready"} and _RESOURCES.intersection(node.above))
        return bool(is_about) and words <= {"is", "running", "healthy", "ready", "currently"}
    if not isinstance(node.value, str) or len(node.value) > 40 or not node.words:
        return False
    last = node.words[-1]
    if last not in _STATUS_WORDS or words & (_NOT_NOW if last != "health" else _NOT_NOW - {"target"}):
        return False
    value = _NOT_LETTERS.sub("", node.value.lower())
    return value in _STATES or (value in _WIDER_STATES and bool(_RESOURCES.intersection(words.union(node.above))))


_NOT_LETTERS = re.compile("[^a-z]+")
_STATUS_WORDS = frozenset({"status", "state", "phase", "health"})
_NOT_NOW = word_set(
    "desired expected default target initial allowed required wanted valid plan task issue ticket order payment review"
    " project decision feature exit http terminal adr final next"
)
_STATES = word_set(
    "running stopped stopping terminated terminating shuttingdown crashloopbackoff imagepullbackoff errimagepull"
    " oomkilled evicted containercreating notready deallocated deallocating rebooting inservice outofservice healthy"
    " unhealthy"
)
_WIDER_STATES = word_set(
    "active inactive pending available unavailable ready creating updating deleting deleted failed succeeded online"
    " offline up down starting started degraded provisioning provisioned bound attached detached inuse ok impaired"
    " suspended runnable"
)
_RESOURCES = word_set(
    "instance instances pod pods node nodes vm vms container containers cluster clusters machine machines ec2 rds eks"
    " gke aks ecs nodegroup nodegroups loadbalancer balancer database databases db volume volumes nat gateway"
    " subnet vpc pv pvc"
)


def _is_known_id(words: tuple[str, ...], value: object) -> bool:
    """An id that only its key gives away."""
    if not words or words[-1] != "id" or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return 10**14 <= value < 10**20 and not _NUMBERED.isdisjoint(words)
    if not isinstance(value, str) or len(value) > 40:
        return False
    if _DIGITS.fullmatch(value):
        return not _NUMBERED.isdisjoint(words)
    return any(pattern.fullmatch(value) and not names.isdisjoint(words) for names, pattern in _IDS_BY_KEY)


_DIGITS = re.compile("[1-9][0-9]{14,19}")
_NUMBERED = word_set("instance network subnetwork subnet vpc disk vm firewall route forwarding backend node")
_IDS_BY_KEY = (
    (frozenset({"zone"}), re.compile("Z[A-Z0-9]{8,31}")),
    (frozenset({"distribution"}), re.compile("E[A-Z0-9]{12,13}")),
    (
        frozenset({"principal", "vm", "instance", "nic", "vnet"}),
        re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ),
)

_WORDS = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words_of(key: str) -> tuple[str, ...]:
    """`runningPods`, `running_pods` and `running-pods` are the same words."""
    return tuple(word.lower() for word in _WORDS.findall(key)) if len(key) <= _LONGEST_KEY else ()


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
