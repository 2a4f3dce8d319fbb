"""Command lines that refuse in one line."""

import argparse
import sys
from typing import NoReturn


def refused(error: Exception | str) -> int:
    """Say in one line why nothing was done; return the exit status."""
    sys.stderr.write(" ".join(str(error).split()) + "\n")
    return 2


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the refusal and leave."""
        sys.stderr.write(f"{' '.join(message.split())}. See {self.prog} --help.\n")
        raise SystemExit(2)
