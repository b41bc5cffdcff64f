"""Ctrl-C, which Polars takes for itself when it is imported."""

from __future__ import annotations

import signal
import threading


def keep_interrupts() -> None:
    """Import Polars, and let SIGINT reach Python as it did before.

    Polars puts a handler of its own in front, which tells no one while another thread is inside Polars, as our reading
    thread nearly always is: Ctrl-C then did nothing for 12 s. What Python calls on SIGINT is not changed.
    """
    import polars as pl  # noqa: F401

    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
