"""One door to the joins: picks the engine and the method, and says which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leakcheck.audit import plain
from leakcheck.audit.facts import Method
from leakcheck.audit.pairs import SEED, Bands, Pairs, Ratio
from leakcheck.audit.shingles import CHARACTER_FIVEGRAMS, WORD_TRIGRAMS, Shingling
from leakcheck.audit.texts import Texts

SMALL_BYTES = 4_000_000  # below this the plain path is done before numba has loaded its cache
DEFAULT_MEMORY = 2 << 30
# Mean letters a token from which a column is taken to have no spaces (genes, base64): compared by characters.
LONG_TOKEN = 25.0


if TYPE_CHECKING:
    from leakcheck.audit.compiled import Engine


class Asked(Enum):
    """What `--method` takes."""

    AUTO = "auto"
    EXACT = "exact"
    MINHASH = "minhash"


@dataclass(frozen=True, slots=True)
class Settings:
    """How texts are compared."""

    threshold: float = 0.8
    shingling: Shingling | None = None  # None: words, or characters where there are no spaces
    asked: Asked = Asked.AUTO
    memory: int = DEFAULT_MEMORY
    threads: int | None = None  # None: one for each processor


def text_hashes(splits: Sequence[Texts], settings: Settings) -> list[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """Hash of each normalised text (0 where empty) and its number of words, by split; hashes of one call compare."""
    if not _compiled(sum(texts.bytes for texts in splits)):
        return [plain.text_hashes(texts) for texts in splits]
    engine = _engine(WORD_TRIGRAMS, settings)
    return [engine.text_hashes(texts) for texts in splits]


def shingling_for(texts: Texts, words: NDArray[np.int64], settings: Settings) -> Shingling:
    """The asked one, else words, or characters where tokens are too long to be words."""
    if settings.shingling is not None:
        return settings.shingling
    total = int(words.sum())
    return CHARACTER_FIVEGRAMS if total and texts.bytes / total > LONG_TOKEN else WORD_TRIGRAMS


def near_pairs(held_out: Texts, training: Texts, shingling: Shingling, settings: Settings) -> tuple[Pairs, Method]:
    """Pairs with Jaccard similarity at or above the threshold, each verified, and the method that found them."""
    ratio = Ratio.of(settings.threshold)
    asked = settings.asked
    if not _compiled(held_out.bytes + training.bytes, asked is Asked.MINHASH):
        return plain.exact(held_out, training, shingling, ratio), Method("exact", str(shingling), settings.threshold)
    engine = _engine(shingling, settings)
    if asked is Asked.EXACT or (asked is Asked.AUTO and not shingling.characters):
        from leakcheck.audit.compiled import OverBudget

        budget = settings.memory if asked is Asked.AUTO else 1 << 62
        try:
            pairs = engine.exact(held_out, training, ratio, budget)
            return pairs, Method("exact", str(shingling), settings.threshold)
        except OverBudget:
            pass
    bands = Bands.choose(settings.threshold)
    pairs = engine.minhash(held_out, training, ratio, bands, SEED)
    return pairs, Method(
        "minhash", str(shingling), settings.threshold, bands.bands, bands.rows, bands.miss(settings.threshold), SEED
    )


def contained_pairs(
    held_out: Texts, training: Texts, size: int, items: NDArray[np.int64], share: float, settings: Settings
) -> Pairs:
    """Training texts that hold at least `share` of an item's word n-grams, with the covered share."""
    shingling = Shingling(size=size)
    if not _compiled(held_out.bytes + training.bytes):
        return plain.contained(held_out, training, shingling, items.tolist(), Ratio.of(share))
    return _engine(shingling, settings).contained(held_out, training, items, Ratio.of(share))


def _compiled(size: int, forced: bool = False) -> bool:
    return (forced or size > SMALL_BYTES) and find_spec("numba") is not None


def _engine(shingling: Shingling, settings: Settings) -> Engine:
    from leakcheck.audit.compiled import Engine, default_threads

    return Engine(shingling, settings.threads or default_threads())
