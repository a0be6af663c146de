"""Compares the joins with datasketch and rensa on generated documents, each in a process of its own.

    python benchmarks/audit.py                           10,000 and 100,000 documents by words, 10,000 by characters
    python benchmarks/audit.py --full                    every case that has a bar, up to a million documents
    python benchmarks/audit.py --size 100000 --characters --template --only minhash,datasketch

A fifth of the documents is the test split. Every 20th test document is a training document with some words changed,
for a similarity between 0.5 and 1; others share a form or half of their words with one and stay below the threshold.
Truth is the similarity of the planted pairs, computed from their texts. With `--template`, a fiftieth of the rows of
both splits shares 60 words. Times are from the uncompressed file to the pairs: reading, cutting, hashing, joining and,
where a method verifies, verifying. Compiling (or loading the compiled kernels) is timed apart, on a few documents
before. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.pop(0)  # this folder: its file names must not hide packages of the same name

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leakcheck.audit.shingles import CHARACTER_FIVEGRAMS, WORD_TRIGRAMS, Shingling, jaccard, shingles

THRESHOLD = 0.8
THREADS = 2
CHUNK = 10_000  # documents generated at once
BATCH = 1_000  # documents of a record batch
CHECKED = 2_000  # found pairs whose similarity is computed again, at most
FORM_WORDS = 60
METHODS = ("exact", "minhash", "datasketch", "rensa")


@dataclass(frozen=True, slots=True)
class Case:
    """One set of documents and what runs on it."""

    size: int
    characters: bool = False
    template: bool = False
    methods: tuple[str, ...] = METHODS

    @property
    def shingling(self) -> Shingling:
        return CHARACTER_FIVEGRAMS if self.characters else WORD_TRIGRAMS

    def __str__(self) -> str:
        return f"{self.size:,} documents, {self.shingling}" + (", a template in 2 % of the rows" * self.template)


USUAL = (Case(10_000), Case(10_000, characters=True, methods=METHODS[1:]), Case(100_000))
FULL = (
    *USUAL,
    Case(100_000, template=True, methods=METHODS[:2]),
    Case(100_000, characters=True, methods=("minhash", "datasketch")),
    Case(1_000_000, methods=("exact", "minhash", "rensa")),
)


# -- documents ---------------------------------------------------------------------------------------------------------


def generate(folder: Path, size: int, template: bool, seed: int = 0) -> None:
    """Write `test.arrow`, `train.arrow` and the planted pairs (test, training)."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = ["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(50_000)]
    forms = [_document(rng) for _ in range(50)]
    form = _document(rng)[:FORM_WORDS]
    schema = pa.schema([("text", pa.large_string())])
    planted = []
    with (
        pa.OSFile(str(folder / "test.arrow"), "wb") as test_file,
        pa.OSFile(str(folder / "train.arrow"), "wb") as train_file,
        pa.ipc.new_file(test_file, schema) as test_writer,
        pa.ipc.new_file(train_file, schema) as train_writer,
    ):
        for first in range(0, size, CHUNK):
            n = min(CHUNK, size - first)
            n_test, first_test, first_training = n // 5, first // 5, first - first // 5
            training = [_document(rng) for _ in range(n - n_test)]
            test = []
            for i in range(n_test):
                source = int(rng.integers(len(training)))
                words = training[source]
                if i % 20 == 0:
                    words = words.copy()
                    changes = int(rng.integers(0, max(2, len(words) // 14)))
                    words[rng.integers(len(words), size=changes)] = rng.integers(50_000, size=changes)
                    planted.append((first_test + i, first_training + source))
                elif i % 20 == 1:  # half of a training text
                    words = np.r_[words[: len(words) // 2], _document(rng)[: len(words) // 2 + 3]]
                elif i % 20 == 2:  # a form that is filled in differently on either side
                    one = forms[int(rng.integers(len(forms)))][:40]
                    words = np.r_[one, _document(rng)[:30]]
                    training[i] = np.r_[one, _document(rng)[:30]]
                    planted = [pair for pair in planted if pair[1] != first_training + i]
                else:
                    words = _document(rng)
                test.append(words)
            if template:
                for side in (test, training):
                    for i in range(3, len(side), 50):
                        side[i] = np.r_[form, _document(rng)[:40]]
                planted = [p for p in planted if (p[1] - first_training) % 50 != 3 or p[1] < first_training]
            for writer, documents in ((test_writer, test), (train_writer, training)):
                texts = [" ".join([vocabulary[word] for word in words.tolist()]) for words in documents]
                table = pa.table([pa.array(texts, pa.large_string())], schema)
                writer.write_table(table, max_chunksize=BATCH)
    np.save(folder / "planted.npy", np.array(planted, np.int64).reshape(-1, 2))


def _document(rng: np.random.Generator) -> NDArray[np.int64]:
    """30 to 300 words, whose ranks follow Zipf's law, cut at the vocabulary."""
    return (50_000 ** rng.random(int(rng.integers(30, 301)))).astype(np.int64) - 1


def _columns(path: Path) -> Iterator[pa.Array]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i).column(0)


# -- methods -----------------------------------------------------------------------------------------------------------


def run_ours(method: str, shingling: Shingling, folder: Path) -> tuple[set[tuple[int, int]], dict[str, float]]:
    from leakcheck.audit.compiled import Engine
    from leakcheck.audit.pairs import SEED, Bands, Pairs, Ratio
    from leakcheck.audit.texts import Texts

    engine, ratio, bands = Engine(shingling, THREADS), Ratio.of(THRESHOLD), Bands.choose(THRESHOLD)

    def join(test: Texts, training: Texts) -> Pairs:
        if method == "exact":
            return engine.exact(test, training, ratio, 1 << 62)
        return engine.minhash(test, training, ratio, bands, SEED)

    start = time.perf_counter()
    few = next(_columns(folder / "train.arrow"))[:50]
    join(Texts(few), Texts(few))
    compiling = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    pairs = join(*(Texts.of(_columns(folder / f"{split}.arrow")) for split in ("test", "train")))
    record = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "compiling": compiling}
    return set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)), record


def run_theirs(method: str, shingling: Shingling, folder: Path) -> tuple[set[tuple[int, int]], dict[str, float]]:
    def cut(text: str) -> list[str]:
        if shingling.characters:
            return [text[i : i + 5] for i in range(max(1, len(text) - 4))]
        words = text.split()
        return [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]

    def texts(split: str) -> Iterator[str]:
        for column in _columns(folder / f"{split}.arrow"):
            yield from column.to_pylist()

    if method == "datasketch":
        from datasketch import MinHash, MinHashLSH

        index = MinHashLSH(num_perm=128, params=(16, 8))
    else:
        from rensa import RMinHash, RMinHashLSH

        index = RMinHashLSH(THRESHOLD, 128, 16)
    start, cpu = time.perf_counter(), time.process_time()
    found = set()
    if method == "datasketch":
        for split in ("test", "train"):
            encoded = ([shingle.encode() for shingle in cut(text)] for text in texts(split))
            for i, one in enumerate(MinHash.bulk(encoded, num_perm=128)):
                if split == "test":
                    index.insert(i, one)
                else:
                    found |= {(j, i) for j in index.query(one)}
    else:
        for split in ("test", "train"):
            for i, text in enumerate(texts(split)):
                signature = RMinHash(num_perm=128, seed=1)
                signature.update(cut(text))
                if split == "test":
                    index.insert(i, signature)
                else:
                    found |= {(j, i) for j in index.query(signature)}
    return found, {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def measure(method: str, shingling: Shingling, folder: Path) -> dict[str, float]:
    """Run one method in this process and score it against the similarities of planted and found pairs."""
    run = run_ours if method in ("exact", "minhash") else run_theirs
    found, record = run(method, shingling, folder)
    peak = _peak()
    planted = set(map(tuple, np.load(folder / "planted.npy").tolist()))
    checked = sorted(found)
    checked = checked[:: len(checked) // CHECKED + 1]
    sides = [_texts_of(folder / f"{split}.arrow", {p[side] for p in (*planted, *checked)}) for side, split in SIDES]

    def similar(pair: tuple[int, int]) -> bool:
        left, right = (shingles(texts[row], shingling) for texts, row in zip(sides, pair, strict=True))
        return jaccard(left, right) >= THRESHOLD

    truth = {pair for pair in planted if similar(pair)}
    return {
        **record,
        "peak": peak,
        "pairs": len(found),
        "recall": len(found & truth) / max(1, len(truth)),
        "precision": sum(map(similar, checked)) / max(1, len(checked)),
    }


def _peak() -> float:
    """Most memory this process has had, in MB; `getrusage` would count that of the process which started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


SIDES = ((0, "test"), (1, "train"))


def _texts_of(path: Path, rows: set[int]) -> dict[int, str]:
    found, first = {}, 0
    for column in _columns(path):
        found |= {row: column[row - first].as_py() for row in rows if first <= row < first + len(column)}
        first += len(column)
    return found


# -- bars --------------------------------------------------------------------------------------------------------------

_Results = dict[Case, dict[str, dict[str, float]]]


def bars(results: _Results) -> Iterator[tuple[str, float, str, bool]]:
    """What is held: its name, what was seen, the bar, and whether it is met."""
    for case, by_method in results.items():
        least = {"exact": 60, "minhash": 30}
        for method in ("exact", "minhash"):
            if method not in by_method:
                continue
            ours = by_method[method]
            name = f"{case}: {method}"
            recall = 1.0 if method == "exact" else 0.98
            yield f"{name}, recall", ours["recall"], f">= {recall:g}", ours["recall"] >= recall
            yield f"{name}, precision", ours["precision"], ">= 1", ours["precision"] >= 1.0
            if case.size == 100_000 and "datasketch" in by_method:
                theirs = by_method["datasketch"]
                times = theirs["seconds"] / ours["seconds"]
                yield f"{name}, times datasketch's speed", times, f">= {least[method]}", times >= least[method]
                peak = ours["peak"] / theirs["peak"]
                yield f"{name}, share of datasketch's memory", peak, "< 1", peak < 1.0
            if case.size == 1_000_000:
                if "rensa" in by_method:
                    times = by_method["rensa"]["seconds"] / ours["seconds"]
                    yield f"{name}, times rensa's speed", times, ">= 6", times >= 6
                yield f"{name}, peak in MB", ours["peak"], "<= 1500", ours["peak"] <= 1500
                smaller = results.get(Case(100_000), {}).get(method)
                if smaller:
                    growth = ours["seconds"] / smaller["seconds"]
                    yield f"{name}, times the time of 100,000", growth, "<= 15", growth <= 15


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true", help="every case that has a bar")
    parser.add_argument("--size", type=int, help="one case of this many documents")
    parser.add_argument("--characters", action="store_true", help="character 5-grams instead of word 3-grams")
    parser.add_argument("--template", action="store_true", help="a template in 2 %% of the rows")
    parser.add_argument("--only", default=",".join(METHODS), help="methods, with --size")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        shingling = CHARACTER_FIVEGRAMS if given.characters else WORD_TRIGRAMS
        print(json.dumps(measure(given.here, shingling, given.folder)))
        return 0
    cases = FULL if given.full else USUAL
    if given.size:
        cases = (Case(given.size, given.characters, given.template, tuple(given.only.split(","))),)
    results: _Results = {}
    for case in cases:
        print(
            f"\n{case}\n{'method':<12}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'pairs':>9}{'recall':>9}{'precision':>11}"
        )
        with tempfile.TemporaryDirectory(prefix="leakcheck-benchmark-") as folder:
            generate(Path(folder), case.size, case.template)
            results[case] = {}
            for method in case.methods:
                command = [sys.executable, __file__, "--here", method, "--folder", folder]
                done = subprocess.run(
                    command + ["--characters"] * case.characters, stdout=subprocess.PIPE, check=True, text=True
                )
                record = results[case][method] = json.loads(done.stdout)
                compiling = f"  (before: kernels {record['compiling']:.1f} s)" if "compiling" in record else ""
                print(
                    f"{method:<12}{record['seconds']:>9.2f}{record['cpu']:>9.2f}{record['peak']:>9.0f}"
                    f"{record['pairs']:>9.0f}{record['recall']:>9.4f}{record['precision']:>11.4f}{compiling}",
                    flush=True,
                )
    print("\nbars")
    met = True
    for name, seen, bar, good in bars(results):
        met &= good
        print(f"{'met   ' if good else 'MISSED'}  {name}: {seen:.4g} (bar {bar})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
