"""The inner loops, compiled by numba: no interpreter lock, cached between runs.

Texts are UTF-8 bytes, already in NFKC; document k of a call is ``data[starts[k]:ends[k]]``. ASCII is told apart without
branches: a mispredicted one at the end of every word would cost more than all else. Hashes are 64-bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from leakcheck.audit.shingles import ALONE, LETTER, MARK, SEPARATOR, SPACE, character_class, fold

# Odd multipliers of the polynomial hashes, and the finaliser of splitmix64 (Steele, Lea and Flood 2014).
TOKEN_BASE = np.uint64(0x9E3779B97F4A7C15)
SHINGLE_BASE = np.uint64(0xD1342543DE82EF95)
SHORT = np.uint64(0xA0761D6478BD642F)  # keeps a whole short text apart from a full shingle
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S16, S13, S61 = (np.uint64(shift) for shift in (30, 27, 31, 16, 13, 61))
S3, S6, LOW_3, LOW_6 = np.uint64(3), np.uint64(6), np.uint64(7), np.uint64(63)
ZERO, ONE, TWO, ALL = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64((1 << 64) - 1)
LOW_32 = np.uint64(0xFFFFFFFF)
MERSENNE_61 = np.uint64((1 << 61) - 1)
FMIX_1, FMIX_2 = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)  # MurmurHash3's 32-bit finaliser

ASCII = 0x80
BLANK = np.uint64(ord(" ") + 1)  # the value of any white space
# What each ASCII character adds to a hash, and what the hash so far is multiplied by: 0 and 0 between words.
VALUES = np.array([ord(fold(chr(c))) + 1 for c in range(ASCII)], np.uint64)
IS_LETTER = np.array([character_class(chr(c)) == LETTER for c in range(ASCII)])
IS_SPACE = np.array([character_class(chr(c)) == SPACE for c in range(ASCII)])
WORD_VALUES = np.where(IS_LETTER, VALUES, ZERO)
WORD_FACTORS = np.where(IS_LETTER, TOKEN_BASE, ZERO)

LONGEST_WHOLE = 256  # bytes of a text that is read to its end before it is judged
USUAL_MISSES = 0.65  # share of the shingles without their bit in a text that shares next to nothing
NEXT_PART = 1.5  # times as much of a long text is read where the part before did not tell
LANES = 32  # shingles signed at once; the last run is filled up with repeats

compiled: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
inlined: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", inline="never")


@inlined
def mix(h):
    h = (h ^ (h >> S30)) * MIX_1
    h = (h ^ (h >> S27)) * MIX_2
    return h ^ (h >> S31)


@inlined
def decode(data, i):
    """Code point at i, and its length in bytes."""
    c = np.int64(data[i])
    if c < ASCII:
        return c, 1
    if c < 0xE0:
        return ((c & 0x1F) << 6) | (data[i + 1] & 0x3F), 2
    if c < 0xF0:
        return ((c & 0x0F) << 12) | ((data[i + 1] & 0x3F) << 6) | (data[i + 2] & 0x3F), 3
    return (
        ((c & 0x07) << 18) | ((data[i + 1] & 0x3F) << 12) | ((data[i + 2] & 0x3F) << 6) | (data[i + 3] & 0x3F),
        4,
    )


@inlined
def word_tokens(data, start, end, classes, folds, tokens, count):
    """Append a hash of every word to ``tokens[count:]``; how many there are then."""
    h = ZERO
    inside = ZERO  # all bits set within a word
    alone = False
    i, stop = start, np.uint64(end)
    while i < end:
        j, words = np.uint64(i), np.uint64(count)  # without a sign, for there is no counting from the end
        while j < stop and not alone:
            c = data[j]
            if c >= ASCII:
                break
            factor = WORD_FACTORS[c]
            letter = ZERO - (factor & ONE)  # the factor is odd
            words += inside & ~letter & ONE
            h = h * factor + WORD_VALUES[c]
            tokens[words] = h
            inside = letter
            j += ONE
        i, count = np.int64(j), np.int64(words)
        if i >= end:
            break
        code, step = decode(data, i)
        i += step
        kind = classes[code]
        value = np.uint64(folds[code] + 1)
        if kind in (SEPARATOR, SPACE):
            count += np.int64(inside & ONE)
            h = inside = ZERO
            alone = False
        elif inside != ZERO and (kind == MARK or (kind == LETTER and not alone)):
            h = h * TOKEN_BASE + value
            tokens[count] = h
        else:
            count += np.int64(inside & ONE)
            h = value
            tokens[count] = h
            inside = ALL
            alone = kind == ALONE
    return count + np.int64(inside & ONE)


@inlined
def character_tokens(data, start, end, classes, folds, tokens):
    """The folded code points of one text, white space runs as one space, trimmed; 0 where there is no letter."""
    count = 0
    letters = False
    blank = True  # leading white space is left out
    i = start
    while i < end:
        code = np.int64(data[i])
        if code < ASCII:
            i += 1
            space = IS_SPACE[code]
            letters |= IS_LETTER[code]
            tokens[count] = VALUES[code]
        else:
            code, step = decode(data, i)
            i += step
            kind = classes[code]
            space = kind == SPACE
            letters |= kind != SEPARATOR and not space
            tokens[count] = np.uint64(folds[code] + 1)
        count += not (space and blank)
        blank = space
    if blank and count > 0:
        count -= 1
    return count if letters else 0


@inlined
def shingle_at(tokens, i, size):
    h = tokens[i]
    for j in range(i + 1, i + size):
        h = h * SHINGLE_BASE + tokens[j]
    return mix(h)


@inlined
def short_shingle(tokens, count):
    h = ZERO
    for j in range(count):
        h = h * SHINGLE_BASE + tokens[j]
    return mix(h ^ (SHORT * np.uint64(count)))


@inlined
def shingle(data, start, end, characters, size, classes, folds, tokens, out, at):
    """Write the shingle hashes of one text, with repeats, to ``out[at:]``; how many there are."""
    if characters:
        count = character_tokens(data, start, end, classes, folds, tokens)
    else:
        count = word_tokens(data, start, end, classes, folds, tokens, 0)
    if count == 0:
        return 0
    if count < size:
        out[at] = short_shingle(tokens, count)
        return 1
    if size == 3:
        for i in range(count - 2):
            out[at + i] = mix((tokens[i] * SHINGLE_BASE + tokens[i + 1]) * SHINGLE_BASE + tokens[i + 2])
        return count - 2
    # the polynomial of the run rolls on: the new token enters, the oldest leaves
    leaving = ONE
    h = ZERO
    for j in range(size):
        h = h * SHINGLE_BASE + tokens[j]
        leaving *= SHINGLE_BASE
    out[at] = mix(h)
    for i in range(1, count - size + 1):
        h = h * SHINGLE_BASE + (tokens[i + size - 1] - tokens[i - 1] * leaving)
        out[at + i] = mix(h)
    return count - size + 1


@compiled
def shingle_documents(data, starts, ends, characters, size, classes, folds, tokens, out):
    """Shingle hashes of the documents, with repeats, one after another; how many in all."""
    at = 0
    for k in range(len(starts)):
        at += shingle(data, starts[k], ends[k], characters, size, classes, folds, tokens, out, at)
    return at


@compiled
def may_change(data, offsets, stable, out):
    """Mark the documents ``data[offsets[k]:offsets[k + 1]]`` with a code point that is not stable in NFKC."""
    for k in range(len(offsets) - 1):
        out[k] = False
        i = offsets[k]
        end = offsets[k + 1]
        while i < end:
            if data[i] < ASCII:
                i += 1
                continue
            code, step = decode(data, i)
            if not stable[code]:
                out[k] = True
                break
            i += step


@compiled
def text_hashes(data, starts, ends, classes, folds, out, words):
    """Hash of each normalised text (0 for an empty one), and its number of words."""
    for k in range(len(starts)):
        h = ZERO
        last = ZERO  # the hash up to the last character that is no space
        blank = True
        inside = False
        alone = False
        count = 0
        i = starts[k]
        end = ends[k]
        while i < end:
            while i < end and not alone:
                c = data[i]
                if c >= ASCII:
                    break
                space = IS_SPACE[c]
                skipped = space and blank
                h = h * (ONE if skipped else TOKEN_BASE) + (ZERO if skipped else VALUES[c])
                last = last if space else h
                blank = space
                count += IS_LETTER[c] and not inside
                inside = IS_LETTER[c]
                i += 1
            if i >= end:
                break
            code, step = decode(data, i)
            i += step
            kind = classes[code]
            if kind in (SPACE, SEPARATOR):
                inside = alone = False
            elif not (inside and (kind == MARK or (kind == LETTER and not alone))):
                count += 1
                inside = True
                alone = kind == ALONE
            if kind == SPACE and blank:
                continue
            h = h * TOKEN_BASE + np.uint64(folds[code] + 1)
            blank = kind == SPACE
            last = last if blank else h
        out[k] = mix(last) | ONE if last != ZERO else ZERO
        words[k] = count


@compiled
def set_bits(bitmap, shift, hashes, total):
    for i in range(total):
        bit = hashes[i] >> shift
        bitmap[bit >> S3] |= np.uint8(ONE << (bit & LOW_3))


@inlined
def has_bit(bitmap, shift, h):
    bit = h >> shift
    return (bitmap[bit >> S3] >> np.uint8(bit & LOW_3)) & 1


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
def probe_bitmap(tokens, low, high, size, bitmap, shift, seen, mask):
    """Shingles low..high with their bit set, and without it; of these every one but the first in its bit of `seen`."""
    hits = missed = 0
    for i in range(np.uint64(low), np.uint64(max(low, high))):
        if size == 3:
            h = mix((tokens[i] * SHINGLE_BASE + tokens[i + ONE]) * SHINGLE_BASE + tokens[i + TWO])
        else:
            h = shingle_at(tokens, np.int64(i), size)
        hit = np.uint64(has_bit(bitmap, shift, h))
        miss = ONE - hit
        bit = h & mask
        word = seen[bit >> S6]
        hits += np.int64(hit)
        missed += np.int64(miss & ~(word >> (bit & LOW_6)))
        seen[bit >> S6] = word | (miss << (bit & LOW_6))
    return hits, missed


@inlined
def most_words(data, start, end):
    """Words that there are at most: one, and one for each byte that is no ASCII letter or digit."""
    most = 1
    i, last = np.uint64(start), np.uint64(end)
    while i < last:
        stop = min(i + np.uint64(128), last)
        count = np.uint8(0)  # as narrow as the bytes, so that the loop becomes vectors
        for j in range(i, stop):
            letter = np.uint8((data[j] | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
            digit = np.uint8(data[j] - np.uint8(48)) < np.uint8(10)
            count = np.uint8(count + np.uint8(not (letter | digit)))
        most += np.int64(count)
        i = stop
    return most


@compiled
def keep_documents(
    data, starts, ends, characters, size, classes, folds, bitmap, shift, num, den, tokens, seen, keep
):  # fmt: skip
    """Mark the documents of which num/den of the distinct shingles may have their bit set.

    Hits are counted with repeats (never too few) and misses at most once (never too many), so that a document is only
    ever kept too often. Long texts are judged by their first parts, too, with what follows taken for hits.
    """
    first_part = (den - num) / den / USUAL_MISSES
    for k in range(len(starts)):
        start, end = starts[k], ends[k]
        mask = np.uint64(63)
        while mask < np.uint64(2 * (end - start)):
            mask = mask * np.uint64(2) + ONE
        seen[: (mask >> S6) + ONE] = ZERO
        hits = missed = count = done = 0
        part = first_part if end - start > LONGEST_WHOLE and not characters else 1.0
        stop = start
        possible = True
        while possible and stop < end:
            last, stop = stop, min(end, start + np.int64((end - start) * part))
            part *= NEXT_PART
            if characters:
                count = character_tokens(data, start, end, classes, folds, tokens)
            else:
                while stop < end and data[stop] != 32:
                    stop += 1
                count = word_tokens(data, last, stop, classes, folds, tokens, count)
            new = max(done, count - size + 1)
            more_hits, more_missed = probe_bitmap(tokens, done, new, size, bitmap, shift, seen, mask)
            hits, missed, done = hits + more_hits, missed + more_missed, new
            possible = missed * num <= (hits + (most_words(data, stop, end) if stop < end else 0)) * (den - num)
        if 0 < count < size:
            keep[k] = has_bit(bitmap, shift, short_shingle(tokens, count))
        else:
            keep[k] = possible and hits > 0


@compiled
def distinct_documents(
    data, starts, ends, characters, size, classes, folds, tokens, scratch, keys, stamps, out, counts
):
    """Distinct shingle hashes of the documents, one after another; how many in all."""
    at = 0
    for k in range(len(starts)):
        n = shingle(data, starts[k], ends[k], characters, size, classes, folds, tokens, scratch, 0)
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
def legacy_signature(a, b, hashes, n, signature):
    """Permutations modulo the Mersenne prime 2^61 - 1, as datasketch had them before 2.0."""
    signature[:] = LOW_32
    for i in range(n):
        low = hashes[i] & LOW_32
        for k in range(len(signature)):
            v = a[k] * low + b[k]
            v = (v & MERSENNE_61) + (v >> S61)
            if v >= MERSENNE_61:
                v -= MERSENNE_61
            signature[k] = min(signature[k], np.uint32(v & LOW_32))


@inlined
def affine_signature(a, b, hashes, n, mixed, signature):
    """datasketch's "affine32" permutations, one at a time over all shingles: the compiler makes vectors of that."""
    for i in range(n):
        v = np.uint32(hashes[i] ^ ((hashes[i] & LOW_32) >> S16))
        v = np.uint32(v * FMIX_1)
        v = np.uint32(v ^ (np.uint64(v) >> S13))
        v = np.uint32(v * FMIX_2)
        mixed[i] = np.uint32(v ^ (np.uint64(v) >> S16))
    padded = (n + LANES - 1) // LANES * LANES
    mixed[n:padded] = mixed[n - 1]
    for k in range(len(signature)):
        factor, offset = np.uint32(a[k]), np.uint32(b[k])
        least = np.uint32(LOW_32)
        for i in range(padded):
            least = min(least, np.uint32(factor * mixed[i] + offset))
        signature[k] = least


