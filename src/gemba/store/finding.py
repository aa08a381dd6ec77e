"""Rows by words that somebody types: beginnings and parts of ids and titles, the best fit first.

Every word has to occur, in whatever case. What is looked at is the newest rows of a table, through the index of their
age, so that a search costs the same however long a workspace is used; a row whose whole id is given is found wherever
it stands. Both databases find the same. Called by the API's search over all nouns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, null, or_, select

WINDOW = 10_000  # rows
_MOST_WORDS, _LONGEST_WORD = 8, 80


class Findable(NamedTuple):
    """What of a table is found and shown. `beside` are further texts in which words may occur."""

    id: ColumnElement[str]
    title: ColumnElement[str]
    state: ColumnElement[str]
    at: ColumnElement[int]
    detail: ColumnElement[Any] = null()
    beside: tuple[ColumnElement[Any], ...] = ()
    only: tuple[ColumnElement[bool], ...] = ()


def words_of(sought: str) -> list[str]:
    """The words of what was typed, each of which has to occur."""
    return [word[:_LONGEST_WORD] for word in sought.split()[:_MOST_WORDS]]


def find_rows(connection: Connection, what: Findable, sought: str, limit: int) -> list[Row[Any]]:
    """The rows that have all the words: first the one that is called so, then those whose id or title begins so, then
    those with words of the title that begin so, then the others; newest first within. None for no words."""
    words = words_of(sought)
    if not words:
        return []
    columns = _columns(what)
    window = select(*columns).where(*what.only).order_by(what.at.desc(), what.id.desc()).limit(WINDOW).subquery()
    texts = [column for name, column in window.c.items() if name in ("id", "title") or name.startswith("beside_")]
    whole = " ".join(sought.split())
    fit = case(
        (func.lower(window.c.id) == whole.lower(), 0),
        (or_(*_begins(window.c.id, whole)), 1),
        (or_(*_begins(window.c.title, whole)), 2),
        (and_(*(or_(*_has(" " + window.c.title, " " + word)) for word in words)), 3),
        else_=4,
    )
    fits = and_(*(or_(*(has for text in texts for has in _has(text, word))) for word in words))
    query = select(window).where(fits).order_by(fit, window.c.at.desc(), window.c.id.desc()).limit(limit)
    found = list(connection.execute(query))
    if all(row.id != whole for row in found):
        named = connection.execute(select(*columns).where(what.id == whole, *what.only)).first()
        if named is not None:
            found = [named, *found[: limit - 1]]
    return found


def rows_named(connection: Connection, what: Findable, chosen: ColumnElement[bool], limit: int) -> list[Row[Any]]:
    """The rows that another search has chosen, newest first, as `find_rows` has them."""
    query = select(*_columns(what)).where(chosen, *what.only).order_by(what.at.desc(), what.id.desc())
    return list(connection.execute(query.limit(limit)))


def _columns(what: Findable) -> list[ColumnElement[Any]]:
    return [
        what.id.label("id"),
        what.title.label("title"),
        what.state.label("state"),
        what.at.label("at"),
        what.detail.label("detail"),
        *(text.label(f"beside_{number}") for number, text in enumerate(what.beside)),
    ]


def _has(text: ColumnElement[Any], word: str) -> list[ColumnElement[bool]]:
    return [text.icontains(written, autoescape=True) for written in _writings(word)]


def _begins(text: ColumnElement[Any], word: str) -> list[ColumnElement[bool]]:
    return [text.istartswith(written, autoescape=True) for written in _writings(word)]


def _writings(word: str) -> Sequence[str]:
    """Databases know the small letters of ASCII alone: other words are looked for as people write them."""
    if word.isascii():
        return [word]
    return list(dict.fromkeys((word, word.lower(), word.capitalize(), word.upper())))
