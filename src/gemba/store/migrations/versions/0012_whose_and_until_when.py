"""The workspace that a session belongs to, and until when an asker waits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("workspace", sa.Text))
    op.add_column("escalations", sa.Column("waiting_until", sa.BigInteger))
