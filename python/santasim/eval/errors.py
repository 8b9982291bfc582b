"""What a user did wrong."""


class InputError(Exception):
    """One line: the place, what was found, what is allowed. The program ends with exit code 2."""
