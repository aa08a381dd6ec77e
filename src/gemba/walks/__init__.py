"""Walks: the operator's sitting over everything that waits, one decision at a time."""
