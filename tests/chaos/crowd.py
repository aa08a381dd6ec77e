"""One of many agents that ask at once: `crowd.py <name> <asks> <executed>`, in the environment of its session.

It waits for a line on stdin, so that all of a crowd begin together. Most asks run the command's own `main` in this
process, `executed` of them are processes of their own. Prints what the commands print: a line an ask, its id first.
"""

import subprocess
import sys
from pathlib import Path

from gemba.cli.ask import main


def ask(text: str, executed: bool) -> None:
    arguments = ["--kind", "question", "--role", "coach", "--text", text]
    if executed:
        subprocess.run([Path(sys.executable).parent / "gemba-ask", *arguments], check=True)
    elif main(arguments) != 0:
        raise SystemExit(f"{text} was refused")


if __name__ == "__main__":
    name, asks, executed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.stdin.readline()
    for number in range(asks):
        ask(f"{name} asks {number}", executed=number < executed)
