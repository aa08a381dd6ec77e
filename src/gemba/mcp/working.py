"""The verbs of `list_work` and `claim_work`: what is ready, and whose it is. Standard library only.

Work is in the server's database, so both need the workspace's server and say so where none runs. A coach reads and
does not claim: only what says that it is a manager writes to the work plane.
"""

from gemba.mcp.tool import Answer, NoServer
from gemba.speaker import Session, shown
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server

USUAL = 20
MOST = 200
LONGEST_LEASE = 604_800
_USUAL_LEASE = 3_600
_TOLD = ("id", "title", "kind", "state", "priority", "parent", "labels", "targets", "estimated_tokens", "user_order")


def list_work(_session: Session, given: "Document", server: "Server") -> Answer:
    try:
        page = server.ready_work(int(given.get("limit", USUAL)))
    except NoServer as reason:
        raise Refused(f"work cannot be listed without the workspace's server: {reason}") from None
    rows = [{name: item[name] for name in _TOLD} for item in page["items"]]
    lines = [f"{row['id']} (P{row['priority']}, {row['kind']}): {row['title']}" for row in rows]
    count = f"{'more than ' if page['more'] else ''}{page['total']} ready"
    facts = {"items": rows, "total": page["total"], "more": page["more"]}
    return Answer("\n".join([count if rows else "Nothing is ready.", *lines]), facts)


def claim_work(session: Session, given: "Document", server: "Server") -> Answer:
    # Without a role the call itself is the claim to be one, as it is of raise_blocker.
    if (session.role or "manager") != "manager":
        raise Refused(f"a session whose role is {shown(session.role)} cannot claim work; allowed: manager")
    seconds = int(given.get("lease_seconds", _USUAL_LEASE))
    try:
        item = server.claim_work(given["item_id"], session.id, seconds)
    except NoServer as reason:
        raise Refused(f"work cannot be claimed without the workspace's server: {reason}") from None
    facts = {**{name: item[name] for name in _TOLD}, "description": item["description"], "claim": item["claim"]}
    facts["acceptance"] = item["acceptance"]
    until = item["claim"]["expires_at"]
    return Answer(f"{item['id']} is yours until {until}: {item['title']}", facts)
