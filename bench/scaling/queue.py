"""A standard queue: messages that are visible, and those that come back at a time of their own."""

import heapq
from collections import deque
from typing import NamedTuple

from bench.scaling.books import Books


class Messages(NamedTuple):
    """So many that came at the same time, and have shared all their receives."""

    arrived: float
    receives: int
    number: int


def size(messages: list[Messages]) -> int:
    return sum(each.number for each in messages)


def arrivals(messages: list[Messages]) -> list[float]:
    """One for each message."""
    return [each.arrived for each in messages for _ in range(each.number)]


def split(messages: list[Messages], first: int) -> tuple[list[Messages], list[Messages]]:
    """The first so many, and the rest."""
    taken, rest = [], []
    for arrived, receives, number in messages:
        fit = min(number, first)
        first -= fit
        if fit:
            taken.append(Messages(arrived, receives, fit))
        if fit < number:
            rest.append(Messages(arrived, receives, number - fit))
    return taken, rest


class Queue:
    """At most `in_flight` messages are received and neither deleted nor visible again."""

    def __init__(self, books: Books, *, max_receive_count: int, in_flight: int) -> None:
        self._books = books
        self._max_receive_count = max_receive_count
        self._room = in_flight
        self._visible: deque[Messages] = deque()
        self._hidden: list[tuple[float, Messages]] = []

    @property
    def receivable(self) -> bool:
        return bool(self._visible and self._room)

    def send(self, now: float, number: int) -> None:
        if number:
            self._visible.append(Messages(now, 0, number))

    def receive(self, most: int) -> list[Messages]:
        """Counts as a receive of each."""
        received = []
        wanted = min(most, self._room)
        while wanted and self._visible:
            arrived, receives, number = self._visible.popleft()
            fit = min(number, wanted)
            if fit < number:
                self._visible.appendleft(Messages(arrived, receives, number - fit))
            received.append(Messages(arrived, receives + 1, fit))
            self._books.most_receives = max(self._books.most_receives, receives + 1)
            self._room -= fit
            wanted -= fit
        return received

    def delete(self, messages: list[Messages]) -> None:
        self._room += size(messages)

    def hide(self, messages: Messages, until: float) -> None:
        heapq.heappush(self._hidden, (until, messages))

    def wake(self, now: float) -> None:
        """Who has been received too often goes to the dead-letter queue instead of being received again."""
        while self._hidden and self._hidden[0][0] <= now:
            _, messages = heapq.heappop(self._hidden)
            self._room += messages.number
            if messages.receives < self._max_receive_count:
                self._visible.append(messages)
            else:
                self._books.at_receive_limit += messages.number
                self._books.ended(arrivals([messages]), now, done=False)
