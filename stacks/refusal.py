"""What stops a synth on purpose: one line for a person, never a traceback."""


class Refusal(Exception):  # noqa: N818  it is no fault of the program, and reads better where it is caught
    """The message is one whole line; `app.py` prints it and exits with status 1."""
