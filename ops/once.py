"""The command line's manners: the stage's options stand anywhere, and every trouble is one line."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from botocore.exceptions import BotoCoreError, ClientError

# Typer has a click of its own, and does not export this.
from typer._click.exceptions import ClickException
from typer.core import TyperGroup

from ops.trouble import Trouble, one_line

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class Once(TyperGroup):
    """Exit status 1: something is wrong with the world; 2: with the words."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        given = self._global_first(sys.argv[1:] if args is None else args)
        try:
            status = super().main(given or ["--help"], *rest, **{**named, "standalone_mode": False})
        except ClickException as error:
            _stop(f"{error.format_message()} (once --help)", 2)
        except typer.Abort:
            _stop("nothing was done", 1)
        except (Trouble, BotoCoreError, ClientError) as error:
            _stop(one_line(error), 1)
        sys.exit(status if isinstance(status, int) else 0)

    def _global_first(self, args: Sequence[str]) -> list[str]:
        """`once status --stage dev` is `once --stage dev status`."""
        takes_value = {
            name: not getattr(option, "is_flag", False)
            for option in self.params
            for name in option.opts
            if name != "--help"
        }
        first: list[str] = []
        later: list[str] = []
        rest: Iterator[str] = iter(args)
        for word in rest:
            name, has_value, _ = word.partition("=")
            if word == "--":
                later += [word, *rest]
            elif name not in takes_value:
                later.append(word)
            else:
                first.append(word)
                if takes_value[name] and not has_value:
                    first += [value for value in (next(rest, None),) if value is not None]
        return first + later


def _stop(said: str, status: int) -> None:
    typer.echo(f"once: {said}", err=True)
    sys.exit(status)
