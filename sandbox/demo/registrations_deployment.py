"""A deployed registrations stack seen from outside: its source, its runs, its records."""

import json
from collections.abc import Sequence
from typing import Any

from sandbox.demo.deployment import Deployment
from sandbox.demo.registrations_steps import Steps, by_key

SCHEDULED = {"source": "aws.scheduler"}  # what the processor looks at in the event that its schedule sends


class Registrations(Deployment):
    """`outputs` are those of a RegistrationsStack."""

    def publish(self, document: Sequence[Any]) -> None:
        """Makes it what the source says."""
        self._sandbox.client("s3").put_object(
            Bucket=self.outputs["BucketName"],
            Key=self.outputs["DocumentKey"],
            Body=json.dumps(document).encode(),
        )

    def tell(self, details: Sequence[Any]) -> None:
        """Each as a single event on the account's bus."""
        events = self._sandbox.client("events")
        entries = [
            {
                "Source": self.outputs["EventSource"],
                "DetailType": "RegistrationExpiry",
                "Detail": json.dumps(detail),
            }
            for detail in details
        ]
        for start in range(0, len(entries), 10):  # as many as PutEvents takes
            if events.put_events(Entries=entries[start : start + 10])["FailedEntryCount"]:
                raise RuntimeError("the event bus refused events")

    def run(self) -> dict[str, int]:
        """Runs the processor as its schedule does; answers its counts."""
        return self.invoke("Processor", SCHEDULED)

    def sweep(self) -> dict[str, int]:
        """Runs the sweeper now instead of within the hour; answers its counts."""
        return self.invoke("Sweeper", SCHEDULED)

    @property
    def prefix(self) -> str:
        return self.outputs["ParameterPrefix"]

    @property
    def margin_seconds(self) -> int:
        return int(self.environment("Processor")["MARGIN_SECONDS"])

    def steps(self) -> dict[str, Steps]:
        """Of all keys, by the partition key of their record."""
        pages = self._sandbox.client("ssm").get_paginator("get_parameters_by_path")
        found = pages.paginate(Path=self.prefix, Recursive=True)
        return by_key(parameter for page in found for parameter in page["Parameters"])
