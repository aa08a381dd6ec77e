"""What gives a running system away in a text: ids, addresses, names and counts that somebody's cloud gave out.

`live_texts(text, …)` is total and linear: each pattern begins at a boundary or a literal and repeats only so often.
Every pattern is a shape that nobody chooses by hand; a name such as `prod-vpc` or a region is none. Called by
`live_state.py` for each key and each text of a document.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_REGION = r"[a-z]{2}(?:-[a-z]{3,10}){1,2}-[0-9]"
_HASH = "[bcdfghjklmnpqrstvwxz2456789]"  # the letters of which Kubernetes makes names
_BEGIN, _END = r"(?<![\w.-])", r"(?![\w-])"

_CLOUD_ID = re.compile(
    rf"""
    {_BEGIN}(?:vpc|subnet|sgr?|m?i|e?igw|nat|rtb(?:assoc)?|acl|eni(?:-attach)?|eip(?:alloc|assoc)|vol|snap|ami|lt
        |tgw(?:-attach|-rtb)?|vpce(?:-svc)?|[vc]gw|vpn|dopt|pcx|fs(?:mt|ap)?|fl)-(?P<hex>[0-9a-f]{{17}}|[0-9a-f]{{8}}){_END}
    | {_BEGIN}(?:db|cluster)-[A-Z0-9]{{26}}{_END}
    | :(?:loadbalancer|targetgroup|listener|listener-rule)/[\w./-]{{1,200}}/[0-9a-f]{{16}}{_END}
    | :(?:task|container-instance)/(?:[\w-]{{1,255}}/)?[0-9a-f]{{32}}{_END}
    | {_BEGIN}arn:aws[\w-]{{0,10}}:(?:acm|kms):[a-z0-9-]{{1,30}}:[0-9]{{12}}:(?:certificate|key)/{_UUID}
    | {_BEGIN}/?hostedzone/Z[A-Z0-9]{{8,31}}{_END}
    | (?<![\w-])projects/[a-z][a-z0-9:.-]{{1,60}}/(?:global|(?:regions|zones)/[a-z0-9-]{{4,30}})
        /[a-zA-Z]{{4,40}}/[\w.-]{{1,63}}
    | {_BEGIN}gke-[a-z0-9-]{{1,80}}-[0-9a-f]{{8}}-[a-z0-9]{{4}}{_END}
    | (?i:/subscriptions/{_UUID}/resourcegroups/[^\s/"']{{1,90}}/providers/[\w./-]{{1,200}})
    | {_BEGIN}aks-[a-z0-9]{{1,12}}-[0-9]{{8}}-vmss[0-9a-z]{{6}}{_END}
    | {_BEGIN}[a-z][a-z0-9-]{{0,50}}-(?=[a-z]*[2-9]){_HASH}{{8,10}}-{_HASH}{{5}}{_END}
    """,
    re.VERBOSE | re.ASCII,
)
_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")

_IAM_BINDING = re.compile(
    rf"""
    {_BEGIN}arn:aws[\w-]{{0,10}}:iam::[0-9]{{12}}:oidc-provider/[\w./-]{{1,200}}
    | {_BEGIN}oidc\.eks\.{_REGION}\.amazonaws\.com(?:\.cn)?/id/[0-9A-Z]{{16,40}}(?::(?:sub|aud))?
    | {_BEGIN}(?:token\.actions\.githubusercontent|gitlab|accounts\.google)\.com:(?:sub|aud){_END}
    | {_BEGIN}system:serviceaccount:[a-z0-9*-]{{1,63}}:[a-z0-9.*-]{{1,253}}
    | {_BEGIN}principal(?:Set)?://iam\.googleapis\.com/[^\s"']{{1,300}}
    | {_BEGIN}[a-z][a-z0-9-]{{4,40}}\.svc\.id\.goog\[[^\]\s]{{1,130}}\]
    | {_BEGIN}[a-z0-9-]{{2,30}}\.oic\.prod-aks\.azure\.com/[\w/-]{{1,100}}
    | {_BEGIN}container\.googleapis\.com/v1/projects/[\w:.-]{{1,60}}/locations/[a-z0-9-]{{1,30}}/clusters/[\w-]{{1,60}}
    | {_BEGIN}repo:[\w.-]{{1,40}}/[\w.*-]{{1,100}}:(?:ref:refs/|environment:|pull_request){_END}
    """,
    re.VERBOSE | re.ASCII,
)
_IAM_SIGNS = ("oidc", "system:serv", ":sub", ":aud", "principal", ".goog[", "oic.prod", "repo:", "container.googleapis")
_IAM_WHOLE = frozenset({"sts:AssumeRoleWithWebIdentity", "roles/iam.workloadIdentityUser"})
# Keys whose value binds a service account to an identity of the cloud.
IAM_KEYS = re.compile(
    r"eks\.amazonaws\.com/role-arn|iam\.gke\.io/gcp-service-account|azure\.workload\.identity/client-id"
)

_HOST = re.compile(r"(?<![\w.*<>{}$-])[A-Za-z0-9][A-Za-z0-9.-]{8,251}[A-Za-z0-9](?![\w-])", re.ASCII)
_CLOUD_SUFFIXES = tuple(
    word_set(
        ".amazonaws.com .amazonaws.com.cn .cloudfront.net .run.app .cloudapp.azure.com .cloudapp.net"
        " .trafficmanager.net .azurefd.net .azmk8s.io"
    )
)
_CLOUD_DNS = re.compile(
    rf"""
    (?:[a-z0-9-]+\.)+(?:{_REGION}\.elb|elb\.{_REGION})\.amazonaws\.com(?:\.cn)?
    | [a-z0-9]{{10}}\.execute-api\.{_REGION}\.amazonaws\.com(?:\.cn)?
    | [0-9a-f]{{32}}\.[a-z0-9]{{3}}\.{_REGION}\.eks\.amazonaws\.com(?:\.cn)?
    | [a-z0-9-]+\.(?:cluster-(?:ro-|custom-)?|proxy-)?[a-z0-9]{{12}}\.{_REGION}\.rds\.amazonaws\.com(?:\.cn)?
    | (?:[a-z0-9-]+\.){{2,5}}[a-z]{{2,5}}[0-9]\.cache\.amazonaws\.com
    | (?:vpc|search)-[a-z0-9-]+-[a-z0-9]{{26}}\.{_REGION}\.es\.amazonaws\.com
    | d[a-z0-9]{{12,13}}\.cloudfront\.net
    | [a-z0-9-]+-[a-z0-9]{{10}}-[a-z]{{2}}\.a\.run\.app
    | [a-z0-9-]+-[0-9]{{9,14}}\.[a-z]+-[a-z]+[0-9]\.run\.app
    | [a-z0-9-]+\.(?:[a-z]+[0-9]?\.cloudapp\.azure\.com|cloudapp\.net|trafficmanager\.net)
    | [a-z0-9-]+-[a-z0-9]{{8,20}}\.[a-z][0-9]{{2}}\.azurefd\.net
    | [a-z0-9-]+-[0-9a-f]{{8}}\.hcp\.[a-z0-9]+\.azmk8s\.io
    """,
    re.VERBOSE,
)

_THINGS = r"(?:replicas?|nodes?|instances?|containers?|vms?|machines?|targets?)"
_LIVELY = r"(?:running|ready|healthy|unhealthy|available|pending|live|active|up|down|online|offline|failed|terminated)"
_COUNT = re.compile(
    rf"""
    (?<![\w./:-])[0-9]{{1,6}}(?:\ ?/\ ?[0-9]{{1,6}}|\ (?:out\ )?of\ [0-9]{{1,6}})?\ (?:
        (?:{_LIVELY}\ |[a-z]{{1,20}}\ )?pods?\b
        | {_LIVELY}\ {_THINGS}\b
        | {_THINGS}\ (?:(?:are|is)\ )?(?:(?:currently|now)\ )?{_LIVELY}\b
    )(?!\ (?:per|max|maximum|min|minimum|limit|or|at\ most|at\ least)\b|-)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_BOUND_BEFORE = re.compile(
    r"\b(?:max|maximum|min|minimum|most|least|to|than|limit|exactly|every|wants?|needs?|requires?|default)(?: of)?:? $",
    re.IGNORECASE,
)
_STATUS = re.compile(
    rf"\b(?:instance|pod|node|vm|container|cluster|database|server|service|load balancer)s?\b[^.;\n]{{0,60}}?"
    rf"\b(?:is|are) (?:currently|now|at the moment) {_LIVELY}\b",
    re.IGNORECASE,
)


def live_texts(text: str, words: frozenset[str], above: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """(kind, what was found) of a text; `words` are those of its key, `above` those of the keys around it."""
    if not _LIKELY.search(text):
        return
    for match in _CLOUD_ID.finditer(text):
        if match["hex"] is None or _is_generated(match["hex"]):
            yield "cloud_id", match[0]
    yield from (("ip_address", found) for found in _addresses(text, words, above))
    yield from (("cloud_dns", found) for found in _cloud_names(text))
    if text in _IAM_WHOLE:
        yield "iam_binding", text
    if any(sign in text for sign in _IAM_SIGNS):
        yield from (("iam_binding", match[0]) for match in _IAM_BINDING.finditer(text))
    for match in _COUNT.finditer(text):
        if not _BOUND_BEFORE.search(text[max(0, match.start() - 24) : match.start()]):
            yield "pod_count", match[0]
    yield from (("instance_status", match[0]) for match in _STATUS.finditer(text))


# What every pattern needs at least: most texts have none of it.
_LIKELY = re.compile(
    r"[0-9]|iam|projects/|\.goog|system:|sts:|repo:|:sub|:aud|cloudapp|trafficm|elb\.|currently|now|moment"
)


def _is_generated(hex_digits: str) -> bool:
    return any(digit.isdigit() for digit in hex_digits) and not _DATE.fullmatch(hex_digits)


def _cloud_names(text: str) -> Iterator[str]:
    lowered = text.lower()
    if not any(suffix in lowered for suffix in _CLOUD_SUFFIXES):
        return
    for match in _HOST.finditer(text):
        host = match[0].lower()
        if host.endswith(_CLOUD_SUFFIXES) and _CLOUD_DNS.fullmatch(host):
            yield match[0]


# ---- addresses ----------------------------------------------------------------------------------------------------

_IPV4 = re.compile(
    r"(?<![\w.+-])(?P<ip>[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?P<prefix>/[0-9]{1,2}(?![\w.]))?"
    r"(?!\.?\w|-(?![0-9]{1,3}\.[0-9]{1,3}\.)|\.[*x])",
    re.ASCII,
)
_IPV6 = re.compile(
    r"(?<![\w:.-])(?P<ip>[0-9A-Fa-f]{4}:[0-9A-Fa-f:]{1,37}(?:\.[0-9.]{3,11})?|::ffff:[0-9.]{7,15})"
    r"(?:%\w{1,15})?(?P<prefix>/[0-9]{1,3})?(?![\w:])",
    re.ASCII,
)
_IP_IN_NAME = re.compile(r"(?<![\w.-])(?:ip|ec2)-[0-9]{1,3}(?:-[0-9]{1,3}){3}(?=[.]|$)", re.ASCII)
_NUMBERING = re.compile(
    r"(?:\b(?:v|ver|versions?|release|rev|revision|build|chart|tag|section|chapter|clause|rule|figure|step|oid|cis"
    r"|benchmark|control|table|appendix|since|requires|upgraded? to|chrome|firefox|safari|edge)[\s:.=\"'(v]{0,3}"
    r"|[<>=~!]=\s{0,2}|[~^]>?\s{0,2}|[<>]\s{1,2}|§\s?|[A-Za-z0-9]/|[A-Za-z)]\s?v)$",
    re.IGNORECASE,
)
_SPEAKS_OF_ADDRESS = re.compile(r"\b(?:ips?|address|addr|hosts?|server|nodes?|bastion|ping|ssh|curl)\b", re.IGNORECASE)
_RESOLVERS = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "9.9.9.9"})
_MOVED_TO = re.compile(r"\b(?:(?:up|down)grad|updat|bump|roll|patch)\w{0,3}\b", re.IGNORECASE)
_VERSION_WORDS = word_set(
    "version versions release releases revision chart semver build sdk oid firmware driver requires engine section"
    " clause benchmark control controls rule mask netmask wildcard"
)
_VERSION_GROUPS = word_set("dependencies dependency packages versions requirements charts plugins modules")
_IMAGE_WORDS = frozenset({"image", "images", "tag", "tags", "package"})
_ADDRESS_WORDS = word_set("ip ips ipv4 address addresses addr host hosts endpoint server gateway")
# Constants of every machine and every cloud.
_FIXED = frozenset({"169.254.169.254", "169.254.170.2", "168.63.129.16", "169.254.169.253", "fd00:ec2::254"})
_LIVE_V6 = tuple(ipaddress.IPv6Network(block) for block in ("2000::/3", "fc00::/7", "fe80::/10"))


