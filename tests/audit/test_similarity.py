"""Both engines find exactly the pairs that brute force finds, with the same similarity."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakcheck.audit import plain, texts
from leakcheck.audit.pairs import Bands, Pairs, Ratio
from leakcheck.audit.shingles import (
    CHARACTER_FIVEGRAMS,
    WORD_TRIGRAMS,
    Shingling,
    character_class,
    fold,
    jaccard,
    normalise,
    shingles,
    stable_in_nfkc,
    tables,
)
from leakcheck.audit.texts import Texts

pytest.importorskip("numba")
from leakcheck.audit.compiled import Engine

WORDS = ["to", "be", "or", "not", "Straße", "naïve", "東京", "can't", "x1", "—", "École", "e\u0301cole"]
TEMPLATE = "Order {} was shipped to {} on time and arrived in good order"
documents = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.builds(TEMPLATE.format, st.integers(1, 30), st.sampled_from(["Paris", "Rome"])),
    st.text(max_size=12),
)
collections = st.lists(documents, max_size=12)


def as_set(pairs: Pairs) -> set[tuple[int, int, float]]:
    return set(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), strict=True))


def brute_force(a: list[str], b: list[str], shingling: Shingling, threshold: float) -> set[tuple[int, int, float]]:
    found = set()
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            left, right = shingles(one, shingling), shingles(other, shingling)
            if left and right and Fraction(len(left & right), len(left | right)) >= Fraction(str(threshold)):
                found.add((i, j, jaccard(left, right)))
    return found


@settings(max_examples=150, deadline=None)
@given(
    collections, collections, st.sampled_from([WORD_TRIGRAMS, CHARACTER_FIVEGRAMS]), st.sampled_from([0.5, 0.8, 1.0])
)
def test_exact_join_is_brute_force(a: list[str], b: list[str], shingling: Shingling, threshold: float) -> None:
    wanted = brute_force(a, b, shingling, threshold)
    assert as_set(plain.exact(Texts(a), Texts(b), shingling, Ratio.of(threshold))) == wanted
    assert as_set(Engine(shingling, 2).exact(Texts(a), Texts(b), Ratio.of(threshold), 1 << 40)) == wanted


def long_documents(seed: int) -> tuple[list[str], list[str]]:
    """Documents of hundreds of words and copies of them with some words changed, in several scripts and spellings."""
    rng = np.random.default_rng(seed)
    vocabulary = [
        f"{word}{i}" for i in range(60) for word in ("be", "Straße", "naïve", "東京", "\uff46\uff55\uff4c\uff4c")
    ]
    left = [[str(word) for word in rng.choice(vocabulary, rng.integers(3, 300))] for _ in range(30)]
    right = []
    for words in [*left, *left]:
        changed = list(words)
        for at in rng.integers(0, len(words), int(rng.integers(0, 1 + len(words) // 30))):
            changed[at] = str(rng.choice(vocabulary))
        right.append(changed + changed[: int(rng.integers(0, 20))])
    spelled = [[word if "ß" in word else word.upper() for word in words] for words in right]  # ß is SS in capitals
    left_texts = [str(rng.choice([" ", "  ", "\n"])).join(words) for words in left]
    return left_texts, [str(rng.choice([" ", "\u00a0", " — "])).join(words) for words in spelled]


@pytest.mark.parametrize("shingling", [WORD_TRIGRAMS, Shingling(size=5), CHARACTER_FIVEGRAMS])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("in_memory", [True, False])
def test_exact_join_of_long_texts_is_brute_force(
    shingling: Shingling, threshold: float, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "MEMORY_BYTES", 1 << 30 if in_memory else 0)
    monkeypatch.setattr(texts, "TASK_BYTES", 5_000)
    a, b = long_documents(seed=int(10 * threshold))
    wanted = brute_force(a, b, shingling, threshold)
    assert len(wanted) > 10
    found = Engine(shingling, 2).exact(Texts(a), Texts(b), Ratio.of(threshold), 1 << 40)
    assert as_set(found) == wanted


@settings(max_examples=50, deadline=None)
@given(collections, collections)
def test_minhash_reports_only_true_pairs(a: list[str], b: list[str]) -> None:
    found = Engine(WORD_TRIGRAMS, 1).minhash(Texts(a), Texts(b), Ratio.of(0.8), Bands.choose(0.8), 1)
    assert as_set(found) <= brute_force(a, b, WORD_TRIGRAMS, 0.8)


@settings(max_examples=50, deadline=None)
@given(collections)
def test_equal_hashes_are_equal_texts(texts: list[str]) -> None:
    hashes, words = Engine(WORD_TRIGRAMS, 1).text_hashes(Texts(texts))
    normal = [normalise(text) for text in texts]
    for i, one in enumerate(normal):
        assert (hashes[i] == 0) == (one == "")
        assert [h == hashes[i] for h in hashes] == [other == one for other in normal]
    assert words.tolist() == plain.text_hashes(Texts(texts))[1].tolist()


@pytest.mark.parametrize("shingling", [WORD_TRIGRAMS, CHARACTER_FIVEGRAMS])
@pytest.mark.parametrize(("scheme", "count"), [("legacy", 64), ("affine32", 128), ("affine32", 20)])
def test_signatures_equal_datasketch(scheme: str, count: int, shingling: Shingling) -> None:
    datasketch = pytest.importorskip("datasketch")
    given = [f"document number {i} about {i * i} different things of that kind " * (i % 4) for i in range(20)]
    engine = Engine(shingling, 1)
    hashes, sizes = engine.shingles(Texts(given))
    signatures = engine.signatures(Texts(given), count, 7, legacy=scheme == "legacy")
    for document, of_document in enumerate(np.split(hashes, np.cumsum(sizes)[:-1])):
        theirs = datasketch.MinHash(num_perm=128 if scheme == "affine32" else count, seed=7, scheme=scheme)
        theirs.hashfunc = lambda value: value
        theirs.update_batch([int(value) & 0xFFFFFFFF for value in of_document])
        assert (theirs.hashvalues[:count] == signatures[document]).all()


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
def test_bands_keep_the_stated_miss_probability(threshold: float) -> None:
    assert Bands.choose(threshold).miss(threshold) <= 0.01


@pytest.mark.parametrize("shingling", [WORD_TRIGRAMS, CHARACTER_FIVEGRAMS])
def test_measured_recall_is_within_the_stated_miss_probability(shingling: Shingling) -> None:
    rng = np.random.default_rng(0)
    base = [[f"w{word}" for word in rng.integers(0, 5000, 60)] for _ in range(400)]
    copies = [list(words) for words in base]
    for words in copies:
        words[int(rng.integers(3, 57))] = "changed"
        words[-1] = "changed"
    a, b = Texts([" ".join(words) for words in base]), Texts([" ".join(words) for words in copies])
    engine, ratio, bands = Engine(shingling, 1), Ratio.of(0.8), Bands.choose(0.8)
    exact = engine.exact(a, b, ratio, 1 << 40)
    found = engine.minhash(a, b, ratio, bands, 1)
    assert len(exact) > 300
    # three standard deviations of a binomial around the promise for the least similar pair
    allowed = bands.miss(0.8) * len(exact) + 3 * np.sqrt(bands.miss(0.8) * len(exact))
    assert len(exact) - len(found) <= allowed


def test_tables_hold_the_definitions() -> None:
    classes, folds = tables()
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF:
            assert (classes[code], folds[code]) == (character_class(chr(code)), ord(fold(chr(code)))), hex(code)


def test_texts_of_stable_characters_are_in_nfkc() -> None:
    stable = stable_in_nfkc()
    assert all(unicodedata.is_normalized("NFKC", chr(code)) for code in np.flatnonzero(stable).tolist())
    # nothing composes with what stands before it
    parts = [unicodedata.decomposition(chr(code)).split() for code in range(0x110000)]
    assert not any(stable[int(pair[1], 16)] for pair in parts if len(pair) == 2 and pair[0][0] != "<")
    assert not any(stable[code] for code in range(0x1161, 0x1176))  # vowels of Hangul compose by rule


@settings(max_examples=100, deadline=None)
@given(st.lists(st.none() | st.text(max_size=12) | st.sampled_from(WORDS), max_size=30), st.integers(0, 40))
def test_texts_are_the_nfkc_forms(given: list[str | None], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "MEMORY_BYTES", limit)
        held = Texts(pa.chunked_array([given[:7], given[7:]], pa.string()))
        wanted = [unicodedata.normalize("NFKC", one or "") for one in given]
        assert [held.text(i) for i in range(len(held))] == wanted
        assert [one for chunk in held.arrow() for one in chunk.to_pylist()] == wanted
        rows = np.arange(len(given))[::-2]
        data, starts, ends = held.open(rows)
        assert [bytes(data[s:e]).decode() for s, e in zip(starts, ends, strict=True)] == [wanted[i] for i in rows]
        patch.setattr(texts, "TASK_BYTES", 7)
        copied = held.copied(np.arange(len(given))[::3])
        assert [copied.text(i) for i in range(len(copied))] == wanted[::3]


@settings(max_examples=50, deadline=None)
@given(collections, collections)
def test_containment_is_the_same_in_both_engines(a: list[str], b: list[str]) -> None:
    items = [i for i, text in enumerate(a) if shingles(text)]
    wanted = {
        (i, j, len(shingles(a[i]) & shingles(text)) / len(shingles(a[i])))
        for i in items
        for j, text in enumerate(b)
        if len(shingles(a[i]) & shingles(text)) * 5 >= 4 * len(shingles(a[i]))
    }
    assert as_set(plain.contained(Texts(a), Texts(b), WORD_TRIGRAMS, items, Ratio.of(0.8))) == wanted
    compiled = Engine(WORD_TRIGRAMS, 1).contained(Texts(a), Texts(b), np.array(items, np.int64), Ratio.of(0.8))
    assert as_set(compiled) == wanted
