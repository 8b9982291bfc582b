"""Our own words: texts of tasks are made of these alone."""

from __future__ import annotations

import random

ADJECTIVES = ("amber", "brisk", "calm", "dusty", "eager", "faint", "gentle", "hollow", "ivory",
              "jolly", "keen", "lively", "mellow", "narrow", "olive", "plain", "quiet", "rusty",
              "silver", "tidy", "upper", "velvet", "warm", "young")
NOUNS = ("anchor", "basket", "candle", "desk", "engine", "fence", "garden", "hammer", "island",
         "jacket", "kettle", "ladder", "mirror", "needle", "orchard", "pencil", "quarry", "ribbon",
         "saddle", "table", "umbrella", "valley", "window", "yard")
PLACES = ("Bakery", "Library", "Museum", "Theatre", "Mill", "School", "Harbour", "Observatory",
          "Clinic", "Workshop")
SENTENCES = ("The path behind the house leads to a small pond.",
             "A cart with two wheels stood beside the gate all morning.",
             "Rain fell on the roof, and later the clouds went away.",
             "Somebody had left a lamp burning in the back room.",
             "The bread was still warm when the neighbours came in.",
             "Two birds sat on the wall and watched the road.",
             "Nothing much happened in the afternoon, so we read.",
             "The clock in the hall was slow, as it always had been.")
_STARTS = ("b", "br", "d", "dr", "f", "g", "gl", "k", "kr", "l", "m", "n", "p", "pl", "r", "s", "st",
           "t", "tr", "v")
_VOWELS = ("a", "e", "i", "o", "u")
_ENDS = ("l", "m", "n", "r", "s", "x")


def invented(random_source: random.Random, syllables: int = 2) -> str:
    """A word that no language has, of letters a to z."""
    parts = [random_source.choice(_STARTS) + random_source.choice(_VOWELS)
             for _ in range(syllables)]
    return "".join(parts) + random_source.choice(_ENDS)


def distinct(random_source: random.Random, count: int, syllables: int = 2) -> list[str]:
    """`count` invented words, none a part of another: grading looks for substrings."""
    found: list[str] = []
    while len(found) < count:
        word = invented(random_source, syllables)
        if not any(word in other or other in word for other in found):
            found.append(word)
    return found