@compiled
def sign_documents(
    data, starts, ends, characters, size, classes, folds, tokens, hashes, mixed, a, b, legacy, signatures, counts
):
    """MinHash signatures; `counts` gets the shingles with repeats, 0 for a text that has none."""
    for k in range(len(starts)):
        n = shingle(data, starts[k], ends[k], characters, size, classes, folds, tokens, hashes, 0)
        counts[k] = n
        if n == 0:
            signatures[k, :] = LOW_32
        elif legacy:
            legacy_signature(a, b, hashes, n, signatures[k])
        else:
            affine_signature(a, b, hashes, n, mixed, signatures[k])


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
def same_bytes(data, low, high, other, other_low, other_high):
    """Whether two shingles are spelled alike, as most equal ones are."""
    length = high - low
    if length != other_high - other_low:
        return False
    k = 0
    while k < length and data[low + k] == other[other_low + k]:
        k += 1
    return k == length


@inlined
def same_shingle(data, begins, ends, i, other, other_begins, other_ends, j, size, folds):
    for k in range(size):
        if not same_token(data, begins[i + k], ends[i + k], other, other_begins[j + k], other_ends[j + k], folds):
            return False
    return True


@inlined
def next_slot(table, mask, hashes, h, slot):
    """The first slot from this one on that is free or holds a shingle with this hash."""
    while table[slot] >= 0 and hashes[table[slot]] != h:
        slot = (slot + ONE) & mask
    return slot


