"""What Parameter Store refuses of names, values and paths; the emulators let most of it pass.

From the API reference of PutParameter (botocore's service model).
"""

import re

from tests.ssm.refusals import invalid, refusal

ARN = "arn:aws:ssm:us-east-1:000000000000:parameter"
NAME_WITH_ARN = 1_011  # characters
LEVELS = 15
VALUE = 4_096  # bytes, standard tier
PAGE = 10  # parameters in a page, names in a deletion

_NAME = re.compile(r"/?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
_RESERVED = re.compile(r"/?(?:aws|ssm)", re.IGNORECASE)
_NESTED = re.compile(r"\{\{.*\}\}", re.DOTALL)


def arn(name: str) -> str:
    return f"{ARN}{name if name.startswith('/') else f'/{name}'}"


def check_name(name: str, operation: str) -> None:
    if not _NAME.fullmatch(name):
        raise invalid(operation, f"Parameter name: {name!r} is not made of a-zA-Z0-9_.- and slashes")
    if _RESERVED.match(name):
        raise invalid(operation, 'Parameter name: can\'t be prefixed with "aws" or "ssm" (case-insensitive)')
    if "/" in name and not name.startswith("/"):
        raise invalid(operation, "Parameter name: must be a fully qualified name")
    if len(arn(name)) > NAME_WITH_ARN:
        raise invalid(operation, f"Parameter name: longer than {NAME_WITH_ARN} characters with its ARN")
    if name.count("/") > LEVELS:
        raise refusal(
            "HierarchyLevelLimitExceededException", operation, f"A hierarchy has at most {LEVELS} levels"
        )


def check_value(value: str, operation: str) -> None:
    if not value:
        raise invalid(operation, "Value '' at 'value' failed to satisfy constraint: length of at least 1")
    if len(value.encode()) > VALUE:
        raise invalid(
            operation, "Standard tier parameters support a maximum parameter value of 4096 characters"
        )
    if _NESTED.search(value):
        raise invalid(operation, "Parameter value: can't nest another parameter, as {{}} does")


def check_path(path: str, operation: str) -> None:
    """A hierarchy as our code writes it: AWS would take one that ends in a slash, too."""
    if not path.startswith("/") or not _NAME.fullmatch(path) or len(path) > 2_048:
        raise invalid(operation, f"The parameter path {path!r} is no hierarchy")


def check_page(size: int, operation: str) -> None:
    if not 1 <= size <= PAGE:
        raise invalid(operation, f"Value '{size}' at 'maxResults': between 1 and {PAGE}")


def check_deletion(names: list[str], operation: str) -> None:
    if not 1 <= len(names) <= PAGE:
        raise invalid(operation, f"{len(names)} names at 'names': between 1 and {PAGE}")
