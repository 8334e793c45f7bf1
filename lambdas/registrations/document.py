"""The shipped source of registrations: a JSON list in S3."""

import json
from typing import Any

from botocore.exceptions import ClientError

from registrations.model import InvalidRegistration, Registration, parse


class UnreadableDocument(Exception):  # noqa: N818 - says what it is about
    """The whole list can't be read: nothing of it is known."""


class Document:
    """Keeps `RegistrationsPort`: `[{"recordId": "REG-1", "effectiveDate": "2026-03-01"}, …]`."""

    def __init__(self, s3: Any, bucket: str, key: str) -> None:
        self._s3 = s3
        self._bucket = bucket
        self._key = key

    def read(self) -> tuple[list[Registration], list[InvalidRegistration]]:
        """Each once, however often it is listed. Raises UnreadableDocument."""
        registrations: dict[Registration, None] = {}
        invalid = []
        for number, found in enumerate(self._list(), start=1):
            try:
                registrations[parse(found)] = None
            except InvalidRegistration as wrong:
                invalid.append(InvalidRegistration(wrong.field, f"of entry {number}: {wrong}"))
        return list(registrations), invalid

    def _list(self) -> list[Any]:
        where = f"s3://{self._bucket}/{self._key}"
        try:
            content = self._s3.get_object(Bucket=self._bucket, Key=self._key)["Body"].read()
        except ClientError as error:  # a missing object looks like one that may not be read
            code = error.response["Error"]["Code"]
            raise UnreadableDocument(f"{where}: {code}; is there a document, and may it be read?") from error
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise UnreadableDocument(f"{where}: is no JSON") from error
        if not isinstance(found, list):
            raise UnreadableDocument(f"{where}: is no list")
        return found
