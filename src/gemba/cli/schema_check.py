"""`python -m gemba.cli.schema_check`: why answers cannot be judged by the schema on stdin, or nothing when they can.

A process of its own: what judges a schema is large, and `gemba-ask`, which calls this, is otherwise without it.
"""

from __future__ import annotations

import sys

from gemba import typed
from gemba.escalations.answer import schema_trouble


def main() -> None:
    print(schema_trouble(typed.decode(sys.stdin.buffer.read(), dict)) or "", end="")


if __name__ == "__main__":
    main()
