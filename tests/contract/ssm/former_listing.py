"""A client whose listings can be those of an earlier moment, as a replica that lags behind shows them."""

from typing import Any

from tests.ssm.parameter_store import StrictParameterStore


class FormerListing:
    """`remember` keeps what a listing shows now; with `stale`, names of it are shown beside what is there."""

    def __init__(self, store: StrictParameterStore) -> None:
        self._store = store
        self._former: list[dict[str, Any]] = []
        self.stale: tuple[str, ...] = ()

    def remember(self, path: str) -> None:
        answer = self._store.get_parameters_by_path(Path=path, Recursive=False, MaxResults=10)
        self._former = answer["Parameters"]

    def get_parameters_by_path(self, **arguments: Any) -> dict[str, Any]:
        answer = self._store.get_parameters_by_path(**arguments)
        ghosts = [each for each in self._former if each["Name"] in self.stale]
        fresh = [each for each in answer["Parameters"] if each["Name"] not in self.stale]
        return {**answer, "Parameters": fresh + ghosts}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
