"""The inner loops, compiled by numba: no interpreter lock, cached between runs.

Texts are UTF-8 bytes with offsets, already in NFKC. Hashes are 64-bit and the same as in `plain`, the numpy path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from leakcheck.audit.shingles import ALONE, LETTER, MARK, SEPARATOR, SPACE

# Odd multipliers of the polynomial hashes, and the finaliser of splitmix64 (Steele, Lea and Flood 2014).
TOKEN_BASE = np.uint64(0x9E3779B97F4A7C15)
SHINGLE_BASE = np.uint64(0xD1342543DE82EF95)
SHORT = np.uint64(0xA0761D6478BD642F)  # keeps a whole short text apart from a full shingle
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S16, S13, S61 = (np.uint64(shift) for shift in (30, 27, 31, 16, 13, 61))
ZERO, ONE = np.uint64(0), np.uint64(1)
LOW_32 = np.uint64(0xFFFFFFFF)
MERSENNE_61 = np.uint64((1 << 61) - 1)
FMIX_1, FMIX_2 = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)  # MurmurHash3's 32-bit finaliser

compiled: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
inlined: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", inline="never")


@inlined
def mix(h):
    h = (h ^ (h >> S30)) * MIX_1
    h = (h ^ (h >> S27)) * MIX_2
    return h ^ (h >> S31)


@inlined
def decode(data, i):
    """Code point of the multi-byte sequence at i, and its length."""
    c = np.int64(data[i])
    if c < 0xE0:
        return ((c & 0x1F) << 6) | (data[i + 1] & 0x3F), 2
    if c < 0xF0:
        return ((c & 0x0F) << 12) | ((data[i + 1] & 0x3F) << 6) | (data[i + 2] & 0x3F), 3
    return (
        ((c & 0x07) << 18) | ((data[i + 1] & 0x3F) << 12) | ((data[i + 2] & 0x3F) << 6) | (data[i + 3] & 0x3F),
        4,
    )


@inlined
def word_tokens(data, start, end, classes, folds, tokens):
    """Hash every word of one text into `tokens`; how many there are."""
    count = 0
    h = ZERO
    inside = False
    alone = False
    i = start
    while i < end:
        code = np.int64(data[i])
        step = 1
        if code >= 0x80:
            code, step = decode(data, i)
        kind = classes[code]
        i += step
        if kind in (SEPARATOR, SPACE):
            if inside:
                tokens[count] = mix(h)
                count += 1
                inside = False
            continue
        value = np.uint64(folds[code] + 1)
        if inside and (kind == MARK or (kind == LETTER and not alone)):
            h = h * TOKEN_BASE + value
        else:
            if inside:
                tokens[count] = mix(h)
                count += 1
            h = value
            inside = True
            alone = kind == ALONE
    if inside:
        tokens[count] = mix(h)
        count += 1
    return count


@inlined
def character_tokens(data, start, end, classes, folds, tokens):
    """The folded code points of one text, white space runs as one space, trimmed; 0 where there is no letter."""
    count = 0
    letters = False
    pending = False
    i = start
    while i < end:
        code = np.int64(data[i])
        step = 1
        if code >= 0x80:
            code, step = decode(data, i)
        kind = classes[code]
        i += step
        if kind == SPACE:
            pending = count > 0
            continue
        if pending:
            tokens[count] = np.uint64(33)
            count += 1
            pending = False
        if kind != SEPARATOR:
            letters = True
        tokens[count] = np.uint64(folds[code] + 1)
        count += 1
    return count if letters else 0


@inlined
def shingle(data, start, end, characters, size, classes, folds, tokens, out, at):
    """Write the shingle hashes of one text, with repeats, to ``out[at:]``; how many there are."""
    if characters:
        count = character_tokens(data, start, end, classes, folds, tokens)
    else:
        count = word_tokens(data, start, end, classes, folds, tokens)
    if count == 0:
        return 0
    if count < size:
        h = ZERO
        for j in range(count):
            h = h * SHINGLE_BASE + tokens[j]
        out[at] = mix(h ^ (SHORT * np.uint64(count)))
        return 1
    if size == 3:
        for i in range(count - 2):
            out[at + i] = mix((tokens[i] * SHINGLE_BASE + tokens[i + 1]) * SHINGLE_BASE + tokens[i + 2])
        return count - 2
    for i in range(count - size + 1):
        h = tokens[i]
        for j in range(1, size):
            h = h * SHINGLE_BASE + tokens[i + j]
        out[at + i] = mix(h)
    return count - size + 1


@compiled
def shingle_documents(data, offsets, documents, characters, size, classes, folds, tokens, out, counts):
    """Shingle hashes of the documents, with repeats, one after another; how many in all."""
    at = 0
    for k in range(len(documents)):
        d = documents[k]
        n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, out, at)
        counts[k] = n
        at += n
    return at


@compiled
def text_hashes(data, offsets, documents, classes, folds, out, words):
    """Hash of each normalised text (0 for an empty one), and its number of words."""
    for k in range(len(documents)):
        d = documents[k]
        h = ZERO
        empty = True
        pending = False
        inside = False
        alone = False
        count = 0
        i = offsets[d]
        end = offsets[d + 1]
        while i < end:
            code = np.int64(data[i])
            step = 1
            if code >= 0x80:
                code, step = decode(data, i)
            kind = classes[code]
            i += step
            if kind == SPACE:
                pending = not empty
                inside = False
                continue
            if pending:
                h = h * TOKEN_BASE + np.uint64(33)
                pending = False
            empty = False
            h = h * TOKEN_BASE + np.uint64(folds[code] + 1)
            if kind == SEPARATOR:
                inside = False
            elif not (inside and (kind == MARK or (kind == LETTER and not alone))):
                count += 1
                inside = True
                alone = kind == ALONE
        out[k] = ZERO if empty else mix(h) | ONE
        words[k] = count


@compiled
def set_bits(bitmap, shift, hashes, total):
    for i in range(total):
        bit = hashes[i] >> shift
        bitmap[bit >> np.uint64(3)] |= np.uint8(1 << (bit & np.uint64(7)))


@inlined
def has_bit(bitmap, shift, h):
    bit = h >> shift
    return (bitmap[bit >> np.uint64(3)] >> (bit & np.uint64(7))) & 1


@inlined
def is_new(keys, stamps, stamp, h):
    """Put h into the open-addressed set of this stamp; whether it was not there."""
    mask = np.uint64(len(keys) - 1)
    slot = h & mask
    while stamps[slot] == stamp:
        if keys[slot] == h:
            return False
        slot = (slot + ONE) & mask
    stamps[slot] = stamp
    keys[slot] = h
    return True


@inlined
def can_match(hashes, low, high, bitmap, shift, num, den, keys, stamps, stamp):
    """Whether the share of distinct shingles with their bit set may reach num/den.

    Hits are counted with repeats (never too few), misses without, so that a text is only ever kept too often.
    """
    n = high - low
    if n == 0:
        return False
    missed = 0
    for i in range(low, high):
        missed += 1 - has_bit(bitmap, shift, hashes[i])
    # with all misses distinct and all hits counted: misses * num > hits * (den - num) is needed to drop
    hits = n - missed
    if missed * num <= hits * (den - num):
        return True
    distinct = 0
    for i in range(low, high):
        h = hashes[i]
        if not has_bit(bitmap, shift, h) and is_new(keys, stamps, stamp, h):
            distinct += 1
            if distinct * num > hits * (den - num):
                return False
    return True


@compiled
def keep_documents(
    data, offsets, documents, characters, size, classes, folds, tokens, out, bitmap, shift, num, den, keys, stamps, keep
):
    """Mark the documents that can reach the threshold against what is in the bitmap."""
    for k in range(len(documents)):
        d = documents[k]
        n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, out, 0)
        keep[k] = can_match(out, 0, n, bitmap, shift, num, den, keys, stamps, np.int32(k + 1))


@compiled
def distinct_documents(
    data, offsets, documents, characters, size, classes, folds, tokens, scratch, keys, stamps, out, counts
):
    """Distinct shingle hashes of the documents, one after another; how many in all."""
    at = 0
    for k in range(len(documents)):
        d = documents[k]
        n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, scratch, 0)
        first = at
        for i in range(n):
            if is_new(keys, stamps, np.int32(k + 1), scratch[i]):
                out[at] = scratch[i]
                at += 1
        counts[k] = at - first
    return at


@compiled
def insert_all(keys, values, hashes):
    """Count each hash in the table (key 0 is a free slot)."""
    mask = np.uint64(len(keys) - 1)
    for i in range(len(hashes)):
        h = hashes[i] | ONE
        slot = (h >> S16) & mask
        while keys[slot] != h and keys[slot] != ZERO:
            slot = (slot + ONE) & mask
        keys[slot] = h
        values[slot] += 1


@inlined
def find(keys, h):
    """Slot of the hash in the table, or -1."""
    mask = np.uint64(len(keys) - 1)
    h = h | ONE
    slot = (h >> S16) & mask
    while keys[slot] != h:
        if keys[slot] == ZERO:
            return np.int64(-1)
        slot = (slot + ONE) & mask
    return np.int64(slot)


@compiled
def count_known(keys, values, hashes):
    for i in range(len(hashes)):
        slot = find(keys, hashes[i])
        if slot >= 0:
            values[slot] += 1


@compiled
def to_ranks(keys, ranks, hashes, offsets, out, known):
    """Sorted ranks of the hashes that the table knows, document by document; how many in all."""
    at = 0
    for d in range(len(offsets) - 1):
        first = at
        for i in range(offsets[d], offsets[d + 1]):
            slot = find(keys, hashes[i])
            if slot >= 0:
                out[at] = ranks[slot]
                at += 1
        out[first:at].sort()
        known[d] = at - first
    return at


@compiled
def prefix_postings(ranks, offsets, prefixes, starts, documents):
    """Fill the inverted index of the prefixes; `starts` holds where each rank's list begins and is moved to its end."""
    for d in range(len(prefixes)):
        for i in range(offsets[d], offsets[d] + prefixes[d]):
            documents[starts[ranks[i]]] = d
            starts[ranks[i]] += 1


