"""A call in the words of a trace."""

import re
from typing import Any

_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")

_WRITTEN = (":state", ":reason", ":result", ":status", ":lease_until", ":expires_at", ":owner", ":attempt")


def tell(method: str, arguments: dict[str, Any]) -> str:
    match arguments:
        case {"UpdateExpression": update, "Key": key, "ExpressionAttributeValues": values}:
            return f"{method} {_key(key)}: {_clause(update)} ({_values(values)})"
        case {"Key": key} | {"Item": key}:
            return f"{method} {_key(key)}"
        case {"RequestItems": requests}:
            keys = [_key(key) for request in requests.values() for key in request["Keys"]]
            return f"{method} {', '.join(keys)}"
        case {"ReceiptHandle": receipt, "VisibilityTimeout": seconds}:
            return f"hides {receipt} for {seconds} s"
        case {"QueueUrl": queue, "MessageBody": body, "MessageAttributes": attributes}:
            reason = attributes.get("reason", {}).get("StringValue")
            return f"sends to {queue}: {body[:60]} ({reason})"
        case _:
            said = ", ".join(_short(str(value))[:80] for value in arguments.values())
            return f"{method}({said})"


def _key(item: dict[str, Any]) -> str:
    return _short(item[next(name for name in ("pk", "id") if name in item)]["S"])


def _short(text: str) -> str:
    return _DIGEST.sub(r"\1", text)


def _clause(update: str) -> str:
    """To which state, or what else."""
    words = update.replace("#", "").split()
    if "state" in words:
        return words[words.index("state") + 2].strip(",:")
    return " ".join(words[1:4]).strip(",")


def _values(values: dict[str, Any]) -> str:
    return ", ".join(f"{name[1:]} {next(iter(values[name].values()))}" for name in _WRITTEN if name in values)
