"""Compares the joins with datasketch and rensa on generated documents, each in a process of its own.

    python benchmarks/audit.py --size 100k [--characters] [--template] [--only exact,minhash,datasketch,rensa]

A fifth of the documents is the test split; planted near-duplicates have a known similarity around the threshold, and
templated hard negatives lie below it. Truth is the exact similarity of the planted pairs. Times are wall seconds from
raw text to verified pairs; compiling is timed apart, on a small set before.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

sys.path.pop(0)  # this folder: its file names must not hide packages of the same name

import numpy as np

from leakcheck.audit.pairs import Bands, Pairs, Ratio
from leakcheck.audit.shingles import CHARACTER_FIVEGRAMS, WORD_TRIGRAMS, Shingling, jaccard, shingles

THRESHOLD = 0.8
SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}
METHODS = ("exact", "minhash", "datasketch", "rensa")


def generate(size: int, template: bool, seed: int = 0) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Test texts, training texts, and the pairs (test, training) that were planted."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = np.array(["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(50_000)], dtype=object)
    n_test = size // 5

    def document() -> list[str]:
        # word ranks follow Zipf's law, cut at the vocabulary
        ranks = (50_000 ** rng.random(int(rng.integers(30, 301)))).astype(int) - 1
        return list(vocabulary[ranks])

    training = [document() for _ in range(size - n_test)]
    test, planted = [], []
    for i in range(n_test):
        if i % 20 == 0:  # a copy with a few words changed: similarity from 0.5 to 1
            source = int(rng.integers(len(training)))
            words = list(training[source])
            for _ in range(int(rng.integers(0, max(2, len(words) // 14)))):
                words[int(rng.integers(len(words)))] = str(vocabulary[int(rng.integers(50_000))])
            planted.append((i, source))
        elif i % 20 == 1:  # a hard negative: half of a training text
            source = training[int(rng.integers(len(training)))]
            words = [*source[: len(source) // 2], *document()[: len(source) // 2 + 3]]
        else:
            words = document()
        test.append(words)
    if template:
        form = document()[:60]
        for side in (test, training):
            for i in range(2, len(side), 50):
                side[i] = [*form, *document()[:40]]
    return [" ".join(words) for words in test], [" ".join(words) for words in training], planted


def run_ours(method: str, shingling: Shingling, test: list[str], training: list[str]) -> tuple[Pairs, dict[str, float]]:
    from leakcheck.audit.compiled import Engine, default_threads
    from leakcheck.audit.texts import Texts

    engine, ratio, bands = Engine(shingling, default_threads()), Ratio.of(THRESHOLD), Bands.choose(THRESHOLD)
    join: Callable[[Texts, Texts], Pairs] = (
        (lambda a, b: engine.exact(a, b, ratio, 1 << 62))
        if method == "exact"
        else (lambda a, b: engine.minhash(a, b, ratio, bands, 1))
    )
    start = time.perf_counter()
    join(Texts(test[:50]), Texts([*training[:50], *test[:5]]))
    compiling = time.perf_counter() - start
    start = time.perf_counter()
    pairs = join(Texts(test), Texts(training))
    return pairs, {"seconds": time.perf_counter() - start, "compile_seconds": compiling}


def run_theirs(
    method: str, shingling: Shingling, test: list[str], training: list[str]
) -> tuple[set[tuple[int, int]], dict[str, float]]:
    def cut(text: str) -> list[str]:
        if shingling.characters:
            return [text[i : i + 5] for i in range(max(1, len(text) - 4))]
        words = text.split()
        return [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]

    start = time.perf_counter()
    found = set()
    if method == "datasketch":
        from datasketch import MinHash, MinHashLSH

        index = MinHashLSH(num_perm=128, params=(16, 8))
        encoded = ([s.encode() for s in cut(text)] for text in test)
        for i, one in enumerate(MinHash.bulk(encoded, num_perm=128)):
            index.insert(i, one)
        for j, one in enumerate(
            MinHash.generator(([s.encode() for s in cut(text)] for text in training), num_perm=128)
        ):
            found |= {(i, j) for i in index.query(one)}
    else:
        from rensa import RMinHash, RMinHashLSH

        index = RMinHashLSH(THRESHOLD, 128, 16)

        def sign(text: str) -> RMinHash:
            one = RMinHash(num_perm=128, seed=1)
            one.update(cut(text))
            return one

        for i, text in enumerate(test):
            index.insert(i, sign(text))
        for j, text in enumerate(training):
            found |= {(i, j) for i in index.query(sign(text))}
    return found, {"seconds": time.perf_counter() - start}


def one(method: str, size: int, characters: bool, template: bool) -> dict[str, float]:
    """Run one method here and score it against the exact similarity of the planted and of the found pairs."""
    shingling = CHARACTER_FIVEGRAMS if characters else WORD_TRIGRAMS
    test, training, planted = generate(size, template)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = time.process_time()
    if method in ("exact", "minhash"):
        pairs, record = run_ours(method, shingling, test, training)
        found = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    else:
        found, record = run_theirs(method, shingling, test, training)
    record["cpu_seconds"] = time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def similar(pair: tuple[int, int]) -> bool:
        return jaccard(shingles(test[pair[0]], shingling), shingles(training[pair[1]], shingling)) >= THRESHOLD

    truth = {pair for pair in planted if similar(pair)}
    sample = sorted(found)[:5000]
    return {
        **record,
        "peak_mb": peak / 1024,
        "added_mb": (peak - before) / 1024,
        "pairs": len(found),
        "recall": len(found & truth) / max(1, len(truth)),
        "precision": sum(map(similar, sample)) / max(1, len(sample)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", choices=SIZES, default="10k")
    parser.add_argument("--characters", action="store_true")
    parser.add_argument("--template", action="store_true")
    parser.add_argument("--only", default=",".join(METHODS))
    parser.add_argument("--here", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(one(given.here, SIZES[given.size], given.characters, given.template)))
        return
    for method in given.only.split(","):
        command = [sys.executable, __file__, "--size", given.size, "--here", method]
        command += ["--characters"] * given.characters + ["--template"] * given.template
        done = subprocess.run(command, capture_output=True, text=True)
        print(method, done.stdout.strip() or done.stderr.strip().splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
