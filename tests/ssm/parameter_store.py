"""Parameter Store in this process, as strict as AWS where emulators are not, and as nasty as it may be.

- Names, values, pages and deletions are held to their limits (`rules`).
- A name rests for 30 s after its deletion: until then its creation is refused, although it can't be read.
- Two creations of one name that overlap make one parameter, but either may hear `TooManyUpdates`.
- Each page of a listing may lag behind, by as much as it likes up to `staleness` seconds; with `torn`, each
  name on it does (`listings`).
- Any call may be refused, or have its effect and lose its answer (`faults`).

Otherwise one call happens at a time. It offers the four calls of boto3's client that the guard uses.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from tests.ssm import rules
from tests.ssm.faults import Faults
from tests.ssm.listings import Listings
from tests.ssm.refusals import invalid, refusal

REST = 30  # seconds between the deletion of a name and its next creation
LIMIT = 10_000  # standard parameters of an account in a Region


def _uninterrupted() -> None:
    pass


@dataclass(slots=True, kw_only=True)
class Parameter:
    """One life of a name; times in epoch seconds."""

    name: str
    value: str
    created: float
    deleted: float | None = None

    def exists(self, at: float) -> bool:
        return self.created <= at and (self.deleted is None or self.deleted > at)

    def described(self) -> dict[str, Any]:
        return {
            "Name": self.name,
            "Type": "String",
            "Value": self.value,
            "Version": 1,
            "LastModifiedDate": datetime.fromtimestamp(self.created, UTC),
            "ARN": rules.arn(self.name),
            "DataType": "text",
        }


class Observer(Protocol):
    """Is told of every change before it is made, while no other can happen."""

    def creates(self, parameter: Parameter) -> None: ...

    def deletes(self, parameters: Sequence[Parameter]) -> None: ...


@dataclass(slots=True, eq=False)
class _Creation:
    contended: bool = False


class StrictParameterStore:
    """`clock` tells epoch seconds. `while_creating` runs in the middle of each creation, when another of the
    same name can overlap. `limit` counts all parameters there are; the attributes may be changed at any time.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        seed: int = 0,
        limit: int = LIMIT,
        staleness: float = 0,
        torn: bool = False,
        sparse: float = 0,
        faults: Faults | None = None,
        while_creating: Callable[[], None] = _uninterrupted,
    ) -> None:
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._listings = Listings(seed=seed, sparse=sparse)
        self._one_at_a_time = threading.RLock()
        self._under_way: dict[str, set[_Creation]] = {}
        self._standing_now = 0
        self.faults = faults or Faults(seed=seed)
        self.limit = limit
        self.staleness = staleness
        self.torn = torn
        self.observer: Observer | None = None
        self.while_creating = while_creating
        self.lives: dict[str, list[Parameter]] = {}
        """By name, all there ever were, the latest last."""

    def put_parameter(
        self,
        *,
        Name: str,  # noqa: N803
        Value: str,  # noqa: N803
        Type: Literal["String"],  # noqa: N803
        Tier: Literal["Standard"],  # noqa: N803
        Overwrite: bool,  # noqa: N803
    ) -> dict[str, Any]:
        operation = "PutParameter"
        assert (Type, Tier, Overwrite) == ("String", "Standard", False), (
            "steps are created, never overwritten"
        )
        with self.faults.around(operation):
            rules.check_name(Name, operation)
            rules.check_value(Value, operation)
            with self._overlapping(Name) as creation:
                self.while_creating()
                self._create(Name, Value, creation, operation)
        return {"Version": 1, "Tier": "Standard"}

    def get_parameter(self, *, Name: str) -> dict[str, Any]:  # noqa: N803
        operation = "GetParameter"
        with self.faults.around(operation), self._one_at_a_time:
            rules.check_name(Name, operation)
            parameter = self._standing(Name)
            if parameter is None:
                raise refusal("ParameterNotFound", operation)
            return {"Parameter": parameter.described()}

    def get_parameters_by_path(
        self,
        *,
        Path: str,  # noqa: N803
        Recursive: bool,  # noqa: N803
        MaxResults: int,  # noqa: N803
        NextToken: str | None = None,  # noqa: N803
    ) -> dict[str, Any]:
        operation = "GetParametersByPath"
        with self.faults.around(operation), self._one_at_a_time:
            rules.check_path(Path, operation)
            rules.check_page(MaxResults, operation)
            seen = self._seen_below(Path, recursive=Recursive)
            names, token = self._listings.page((Path, Recursive), seen, size=MaxResults, token=NextToken)
            page: dict[str, Any] = {"Parameters": [seen[name].described() for name in names]}
            return page if token is None else {**page, "NextToken": token}

    def delete_parameters(self, *, Names: list[str]) -> dict[str, Any]:  # noqa: N803
        operation = "DeleteParameters"
        with self.faults.around(operation), self._one_at_a_time:
            rules.check_deletion(Names, operation)
            for name in Names:
                rules.check_name(name, operation)
            if len(set(Names)) < len(Names):
                raise invalid(operation, "a name stands twice at 'names'")
            there = [parameter for name in Names if (parameter := self._standing(name))]
            if self.observer:
                self.observer.deletes(there)
            for parameter in there:
                parameter.deleted = self._clock()
            self._standing_now -= len(there)
            deleted = [parameter.name for parameter in there]
            missing = [name for name in Names if name not in deleted]
            return {"DeletedParameters": deleted, "InvalidParameters": missing}

    def standing(self, path: str = "") -> dict[str, str]:
        """Names and values of all parameters that exist now below a path; no call, for tests to look at."""
        with self._one_at_a_time:
            return {
                name: parameter.value
                for name in sorted(self.lives)
                if name.startswith(f"{path}/") and (parameter := self._standing(name))
            }

    @contextmanager
    def _overlapping(self, name: str) -> Iterator[_Creation]:
        creation = _Creation()
        with self._one_at_a_time:
            others = self._under_way.setdefault(name, set())
            for each in (others | {creation}) if others else ():
                each.contended = True
            others.add(creation)
        try:
            yield creation
        finally:
            with self._one_at_a_time:
                others.remove(creation)

    def _create(self, name: str, value: str, creation: _Creation, operation: str) -> None:
        with self._one_at_a_time:
            now = self._clock()
            nasty = creation.contended and self._random.random() < 0.5
            lives = self.lives.setdefault(name, [])
            if lives and (lives[-1].deleted is None or now < lives[-1].deleted + REST):
                raise refusal("TooManyUpdates" if nasty else "ParameterAlreadyExists", operation)
            if self._standing_now >= self.limit:
                raise refusal("ParameterLimitExceeded", operation)
            parameter = Parameter(name=name, value=value, created=now)
            if self.observer:
                self.observer.creates(parameter)
            lives.append(parameter)
            self._standing_now += 1
            if nasty:
                raise refusal("TooManyUpdates", operation)  # and yet it is this one that was created

    def _standing(self, name: str) -> Parameter | None:
        lives = self.lives.get(name)
        return lives[-1] if lives and lives[-1].deleted is None else None

    def _seen_below(self, path: str, *, recursive: bool) -> dict[str, Parameter]:
        """What this page's replica knows: what was there up to `staleness` seconds ago."""
        now = self._clock()
        lag = self._lag()
        found: dict[str, Parameter] = {}
        for name, lives in self.lives.items():
            if name.startswith(f"{path}/") and (recursive or "/" not in name[len(path) + 1 :]):
                at = now - (self._lag() if self.torn else lag)
                found.update((name, each) for each in lives if each.exists(at))
        return found

    def _lag(self) -> float:
        """Often none, often the most: what lies between finds less."""
        return self.staleness * self._random.choice((0, 0, 1, self._random.random())) if self.staleness else 0