@inlined
def table_mask(bytes_of_text):
    """Slots less one of a table for the shingles of such a text; at most half of it is filled."""
    mask = np.uint64(7)
    while mask < np.uint64(2 * bytes_of_text + 2):
        mask = mask * np.uint64(2) + ONE
    return mask


@inlined
def distinct_shingles(
    data, start, end, characters, size, classes, folds, tokens, hashes, begins, ends, table, mask, firsts
):  # fmt: skip
    """Fill the table with the distinct shingles of a text and `firsts` with where they begin.

    Returns how many there are and of how many tokens each.
    """
    n = shingle(data, start, end, characters, size, classes, folds, tokens, hashes, 0)
    width = min(size, spans(data, start, end, characters, classes, begins, ends))
    table[: mask + ONE] = -1
    distinct = 0
    for i in range(n):
        slot = next_slot(table, mask, hashes, hashes[i], hashes[i] & mask)
        while table[slot] >= 0:
            j = table[slot]
            if same_bytes(data, begins[i], ends[i + width - 1], data, begins[j], ends[j + width - 1]):
                break
            if same_shingle(data, begins, ends, i, data, begins, ends, j, width, folds):
                break
            slot = next_slot(table, mask, hashes, hashes[i], (slot + ONE) & mask)
        if table[slot] < 0:
            table[slot] = i
            firsts[distinct] = i
            distinct += 1
    return distinct, width


