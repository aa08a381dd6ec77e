"""Sprints: what is to be done within a budget, what it takes turn by turn, and what holds new work back."""