def _addresses(text: str, words: frozenset[str], above: frozenset[str]) -> Iterator[str]:
    for match in _IPV4.finditer(text):
        if _is_live_v4(match["ip"], match["prefix"]) and not _is_numbering(match, words, above):
            yield match["ip"]
    if text.count(":") > 1:
        for match in _IPV6.finditer(text):
            if _is_live_v6(match["ip"].rstrip(":."), match["prefix"]):
                yield match["ip"]
    yield from (match[0] for match in _IP_IN_NAME.finditer(text))


def _is_numbering(match: re.Match[str], words: frozenset[str], above: frozenset[str]) -> bool:
    """Whether four numbers with dots are a version or a paragraph: by the key, by what stands before, by their size."""
    if words & _ADDRESS_WORDS:
        return False
    if words & _VERSION_WORDS or above & _VERSION_GROUPS:
        return True
    before = match.string[max(0, match.start() - 40) : match.start()]
    if words & _IMAGE_WORDS and (not before or before[-1] in ":@"):
        return True
    if _NUMBERING.search(before):
        return True
    is_private = ipaddress.IPv4Address(match["ip"]).is_private
    if is_private or match["ip"] in _RESOLVERS or _SPEAKS_OF_ADDRESS.search(before):
        return False
    is_small = all(int(part) < 40 for part in match["ip"].split("."))
    is_in_prose = len(match.string) > len(match[0]) and (not before or before[-1] in " (@\t\n")
    return (is_small and is_in_prose) or bool(_MOVED_TO.search(before))


def _is_live_v4(text: str, prefix: str | None) -> bool:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:  # numbers above 255, zeros in front
        return False
    parts = text.split(".")
    is_network = parts[2:] == ["0", "0"] or parts[0] == "0" or int(parts[0]) >= 224
    if is_network or address.is_loopback or text in _FIXED:
        return False
    return _is_host(text, prefix)


def _is_live_v6(text: str, prefix: str | None) -> bool:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    if address.ipv4_mapped is not None:
        return _is_live_v4(str(address.ipv4_mapped), None)
    return any(address in block for block in _LIVE_V6) and str(address) not in _FIXED and _is_host(text, prefix)


def _is_host(text: str, prefix: str | None) -> bool:
    """Whether it is one address, not a range."""
    try:
        found = ipaddress.ip_interface(text + (prefix or ""))
    except ValueError:
        return False
    if prefix is None:
        return found.version == 4 or int(found) & 0xFFFF_FFFF_FFFF_FFFF != 0
    return found.network.num_addresses == 1 or found.ip != found.network.network_address
