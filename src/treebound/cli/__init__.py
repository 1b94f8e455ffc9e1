"""The command line: a module for each group of commands, and a line in COMMANDS for each command.

A command imports its own module alone, and heavy imports stand in the functions that need them: `treebound --help`
answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer
from typer.exceptions import TyperException

from treebound.cli.groups import GroupedCommand
from treebound.core.errors import TreeboundError
from treebound.support.progress import say

#: functions of the modules here, in the order of --help; a command is named after its function
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
    """Return the program with all commands, or with one, which then starts a tenth of a second sooner.

    command  a name as on the command line; any other name gives all commands, and None, too
    """
    names = {path.partition(".")[2].replace("_", "-"): path for path in COMMANDS}
    made = typer.Typer(
        name="treebound",
        help="Exact dependency parsing with non-local features, with a certificate for every sentence.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(lambda: None)  # a program with one command still takes the command's name
    for name in [command] if command in names else names:
        module, _, function = names[name].partition(".")
        made.command(cls=GroupedCommand)(getattr(import_module(f"treebound.cli.{module}"), function))
    return made


UNREAD = 141  #: exit status where the reader of our output has gone, by convention: 128 + SIGPIPE
#: modules of functions that machine code calls: while LLVM loads it, and where it makes Python's objects of its results
CALLED_BACK = ("llvmlite.", "numba.core.serialize", "namedtuple_")
INTERRUPTED = 130  #: exit status after Control-C, by convention; typer returns it


def _fail(message: str, code: int = 1) -> NoReturn:
    """End with one line, whatever stands in the names and numbers that it tells of."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    say(f"treebound: error: {shown if len(shown) <= 1000 else shown[:1000] + ' ...'}")
    _end(code)


def _end(code: int) -> NoReturn:
    """End without a complaint about what standard output could not take: that has been said, or nobody wants it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    raise SystemExit(code)


def _open_standard_streams() -> None:
    """Give a program that was started without standard streams (`>&-`) some, so that no file takes their numbers.

    What is to be read or written there fails with one line; errors, which nobody wanted, vanish.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """What Python does on Control-C, but in no function that machine code has called back.

    An exception is lost there, and what was asked for is missing: the next use of it would crash. It is raised in the
    next line of the function that called the machine code instead.
    """
    caller = None
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(CALLED_BACK):
            caller = frame.f_back
        frame = frame.f_back
    if caller is None:
        raise KeyboardInterrupt
    caller.f_trace = _next_line
    sys.settrace(_next_line)


def _next_line(frame: FrameType, event: str, argument: Any) -> None:
    if event != "call":  # of other functions, which are left alone
        sys.settrace(None)
        raise KeyboardInterrupt


def main() -> NoReturn:
    """Entry point: every failure is one line on stderr and a non-zero exit status."""
    _open_standard_streams()
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        result = application(next(iter(sys.argv[1:]), None))(standalone_mode=False)
        if result == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
        _end(result if isinstance(result, int) else 0)
    except SystemExit as ended:  # typer takes a pipe that is closed for a failure, and ends with 1
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
    except Exception as error:  # a fault of ours: say which, in one line
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        at = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        _fail(f"internal error at {at}: {type(error).__name__}: {error}; please report it", 70)


if __name__ == "__main__":
    main()