@compiled
def verify_pairs(
    data, starts, stops, documents, other, other_starts, other_stops, others, characters, size, classes, folds,
    tokens, hashes, begins, ends, table, firsts, other_tokens, other_hashes, other_begins, other_ends, other_table,
    other_firsts, inter, sizes, other_sizes,
):  # fmt: skip
    """Common and distinct shingles of each pair, compared letter by letter wherever two hashes are equal.

    Pairs should be sorted by `documents`: the table of a document is kept while it repeats.
    """
    last = -1
    width = 0
    mask = ZERO
    for p in range(len(documents)):
        d, o = documents[p], others[p]
        if d != last:
            last = d
            mask = table_mask(stops[d] - starts[d])
            sizes[p], width = distinct_shingles(
                data, starts[d], stops[d], characters, size, classes, folds, tokens, hashes, begins, ends, table, mask,
                firsts,
            )  # fmt: skip
        else:
            sizes[p] = sizes[p - 1]
        other_sizes[p], other_width = distinct_shingles(
            other, other_starts[o], other_stops[o], characters, size, classes, folds, other_tokens, other_hashes,
            other_begins, other_ends, other_table, table_mask(other_stops[o] - other_starts[o]), other_firsts,
        )  # fmt: skip
        inter[p] = 0
        if width != other_width:
            continue
        for k in range(other_sizes[p]):
            i = other_firsts[k]
            h = other_hashes[i]
            slot = next_slot(table, mask, hashes, h, h & mask)
            while table[slot] >= 0:
                j = table[slot]
                if same_bytes(other, other_begins[i], other_ends[i + width - 1], data, begins[j], ends[j + width - 1]):
                    break
                if same_shingle(other, other_begins, other_ends, i, data, begins, ends, j, width, folds):
                    break
                slot = next_slot(table, mask, hashes, h, (slot + ONE) & mask)
            inter[p] += table[slot] >= 0


@compiled
def contain_documents(
    first, data, starts, ends, characters, size, classes, folds, tokens, scratch, keys, stamps,
    table_keys, slots_start, postings, sizes, num, den, touched, hits,
    left, right, inter,
):  # fmt: skip
    """Items of the index of which at least num/den of the distinct shingles stand in one document.

    Returns how many were written and the next document to do.
    """
    found = 0
    items = len(sizes)
    for k in range(first, len(starts)):
        if found + items > len(left) and found > 0:
            return found, k
        n = shingle(data, starts[k], ends[k], characters, size, classes, folds, tokens, scratch, 0)
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
                right[found] = k
                inter[found] = hits[item]
                found += 1
            hits[item] = 0
    return found, len(starts)


@compiled
def fill_postings(keys, slots_start, hashes, offsets, postings):
    """Documents of each hash in the table; `slots_start` is moved to the end of each list."""
    for d in range(len(offsets) - 1):
        for i in range(offsets[d], offsets[d + 1]):
            slot = find(keys, hashes[i])
            postings[slots_start[slot]] = d
            slots_start[slot] += 1
