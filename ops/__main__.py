"""`python -m ops`, which `./once` calls."""

from ops.commands import app

if __name__ == "__main__":
    app(prog_name="once")
