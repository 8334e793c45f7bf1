"""The records as the environment names them, for every function of orders."""

from functools import cache

import wiring
from orders.records import Orders


@cache
def orders() -> Orders:
    return Orders(
        wiring.client("dynamodb"), wiring.text("ORDERS_TABLE"), retention=wiring.number("RETENTION_SECONDS")
    )
