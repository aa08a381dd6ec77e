"""The fields that the inputs of several skills have: ids, references, texts of a person; each with its limits."""

from __future__ import annotations

from typing import Annotated

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Ids = Annotated[list[Id], msgspec.Meta(min_length=1, max_length=1000)]
Ref = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
