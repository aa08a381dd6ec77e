"""Handoff: every agent turn ends in a contract that a machine checks."""
