"""What tmux pipes a pane's output through: `transcript_pipe FOLDER LIMIT` keeps the beginning and the end of its stdin.

It ends with its input, that is with the pane or with tmux itself. Standard library only; started by `tmux.py`.
"""

import os
import signal
import sys

from gemba.sessions.keeper.transcript import Transcript

_CHUNK = 65536


def main() -> int:
    folder, limit = sys.argv[1:]
    # Nothing but the end of the output ends this: tmux or a terminal that goes away may signal its whole group.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    transcript = Transcript(folder, int(limit))
    while data := os.read(0, _CHUNK):
        transcript.write(data)
    transcript.close()
    return 0
