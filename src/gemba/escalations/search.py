"""Search over what is settled: words of title, question and reply, found through an index of the database.

Both databases hold the words that this module makes, not those of their own parsers: an ASCII word behind an `a`, any
other behind a `u` as the hexadecimal of its UTF-8, each ideograph and kana a word of its own, and `z` between title,
reply and question. So the same search finds the same on both, and nothing that is typed can be taken for the syntax of
a query. Called by `store.py` when an escalation is settled (`index`) or waits again (`remove`), and by `inbox.py`
(`matching`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any

from sqlalchemy import Connection, Row, Select, cast, column, delete, insert, select, table, text
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from gemba.errors import Invalid
from gemba.store.database import Transaction

_LONGEST_QUERY = 500
# PostgreSQL takes 16,383 places and 1 MB a document, and 255 places a word.
_MOST_WORDS, _MOST_BYTES, _MOST_PLACES = 16_000, 250_000, 255
_LONGEST_WORD = 120

_ACCENTS = re.compile("[\u0300-\u036f]")
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    "|[^\\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_PART = re.compile(r'"([^"]*)"|([^\s"]+)')

_documents = table("escalation_search", column("id"), column("body"))


def index(tx: Transaction, row: Row[Any]) -> None:
    """Make a settled escalation findable, in the place of what was known of it."""
    # Of the question, which may be long, as much as the others leave room for.
    title, reply = words_of(row.title or "", _MOST_WORDS // 2), words_of(row.reply_text or "", _MOST_WORDS // 2)
    words = [*title, "z", *reply, "z", *words_of(row.text, _MOST_WORDS - len(title) - len(reply))]
    remove(tx, row.id)
    if tx.connection.dialect.name == "postgresql":
        document = {"id": row.id, "body": cast(_vector(words), TSVECTOR)}
        tx.connection.execute(insert(_documents).values(document))
    else:
        tx.connection.execute(
            text("insert into escalation_search (rowid, id, body) values (:rowid, :id, :body)"),
            {"rowid": _row_number(row.id), "id": row.id, "body": " ".join(words)},
        )


def remove(tx: Transaction, id: str) -> None:
    """Forget an escalation that waits again."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(delete(_documents).where(_documents.c.id == id))
    else:
        # By its number: no other column of a full-text table has an index.
        found = {"rowid": _row_number(id)}
        tx.connection.execute(text("delete from escalation_search where rowid = :rowid"), found)


def matching(connection: Connection, wanted: str) -> Select[tuple[str]]:
    """The ids of what has all these words, the last one as the beginning of one; "quoted" words follow each other."""
    phrases = _phrases(wanted)
    found: Any = select(_documents.c.id)
    if connection.dialect.name == "postgresql":
        sought = " & ".join(
            " <-> ".join(f"'{word}'" for word in words) + (":*" if starts else "") for words, starts in phrases
        )
        return found.where(_documents.c.body.op("@@")(cast(sought, TSQUERY)))  # type: ignore[no-any-return]
    sought = " AND ".join(f'"{" ".join(words)}"' + ("*" if starts else "") for words, starts in phrases)
    return found.where(text("escalation_search match :sought").bindparams(sought=sought))  # type: ignore[no-any-return]


def words_of(body: str, most: int = _LONGEST_QUERY) -> list[str]:
    """A text's words as they are indexed, in order; of a very long one the first."""
    words: list[str] = []
    room = _MOST_BYTES
    for found in _WORD.finditer(_folded(body)):
        word = _written(found[0])
        room -= len(word) + 1
        if len(words) >= most or room < 0:
            break
        words.append(word)
    return words


def _phrases(wanted: str) -> list[tuple[list[str], bool]]:
    """What is sought: words that follow each other, and whether the last of them is only a beginning."""
    if len(wanted) > _LONGEST_QUERY:
        raise Invalid(
            f"q has {len(wanted):,} characters; at most {_LONGEST_QUERY} are allowed",
            code="too_long",
            pointer="/q",
            found=len(wanted),
            allowed=_LONGEST_QUERY,
        )
    parts = list(_PART.finditer(wanted))
    phrases = [(words_of(part[0]), part[2] is not None and part is parts[-1]) for part in parts]
    phrases = [(words, starts) for words, starts in phrases if words]
    if not phrases:
        raise Invalid(
            f"q is {wanted[:80]!r}: there is no word in it",
            code="invalid_value",
            pointer="/q",
            found=wanted[:80],
            allowed='words, all of which must occur; "quoted" ones in this order',
        )
    return phrases


def _folded(body: str) -> str:
    """Without case, accents and the other ways to write the same characters."""
    if body.isascii():
        return body.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", body.casefold()))
    return unicodedata.normalize("NFC", plain).casefold()


def _written(word: str) -> str:
    return ("a" + word if word.isascii() else "u" + word.encode("utf-8", "replace").hex())[:_LONGEST_WORD]


def _vector(words: list[str]) -> str:
    places: dict[str, list[str]] = {}
    for place, word in enumerate(words, 1):
        known = places.setdefault(word, [])
        if len(known) < _MOST_PLACES:
            known.append(str(place))
    return " ".join(f"'{word}':{','.join(known)}" for word, known in places.items())


def _row_number(id: str) -> int:
    return int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest()) >> 1
