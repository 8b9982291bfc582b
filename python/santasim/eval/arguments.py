"""What the command lines of evaluation and layer budgets have in common."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .errors import InputError

DTYPES = ("float32", "bfloat16", "float16")
"""Types that a model can be loaded in."""


class Parser(argparse.ArgumentParser):
    """Raises InputError where argparse would end the program."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def integer(least: int, most: int) -> Any:
    """Type of an argument: a decimal integer from `least` to `most`."""
    def convert(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f'got "{text}"; allowed: an integer from {least} to {most}')
        return int(text)
    return convert
