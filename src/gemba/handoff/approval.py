"""An approval: a request for it, the grant that an approved one becomes, and the states that each goes through.

A request is decided once, unless its approval is taken back before it was used. An edit does not change it: it is
superseded by another one with a seal of its own. A grant is for one use; it is consumed before the command runs, so
that a crash in between leaves a used grant and never a second run. That it expires is no state: an expired one is not
consumed. The store commits every move by these tables.
"""

from __future__ import annotations

from enum import StrEnum

from gemba.machine import Machine


class RequestState(StrEnum):
    PENDING = "pending"  # nobody has decided yet
    APPROVED = "approved"  # there is a grant for exactly these bytes
    SUPERSEDED = "superseded"  # the operator edited it: another request took its place
    REFUSED = "refused"  # the operator said no, with a reason
    EXPIRED = "expired"  # its time ran out
    WITHDRAWN = "withdrawn"  # the requester no longer wants it


class GrantState(StrEnum):
    UNUSED = "unused"  # it waits for the call that it was given for
    CONSUMED = "consumed"  # the call was let through; how it ended is not known yet
    SUCCEEDED = "succeeded"  # the client reported that it ran well
    FAILED = "failed"  # the client reported that it did not
    UNKNOWN = "unknown"  # nothing was reported: the client is gone, or was silent too long


R, G = RequestState, GrantState
REQUEST = Machine(
    "the approval request",
    {
        (R.PENDING, "approved"): R.APPROVED,
        (R.PENDING, "edited"): R.SUPERSEDED,
        (R.PENDING, "refused"): R.REFUSED,
        (R.PENDING, "expired"): R.EXPIRED,
        (R.PENDING, "withdrawn"): R.WITHDRAWN,
        (R.APPROVED, "taken back"): R.PENDING,  # as long as its grant is unused
    },
)
GRANT = Machine(
    "the grant",
    {
        (G.UNUSED, "consumed"): G.CONSUMED,
        (G.CONSUMED, "succeeded"): G.SUCCEEDED,
        (G.CONSUMED, "failed"): G.FAILED,
        (G.CONSUMED, "lost"): G.UNKNOWN,
    },
)