@compiled
def probe(
    first, last, sizes, ranks, offsets, other_sizes, other_ranks, other_offsets, starts, documents, num, den, seen,
    left, right, inter,
):  # fmt: skip
    """Pairs at or above num/den of the documents first..last against the indexed ones.

    Returns how many pairs were written and the next document to do (short of `last` when the buffers are full).
    """
    found = 0
    capacity = len(left)
    others = len(other_sizes)
    for d in range(first, last):
        if found + others > capacity and found > 0:
            return found, d
        n = sizes[d]
        low, high = offsets[d], offsets[d + 1]
        absent = n - (high - low)
        prefix = n - (num * n + den - 1) // den + 1 - absent
        for i in range(low, min(low + prefix, high)):
            rank = ranks[i]
            for p in range(starts[rank], starts[rank + 1]):
                other = documents[p]
                if seen[other] == d + 1:
                    continue
                seen[other] = d + 1
                m = other_sizes[other]
                if m * den < num * n or n * den < num * m:
                    continue
                needed = (num * (n + m) + num + den - 1) // (num + den)
                common = 0
                x, y = low, other_offsets[other]
                y_end = other_offsets[other + 1]
                while x < high and y < y_end and common + min(high - x, y_end - y) >= needed:
                    a, b = ranks[x], other_ranks[y]
                    if a == b:
                        common += 1
                        x += 1
                        y += 1
                    elif a < b:
                        x += 1
                    else:
                        y += 1
                if common * den >= num * (n + m - common):
                    left[found] = other
                    right[found] = d
                    inter[found] = common
                    found += 1
    return found, last


