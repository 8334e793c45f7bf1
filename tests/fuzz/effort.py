"""How hard the fuzzing tries: a little and always the same, or FUZZ times that at random."""

import os

from hypothesis import HealthCheck, Phase, settings

_TIMES = int(os.environ.get("FUZZ") or 0)


def examples(number: int) -> settings:
    """Decorates a property with so many examples; at random, a failure says how to meet it again."""
    return settings(
        max_examples=number * max(_TIMES, 1),
        derandomize=not _TIMES,
        database=None,
        deadline=None,
        print_blob=True,
        phases=set(Phase) - {Phase.explain},
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )
