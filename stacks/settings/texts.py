"""Which texts are acceptable as an address, a name or an expression."""

import re
from urllib.parse import urlsplit

import jmespath
from jmespath.exceptions import JMESPathError

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_OBJECT_KEY = re.compile(r"[A-Za-z0-9._/-]{1,256}")
_USER_POOL_ARN = re.compile(r"arn:aws[a-z-]*:cognito-idp:[a-z0-9-]+:[0-9]{12}:userpool/[A-Za-z0-9_-]+")
_TOPIC_ARN = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
_LOOPBACK = ("127.0.0.1", "localhost")


def is_name(text: str) -> bool:
    """A part of a record's key: without the colon that joins the parts."""
    return _NAME.fullmatch(text) is not None


def is_event_source(text: str) -> bool:
    """A name; not `sqs`, under which events without business key are recorded by their MessageId."""
    return is_name(text) and text != "sqs"


def is_bus_source(text: str) -> bool:
    """A name; not one of AWS's own, which EventBridge takes from nobody else."""
    return is_name(text) and not text.startswith("aws.")


def is_object_key(text: str) -> bool:
    """Of characters that mean nothing else: a star in it would be a wildcard to IAM."""
    return _OBJECT_KEY.fullmatch(text) is not None


def is_downstream_url(text: str) -> bool:
    """Over TLS, unless it never leaves this machine; without a password, which the template would show."""
    try:
        url = urlsplit(text)
        port = url.port  # parsed, and refused, only when it is asked for
        (url.hostname or "").encode("idna")  # as whoever looks it up does: labels of 1 to 63 characters
    except ValueError:
        return False
    if url.username is not None or url.password is not None or port == 0:
        return False
    if not text.isascii() or not text.isprintable() or " " in text:
        return False
    return (url.scheme == "https" and bool(url.hostname)) or (
        url.scheme == "http" and url.hostname in _LOOPBACK
    )


def is_issuer(text: str) -> bool:
    """As OpenID Connect Discovery has it: API Gateway looks for the keys below this address."""
    return is_downstream_url(text) and text.startswith("https://") and not re.search(r"[?#]", text)


def is_user_pool_arn(text: str) -> bool:
    """Of Cognito."""
    return _USER_POOL_ARN.fullmatch(text) is not None


def is_topic_arn(text: str) -> bool:
    """Of an SNS topic: a standard one, alarms know no other."""
    return _TOPIC_ARN.fullmatch(text) is not None


def is_email(text: str) -> bool:
    """It looks like one; whether it is, its owner's confirmation tells."""
    return _EMAIL.fullmatch(text) is not None


def is_jmespath(text: str) -> bool:
    """An expression that compiles."""
    try:
        jmespath.compile(text)
    except (ValueError, RecursionError):  # JMESPathError is one; thousands of digits or brackets raise others
        return False
    return True


def names_a_part(text: str) -> bool:
    """An expression that finds nothing in an empty body: one that does would make all events one event."""
    try:
        found = jmespath.compile(text).search({})
    except JMESPathError:
        return is_jmespath(text)  # a function that insists on a value
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return found is None or (isinstance(found, list) and all(part is None for part in found))


def is_example(url: str) -> bool:
    """A host name that nobody can own (RFC 2606)."""
    host = urlsplit(url).hostname or ""
    return host == "example.com" or host.endswith(".example.com")