@inlined
def add_to_signature(a, b, legacy, h, signature):
    """Lower the signature by one shingle, by datasketch's permutations of its 32 low bits."""
    low = h & LOW_32
    if legacy:
        for k in range(len(signature)):
            v = a[k] * low + b[k]
            v = (v & MERSENNE_61) + (v >> S61)
            if v >= MERSENNE_61:
                v -= MERSENNE_61
            signature[k] = min(signature[k], np.uint32(v & LOW_32))
    else:
        v = np.uint32(low ^ (low >> S16))
        v = np.uint32(v * FMIX_1)
        v = np.uint32(v ^ (np.uint64(v) >> S13))
        v = np.uint32(v * FMIX_2)
        v = np.uint32(v ^ (np.uint64(v) >> S16))
        for k in range(len(signature)):
            signature[k] = min(signature[k], np.uint32(np.uint32(a[k]) * v + np.uint32(b[k])))


@compiled
def sign_documents(
    data, offsets, documents, characters, size, classes, folds, tokens, out, keys, stamps, a, b, legacy,
    prune, bitmap, shift, num, den, signatures, counts,
):  # fmt: skip
    """MinHash signatures; `counts` gets the shingles with repeats, 0 for a text that has none or was pruned."""
    for k in range(len(documents)):
        d = documents[k]
        n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, out, 0)
        if prune and not can_match(out, 0, n, bitmap, shift, num, den, keys, stamps, np.int32(-k - 1)):
            n = 0
        counts[k] = n
        signature = signatures[k]
        signature[:] = LOW_32
        for i in range(n):
            if is_new(keys, stamps, np.int32(k + 1), out[i]):
                add_to_signature(a, b, legacy, out[i], signature)


