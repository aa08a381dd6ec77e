"""The collector of circular garbage, paused while a large document is read or many rows are made.

Nothing that is made there refers back, so that it would look at all of it again and again, in vain: of an import it
took two fifths of the time. Standard library only: hooks load it.
"""

import gc


class Paused:
    """`with Paused():` for work of bounded size. What ends first of several at once lets the collector run again."""

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()
