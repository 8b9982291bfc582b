"""What a user did wrong."""


class InputError(Exception):
    """One line: the place, what was found, what is allowed. The program ends with exit code 2."""


def of_system(error: OSError) -> str:
    """What to say of a file that nobody looked at before it was used: a disk that is full, a file that
    may not be read."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}; allowed: files that can be read, folders to write in, a disk with room"
