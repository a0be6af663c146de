"""What a token and a shingle are: the definition that both engines (compiled and plain) and the tests hold to.

A text is normalised (NFKC, case folded letter by letter), cut into tokens (runs of letters, digits and marks; in
scripts without spaces every letter is a token of its own) and
its shingles are the runs of `size` tokens. A text with fewer
tokens than that has one shingle: the whole text. A text without tokens has none.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from leakcheck.errors import LeakcheckError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_, int32, uint8
    from numpy.typing import NDArray

# Classes of code points.
SEPARATOR, LETTER, ALONE, MARK, SPACE = 0, 1, 2, 3, 4

# Scripts that put no spaces between words: each letter is a token.
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han compatibility
    (0x20000, 0x3FFFF),  # Han extensions
)
_ASCII_WORD = re.compile("[a-z0-9]+")
_CODE_POINTS = 0x110000
_TABLED = 0x20000  # code points from here on are Han (the last of the list) or have no letters


@dataclass(frozen=True, slots=True)
class Shingling:
    """How a text becomes a set: runs of `size` words, or of `size` characters."""

    characters: bool = False
    size: int = 3

    def __str__(self) -> str:
        return f"{'character' if self.characters else 'word'} {self.size}-grams"


WORD_TRIGRAMS = Shingling()
CHARACTER_FIVEGRAMS = Shingling(characters=True, size=5)


def parse_shingling(text: str) -> Shingling:
    """Read ``words:3``, ``chars:5``, ``words`` or ``chars``.

    Raises
    ------
    LeakcheckError
        When the text is none of these.
    """
    kind, _, size = text.partition(":")
    default = {"words": 3, "chars": 5}.get(kind)
    if default is None or (size and not (size.isdecimal() and 1 <= int(size) <= 64)):
        raise LeakcheckError("cannot read the shingle", expected="words:3 or chars:5", found=repr(text))
    return Shingling(characters=kind == "chars", size=int(size) if size else default)


@cache
def fold(character: str) -> str:
    """Case folded where that is one character; any white space is a space."""
    if ord(character) >= _TABLED:
        return character
    if character.isspace():
        return " "
    folded = character.casefold()
    return folded if len(folded) == 1 else character


@cache
def character_class(character: str) -> int:
    """One of SEPARATOR, LETTER, ALONE, MARK, SPACE."""
    if ord(character) >= _TABLED:
        return ALONE if UNSPACED[-1][0] <= ord(character) <= UNSPACED[-1][1] else SEPARATOR
    if character.isspace():
        return SPACE
    if unicodedata.category(character).startswith("M"):
        return MARK
    if not character.isalnum():
        return SEPARATOR
    code = ord(character)
    return ALONE if any(first <= code <= last for first, last in UNSPACED) else LETTER


@cache
def tables() -> tuple[NDArray[uint8], NDArray[int32]]:
    """`character_class` and `fold` of every code point (two arrays of 0x110000 entries), a property at a time."""
    import numpy as np

    characters = list(map(chr, range(_TABLED)))
    spaces = np.fromiter(map(str.isspace, characters), bool, _TABLED)
    classes = np.zeros(_CODE_POINTS, np.uint8)
    classes[:_TABLED][np.fromiter(map(str.isalnum, characters), bool, _TABLED)] = LETTER
    for first, last in UNSPACED:
        part = classes[first : last + 1]
        part[part == LETTER] = ALONE
    classes[:_TABLED][_marks(characters)] = MARK
    classes[:_TABLED][spaces] = SPACE
    first, last = UNSPACED[-1]
    classes[first : last + 1] = ALONE
    folds = np.arange(_CODE_POINTS, dtype=np.int32)
    folded = map(str.casefold, characters)
    folds[:_TABLED] = [ord(one) if len(one) == 1 else code for code, one in enumerate(folded)]
    folds[:_TABLED][spaces] = ord(" ")
    return classes, folds


@cache
def stable_in_nfkc() -> NDArray[bool_]:
    """Whether a text of such code points alone is its own NFKC form (an array of 0x110000 entries).

    They are their own form and compose with nothing before them: marks and the later letters of a Hangul syllable do.
    """
    import numpy as np

    characters = list(map(chr, range(_TABLED)))
    stable = np.ones(_CODE_POINTS, np.bool_)
    stable[:_TABLED] = [unicodedata.is_normalized("NFKC", one) for one in characters]
    stable[:_TABLED][_marks(characters)] = False
    for first, last in ((0x1160, 0x11FF), (0x2F800, 0x2FA1F)):
        stable[first : last + 1] = False
    return stable


def _marks(characters: Sequence[str]) -> NDArray[bool_]:
    import numpy as np

    return np.fromiter((kind[0] == "M" for kind in map(unicodedata.category, characters)), bool, len(characters))


def normalise(text: str) -> str:
    """The text as it is compared for equality: NFKC, case folded, white space runs as one space, trimmed.

    >>> normalise("  Straße\\n\\tNo. \\uff15 ")
    'straße no. 5'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = "".join(map(fold, unicodedata.normalize("NFKC", text)))
    return " ".join(part for part in folded.split(" ") if part)


def words(text: str) -> list[str]:
    """The tokens of a text.

    >>> words("Don't STOP: 東京 1")
    ['don', 't', 'stop', '東', '京', '1']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    open_token = alone = False
    for character in unicodedata.normalize("NFKC", text):
        kind = character_class(character)
        if kind in (SEPARATOR, SPACE):
            open_token = False
        elif open_token and (kind == MARK or (kind == LETTER and not alone)):
            found[-1] += fold(character)
        else:
            found.append(fold(character))
            open_token, alone = True, kind == ALONE
    return found


def tokens(text: str, shingling: Shingling) -> list[str]:
    """Words, or the characters of the normalised text (none where it holds no letter or digit)."""
    found = words(text)
    if not shingling.characters:
        return found
    return list(normalise(text)) if found else []


def shingles(text: str, shingling: Shingling = WORD_TRIGRAMS) -> frozenset[tuple[str, ...]]:
    """The set that stands for a text in every similarity here.

    >>> sorted(shingles("to be or not"))
    [('be', 'or', 'not'), ('to', 'be', 'or')]
    """
    parts = tokens(text, shingling)
    if not parts:
        return frozenset()
    last = max(len(parts) - shingling.size, 0)
    return frozenset(tuple(parts[i : i + shingling.size]) for i in range(last + 1))


def jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    """|a and b| / |a or b|; 0 for two empty sets."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0
