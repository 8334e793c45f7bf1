"""What ties the settings of a stage to each other."""

from stacks.settings.rule import Rule

STAGE_TIES = (
    Rule(
        setting="removal",
        holds=lambda s: s.removal == "retain" or not s.deletion_protection,
        allowed=lambda _: "retain where deletion_protection is true: a protected table is not deleted",
    ),
    Rule(
        setting="alarms.email",
        holds=lambda s: not (s.alarms.email and s.alarms.topic_arn),
        allowed=lambda _: "empty where alarms.topic_arn is given: who is told is for that topic to say",
    ),
    Rule(
        setting="registrations.staleness_seconds",
        holds=lambda s: s.bootstrapless or s.registrations.staleness_seconds >= 3600,
        allowed=lambda _: "3600 or more: nobody promises that a listing of parameters is any fresher",
    ),
)