@compiled
def band_keys(signatures, bands, rows, out):
    """One 64-bit key a band; out has shape (bands, documents)."""
    for d in range(len(signatures)):
        for band in range(bands):
            h = np.uint64(band)
            for r in range(band * rows, (band + 1) * rows):
                h = mix(h * SHINGLE_BASE + np.uint64(signatures[d, r]))
            out[band, d] = h


@compiled
def match_bands(
    first, keys, counts, sorted_keys, orders, filters, filter_shift, signatures, other_signatures, agree, seen,
    left, right,
):  # fmt: skip
    """Candidate pairs: same key in a band and signatures that agree in at least `agree` places.

    `seen` stamps the other side's documents, `first` makes the stamps of this call its own. Returns how many were
    written and the next document to do.
    """
    bands, n = keys.shape
    others = len(seen)
    found = 0
    start = first
    for d in range(start, n):
        if counts[d] == 0:
            continue
        if found + others > len(left) and found > 0:
            return found, d
        for band in range(bands):
            key = keys[band, d]
            if not has_bit(filters[band], filter_shift, key):
                continue
            row = sorted_keys[band]
            low, high = 0, others
            while low < high:
                middle = (low + high) >> 1
                if row[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            while low < others and row[low] == key:
                other = orders[band, low]
                low += 1
                if seen[other] == d + 1:
                    continue
                seen[other] = d + 1
                same = 0
                for k in range(signatures.shape[1]):
                    same += signatures[d, k] == other_signatures[other, k]
                if same >= agree:
                    left[found] = other
                    right[found] = d
                    found += 1
    return found, n


@inlined
def spans(data, start, end, characters, classes, begins, ends):
    """Byte spans of the tokens of one text, by the same rules as `word_tokens` and `character_tokens`."""
    count = 0
    inside = False
    alone = False
    pending = -1
    letters = False
    i = start
    while i < end:
        code = np.int64(data[i])
        step = 1
        if code >= 0x80:
            code, step = decode(data, i)
        kind = classes[code]
        if characters:
            if kind == SPACE:
                if count > 0 and pending < 0:
                    pending = i
            else:
                if pending >= 0:
                    begins[count] = pending
                    ends[count] = pending + 1  # one space stands for the run; see same_token
                    count += 1
                    pending = -1
                letters = letters or kind != SEPARATOR
                begins[count] = i
                ends[count] = i + step
                count += 1
        elif kind in (SEPARATOR, SPACE):
            inside = False
        elif inside and (kind == MARK or (kind == LETTER and not alone)):
            ends[count - 1] = i + step
        else:
            begins[count] = i
            ends[count] = i + step
            count += 1
            inside = True
            alone = kind == ALONE
        i += step
    return count if letters or not characters else 0


@inlined
def same_token(data, i, end, other, j, other_end, folds):
    while i < end and j < other_end:
        a, b = np.int64(data[i]), np.int64(other[j])
        step, other_step = 1, 1
        if a >= 0x80:
            a, step = decode(data, i)
        if b >= 0x80:
            b, other_step = decode(other, j)
        if folds[a] != folds[b]:
            return False
        i += step
        j += other_step
    return i >= end and j >= other_end


@inlined
def same_shingle(data, begins, ends, i, other, other_begins, other_ends, j, size, folds):
    for k in range(size):
        if not same_token(data, begins[i + k], ends[i + k], other, other_begins[j + k], other_ends[j + k], folds):
            return False
    return True


@inlined
def lookup(hashes, i, data, begins, ends, table, table_hashes, table_data, table_begins, table_ends, size, folds):
    """Where the shingle stands in the table of another (or the same) text: (slot, whether it is there)."""
    mask = np.uint64(len(table) - 1)
    slot = hashes[i] & mask
    while table[slot] >= 0:
        j = table[slot]
        if table_hashes[j] == hashes[i] and same_shingle(
            data, begins, ends, i, table_data, table_begins, table_ends, j, size, folds
        ):
            return np.int64(slot), True
        slot = (slot + ONE) & mask
    return np.int64(slot), False


@compiled
def verify_pairs(
    data, offsets, documents, other, other_offsets, others, characters, size, classes, folds,
    tokens, hashes, begins, ends, table, other_tokens, other_hashes, other_begins, other_ends, other_table,
    inter, sizes, other_sizes,
):  # fmt: skip
    """Common and distinct shingles of each pair, compared letter by letter wherever two hashes are equal.

    Pairs should be sorted by `documents`: the table of a document is kept while it repeats.
    """
    last = -1
    n = size_a = width = 0
    for p in range(len(documents)):
        d, o = documents[p], others[p]
        if d != last:
            last = d
            n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, hashes, 0)
            spanned = spans(data, offsets[d], offsets[d + 1], characters, classes, begins, ends)
            width = min(size, spanned)
            table[:] = -1
            size_a = 0
            for i in range(n):
                slot, known = lookup(hashes, i, data, begins, ends, table, hashes, data, begins, ends, width, folds)
                if not known:
                    table[slot] = i
                    size_a += 1
        m = shingle(
            other,
            other_offsets[o],
            other_offsets[o + 1],
            characters,
            size,
            classes,
            folds,
            other_tokens,
            other_hashes,
            0,
        )
        other_spanned = spans(
            other, other_offsets[o], other_offsets[o + 1], characters, classes, other_begins, other_ends
        )
        other_width = min(size, other_spanned)
        other_table[:] = -1
        size_b = 0
        common = 0
        for j in range(m):
            slot, known = lookup(
                other_hashes, j, other, other_begins, other_ends, other_table, other_hashes, other, other_begins,
                other_ends, other_width, folds,
            )  # fmt: skip
            if known:
                continue
            other_table[slot] = j
            size_b += 1
            if width == other_width:
                _, shared = lookup(
                    other_hashes, j, other, other_begins, other_ends, table, hashes, data, begins, ends, width, folds
                )
                common += shared
        inter[p], sizes[p], other_sizes[p] = common, size_a, size_b


