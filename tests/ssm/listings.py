"""How a listing is cut into pages: in no order that means anything, and some of them empty."""

import hashlib
import random
from collections.abc import Iterable

from tests.ssm.refusals import refusal

OPERATION = "GetParametersByPath"


class Listings:
    """Tokens are opaque, and good only for the listing they came from.

    A page goes on behind the place where the one before it ended, whatever came or went in the meantime.
    `sparse` is the share of pages that hold less than they could, or nothing, although more follow.
    """

    def __init__(self, *, seed: int = 0, sparse: float = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._salt = str(seed)
        self._sparse = sparse
        self._tokens: dict[str, tuple[str, bool, str]] = {}

    def page(
        self,
        listing: tuple[str, bool],
        names: Iterable[str],
        *,
        size: int,
        token: str | None,
    ) -> tuple[list[str], str | None]:
        """The names of this page and the token of the next. `listing`: a path, and whether recursive."""
        behind = self._place(listing, token) if token is not None else ""
        rest = sorted((self._order(name), name) for name in names if self._order(name) > behind)
        if self._random.random() < self._sparse:
            size = self._random.choice((0, self._random.randrange(size)))
        page, more = rest[:size], rest[size:]
        if not more:
            return [name for _, name in page], None
        return [name for _, name in page], self._token(listing, page[-1][0] if page else behind)

    def _place(self, listing: tuple[str, bool], token: str) -> str:
        path, recursive, place = self._tokens.get(token, ("", False, ""))
        if (path, recursive) != listing:
            raise refusal("InvalidNextToken", OPERATION)
        return place

    def _token(self, listing: tuple[str, bool], place: str) -> str:
        token = hashlib.sha256(f"{listing} {place} {len(self._tokens)}".encode()).hexdigest()
        self._tokens[token] = (*listing, place)
        return token

    def _order(self, name: str) -> str:
        return hashlib.sha256(f"{self._salt}{name}".encode()).hexdigest()
