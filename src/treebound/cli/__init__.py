"""The command line: a module for each group of commands, and a line in COMMANDS for each command.

A command imports its own module only, and functions import heavy packages when they run. `treebound --help` therefore
answers at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from treebound.cli.groups import GroupedCommand
from treebound.core.errors import TreeboundError
from treebound.support import interrupts
from treebound.support.progress import say

#: functions of the modules of this package, in the order of --help; a command is named after its function
COMMANDS = (
    "corpora.fetch",
    "corpora.convert",
    "training.train",
    "training.train_many",
    "parsing.parse",
    "scores.decode",
    "training.jackknife",
    "parsing.tag",
    "judging.evaluate",
    "judging.check",
    "mining.mine",
)


def application(command: str | None = None) -> typer.Typer:
    """Return the program with all commands, or with one command, which then starts a tenth of a second sooner.

    command  name of the command; None and unknown names give the program with all commands
    """
    names = {path.partition(".")[2].replace("_", "-"): path for path in COMMANDS}
    program = typer.Typer(
        name="treebound",
        help="Exact dependency parsing with non-local features, with a certificate for every sentence.",
        add_completion=command not in names,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_options)  # a program with one command still takes the command's name
    for name in [command] if command in names else names:
        module, _, function = names[name].partition(".")
        program.command(cls=GroupedCommand)(getattr(import_module(f"treebound.cli.{module}"), function))
    return program


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"treebound {version('treebound')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options of the program itself."""


UNREAD = 141  #: exit status if the reader of our output has closed the pipe: 128 + SIGPIPE by convention
INTERRUPTED = 130  #: exit status after Control-C, by convention; typer returns it


def _fail(message: str, code: int = 1) -> NoReturn:
    """Print a message as one line on stderr, with control characters escaped, and exit."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    say(f"treebound: error: {shown if len(shown) <= 1000 else shown[:1000] + ' ...'}")
    _end(code)


def _end(code: int) -> NoReturn:
    """Exit without a second error message if standard output cannot be flushed."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    raise SystemExit(code)


def _open_standard_streams() -> None:
    """Replace standard streams that the caller has closed (`>&-`), so that no file gets their file descriptors.

    Reading from or writing to a replaced stream fails with a one-line error. Messages to a closed stderr are dropped.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def main() -> NoReturn:
    """Run the command line; every failure is one line on stderr and a non-zero exit status."""
    _open_standard_streams()
    interrupts.handle()
    try:
        result = application(next(iter(sys.argv[1:]), None))(sys.argv[1:] or ["--help"], standalone_mode=False)
        if result == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
        _end(result if isinstance(result, int) else 0)
    except SystemExit as ended:  # typer reports a closed pipe as a failure with status 1
        if isinstance(ended.__context__, BrokenPipeError):
            _end(UNREAD)
        raise
    except TreeboundError as error:
        _fail(str(error))
    except TyperException as error:
        _fail(f"{error.format_message().rstrip(chr(46))}; see --help", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe (head, less) has seen enough
        _end(UNREAD)
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        _fail("out of memory; parse with fewer workers, or prune more (--k)")
    except Exception as error:  # a bug of treebound: report its place in one line
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
        _fail(f"internal error at {place}: {type(error).__name__}: {error}; please report it", 70)


if __name__ == "__main__":
    main()
