"""The command line: ``gridcore VERB``. Verbs come from the hook ``register_commands``.

Nothing heavy is imported before a verb needs it. Whatever gridcore raises on purpose is one line on
standard error and exit code 2, or 1 of a study under way; ``GRIDCORE_DEBUG=1`` shows the traceback.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ..errors import GridcoreError, Interrupted
from ..registry import registries as plugins
from ..suggest import suggest

DEBUG = "GRIDCORE_DEBUG"


class Verbs(click.Group):
    """All verbs that plugins registered; errors on one line."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of the verbs, in order."""
        return sorted(plugins.commands)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The verb of that name; an error with the nearest ones where there is none."""
        if name not in plugins.commands and context.resilient_parsing:  # a shell asks what may follow
            return None
        if name not in plugins.commands:
            raise GridcoreError(f"there is no verb '{name}'{suggest(name, plugins.commands)}")
        return plugins.commands[name].command

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None,  # type: ignore[override]
             **extra: Any) -> NoReturn:
        """Run a verb, and exit: 0 when all is well, 1 when a study or a check failed, 2 for what was given wrongly."""
        extra |= {"standalone_mode": False, "args": (sys.argv[1:] if args is None else args) or ["--help"]}
        try:
            code = super().main(prog_name=prog_name or "gridcore", **extra)
        except Interrupted as error:
            _tell(f"interrupted: {error}")
            code = 128 + error.signal
        except (GridcoreError, click.ClickException) as error:
            if os.environ.get(DEBUG):
                raise
            told = error.format_message() if isinstance(error, click.ClickException) else str(error)
            _tell(f"error: {' '.join(told.split())}")
            code = 2 if getattr(error, "run", None) is None else 1
        except (KeyboardInterrupt, click.Abort) as error:
            _tell("interrupted")
            code = 128 + next(iter((error.__cause__ or error).args), signal.SIGINT)
        except OSError as error:
            with contextlib.suppress(ValueError):  # what is left for a file cannot be written
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):  # whoever read the output has seen enough
                if os.environ.get(DEBUG):
                    raise
                _tell(f"error: {error}")
            code = 1
        sys.exit(code if isinstance(code, int) else 0)


def _tell(what: str) -> None:
    try:
        click.echo(what, err=True)
    except OSError:  # of a terminal that has been closed; what is left for it cannot be written at the end either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gridcore", message="%(version)s")
def gridcore() -> None:
    """Hybrid dynamics of electric power grids.

    'gridcore VERB --help' explains a verb.
    """


def main() -> NoReturn:
    """What the console script runs."""
    atexit.register(gc.freeze)  # what is left goes with the process: no cycle need be found in it
    warnings.formatwarning = lambda message, *_args, **_named: f"warning: {message}\n"
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup
            signal.signal(number, _stop)
    gridcore.main()


def _stop(number: int, frame: Any) -> NoReturn:
    """SIGTERM and SIGHUP are what Ctrl-C is."""
    raise KeyboardInterrupt(number)
