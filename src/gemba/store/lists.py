"""A list as one parameter: an array on PostgreSQL, JSON on SQLite. A statement stays the same however long the list is.

`among` is for a statement that is built where it is used; `within` and `as_parameter` are for one that is built once,
since building one takes longer than small ones take to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, any_, bindparam, cast, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import TypeEngine


def among(connection: Connection, column: Column[Any], values: Iterable[Any]) -> ColumnElement[bool]:
    """Whether a column has one of these."""
    dialect = connection.dialect.name
    return _one_of(dialect, column, literal(as_parameter(dialect, values), _type(dialect, column.type)))


def within(dialect: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """Whether a column has one of what is given under a name when the statement runs."""
    return _one_of(dialect, column, bindparam(name, type_=_type(dialect, column.type)))


def as_parameter(dialect: str, values: Iterable[Any]) -> Any:
    return list(values) if dialect == "postgresql" else msgspec.json.encode(list(values)).decode()


def unnested(values: Iterable[Any], type_: TypeEngine[Any]) -> ColumnElement[Any]:
    """On PostgreSQL: a row for each of these."""
    return func.unnest(cast(literal(list(values), ARRAY(type_)), ARRAY(type_)))


def _one_of(dialect: str, column: Column[Any], given: ColumnElement[Any]) -> ColumnElement[bool]:
    if dialect == "postgresql":
        return column == any_(cast(given, ARRAY(column.type)))
    return column.in_(select(func.json_each(given).table_valued("value").c.value))


def _type(dialect: str, type_: TypeEngine[Any]) -> TypeEngine[Any] | None:
    return ARRAY(type_) if dialect == "postgresql" else None
