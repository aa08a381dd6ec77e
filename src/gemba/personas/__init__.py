"""Personas: configured advisors, what each may do and spend, and what it is told when it is consulted."""
