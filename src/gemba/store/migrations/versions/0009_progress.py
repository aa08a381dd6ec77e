"""When a session was last seen to make progress; none while it is asked about for the lack of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("progress_at", sa.BigInteger))
    op.execute("UPDATE sessions SET progress_at = last_frame_at")
