"""Types are prepared by one thread at a time: msgspec itself lets a second thread read through a null pointer."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import gemba

# `Inner` takes as long to be worked out as the test wants; all that time msgspec has an unfinished `Outer`.
TWO_THREADS_MEET = """
    import threading
    import msgspec
    from gemba import typed

    begun, go_on = threading.Event(), threading.Event()

    def text():
        begun.set()
        go_on.wait(10)
        return str

    class Inner(msgspec.Struct):
        value: "text()"

    class Outer(msgspec.Struct):
        inner: Inner
        name: str

    read: list[str] = []

    def decode():
        read.append(typed.decode(b'{"inner": {"value": "a"}, "name": "b"}', Outer).name)

    def convert():
        read.append(typed.convert({"inner": {"value": "a"}, "name": "b"}, Outer).name)

    first = threading.Thread(target=decode)
    first.start()
    begun.wait(10)
    others = [threading.Thread(target=one) for one in (decode, convert)]
    for other in others:
        other.start()
    for other in others:
        other.join(0.2)  # the most that shows: nobody is through before the first is
    early = list(read)
    go_on.set()
    for thread in (first, *others):
        thread.join(10)
    print(early, read)
"""


def test_a_type_that_one_thread_prepares_is_waited_for_by_the_others() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TWO_THREADS_MEET)], capture_output=True, text=True, timeout=60
    )

    assert (ran.returncode, ran.stdout) == (0, "[] ['b', 'b', 'b']\n"), ran.stderr


def test_nobody_goes_around() -> None:
    folder = Path(gemba.__file__).parent
    around = [
        f"{file.relative_to(folder)}:{node.lineno}: {ast.unparse(node)}"
        for file in folder.rglob("*.py")
        if file.name != "typed.py" and "msgspec" in (source := file.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and _prepares_a_type(node)
    ]

    assert around == []


def _prepares_a_type(call: ast.Call) -> bool:
    match ast.unparse(call.func):
        case "msgspec.convert" | "msgspec.json.Decoder" | "convert" | "Decoder":
            return True
        case "msgspec.json.decode":
            return len(call.args) > 1 or any(keyword.arg == "type" for keyword in call.keywords)
    return False
