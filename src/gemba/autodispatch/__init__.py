"""Auto-dispatch: ready work is claimed for an agent that is free, and started, without a person; off by default."""
