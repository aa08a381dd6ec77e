"""Work: items, how they depend on each other, and which of them are ready."""
