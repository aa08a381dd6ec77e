"""Annotations for GitHub: workflow commands on stdout, which it shows beside the line of a file. For checks."""

from __future__ import annotations

import click

from gemba.text import showable


def annotate(kind: str, message: str, **properties: str) -> None:
    """One annotation: an error, a warning or a notice."""
    words = ",".join(f"{key}={_escaped(value, in_property=True)}" for key, value in properties.items())
    click.echo(f"::{kind} {words}::{_escaped(message)}")


def _escaped(text: str, *, in_property: bool = False) -> str:
    """A text as a workflow command takes it: nothing in it ends the line, nor the property."""
    text = showable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text
