"""What can be set of a stage's alarms."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmSettings:
    """Whom they tell, and where they go off if that is a matter of taste. Without both: nobody is told."""

    topic_arn: str = ""  # of an SNS topic that there is
    email: str = ""  # instead: told by a topic of our own, once the address's owner has confirmed
    backlog_seconds: int = 900  # how long a message may wait beyond one visibility timeout
    client_errors: int = 100  # answers of the API with 400 to 499 in five minutes
