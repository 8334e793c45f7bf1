"""Calls that run beside the rest of a demo."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def beside(call: Callable[[], T]) -> Future[T]:
    """Runs `call` in a thread that an interrupted demo does not wait for: what it talks to is gone then."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome
