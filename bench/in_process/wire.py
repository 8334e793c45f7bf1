"""The engine of `bench.in_process.engine` and what goes over the wire to it."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from sandbox.deployment import PROJECT
from sandbox.process_group import DIRECT, ProcessGroup, free_ports

READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems", "DescribeTable"})
LEDGER = READS | {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its answer; bytes are those of head and body. A call of the downstream has a path."""

    operation: str
    up: int
    down: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was exchanged while something was done once."""

    exchanges: Sequence[Exchange]

    def calls(self, *operations: str) -> int:
        """Of these operations; of all without any."""
        return len(self._of(operations))

    def bytes(self, *operations: str) -> int:
        """Up and down, heads included."""
        return sum(each.up + each.down for each in self._of(operations))

    @property
    def to_the_store(self) -> "Traffic":
        return Traffic(self._of(tuple(LEDGER)))

    def by_operation(self) -> Counter[str]:
        return Counter(each.operation for each in self.exchanges)

    def _of(self, operations: Sequence[str]) -> list[Exchange]:
        return [each for each in self.exchanges if not operations or each.operation in operations]


class Wire:
    """Within `with`, the engine answers at `url`; it ends with it."""

    def __init__(self) -> None:
        self._started = ExitStack()
        (self._port,) = free_ports(1)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        with ExitStack() as started:
            log = Path(started.enter_context(TemporaryDirectory())) / "engine.log"
            engine = ProcessGroup(
                name="the store",
                command=[sys.executable, "-m", "bench.in_process.engine", str(self._port)],
                environment={},
                directory=PROJECT,
                log=log,
            )
            started.callback(engine.kill)
            engine.wait_until_healthy(self.url, seconds=60)
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def take(self) -> Traffic:
        """What was exchanged since the last time."""
        with DIRECT.open(self.url, timeout=10) as answer:
            return Traffic([Exchange(**each) for each in json.load(answer)])