@compiled
def contain_documents(
    data, offsets, documents, characters, size, classes, folds, tokens, scratch, keys, stamps,
    table_keys, slots_start, postings, sizes, num, den, touched, hits,
    left, right, inter,
):  # fmt: skip
    """Items of the index of which at least num/den of the distinct shingles stand in one document.

    Returns how many were written and the next document to do.
    """
    found = 0
    items = len(sizes)
    for k in range(len(documents)):
        if found + items > len(left) and found > 0:
            return found, k
        d = documents[k]
        n = shingle(data, offsets[d], offsets[d + 1], characters, size, classes, folds, tokens, scratch, 0)
        count = 0
        for i in range(n):
            slot = find(table_keys, scratch[i])
            if slot < 0 or not is_new(keys, stamps, np.int32(k + 1), scratch[i]):
                continue
            for p in range(slots_start[slot], slots_start[slot + 1]):
                item = postings[p]
                if hits[item] == 0:
                    touched[count] = item
                    count += 1
                hits[item] += 1
        for t in range(count):
            item = touched[t]
            if hits[item] * den >= num * sizes[item]:
                left[found] = item
                right[found] = d
                inter[found] = hits[item]
                found += 1
            hits[item] = 0
    return found, len(documents)


@compiled
def fill_postings(keys, slots_start, hashes, offsets, postings):
    """Documents of each hash in the table; `slots_start` is moved to the end of each list."""
    for d in range(len(offsets) - 1):
        for i in range(offsets[d], offsets[d + 1]):
            slot = find(keys, hashes[i])
            postings[slots_start[slot]] = d
            slots_start[slot] += 1
