"""Command lines that refuse in one line."""

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the refusal and leave."""
        sys.stderr.write(f"{' '.join(message.split())}. See {self.prog} --help.\n")
        raise SystemExit(2)
