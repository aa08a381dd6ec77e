"""Whether there is still something to come for a session: a question that a person has not answered, an answer that
has not arrived, a handoff that is still compared with the world. Called by whoever would close the session.
"""

from __future__ import annotations

from sqlalchemy import Connection, or_, select

from gemba.escalations.store import ON_ITS_WAY, escalations
from gemba.handoff.handoffs import HandoffState, handoffs


def is_awaited(connection: Connection, session_id: str) -> bool:
    unsettled = or_(~escalations.c.resolved, escalations.c.delivery.in_(ON_ITS_WAY))
    asked = select(escalations.c.id).where(escalations.c.session_id == session_id, unsettled)
    checked = (handoffs.c.session_id == session_id, handoffs.c.state == HandoffState.CHECKING)
    queries = (asked, select(handoffs.c.id).where(*checked))
    return any(connection.execute(query.limit(1)).first() is not None for query in queries)
