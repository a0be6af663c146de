"""Rows of numbers that are closer to a training row than neighbours inside training ever are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

K = 5  # the neighbour whose distance is the local scale
MOST_ROWS, MOST_COLUMNS = 50_000, 100
FEWEST_ROWS = 20
FALSE_ROWS = 0.01  # rows that may be called near by chance in the whole split


def near_rows(
    training: pd.DataFrame,
    held_out: pd.DataFrame,
    training_keys: NDArray[np.uint64],
    held_out_keys: NDArray[np.uint64],
    training_rows: NDArray[np.uint64],
    held_out_rows: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Held-out rows, their nearest training rows, and 1 - distance / local scale.

    With density about even over a neighbourhood of dimension m, a row falls within r times the distance of the K-th
    neighbour with probability at most K r^m; rows where that is below `FALSE_ROWS` over the split are near. Half a
    step of each column's grid is added to the distance, since coarse values hide that much. m is the maximum
    likelihood estimate of Levina and Bickel (2004).
    """
    from sklearn.neighbors import NearestNeighbors

    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64)
    used = [c for c in training if training[c].nunique() >= 10]
    if len(used) < 2 or len(used) > MOST_COLUMNS or not FEWEST_ROWS <= len(training) <= MOST_ROWS:
        return none
    a, b = training[used].to_numpy(float, na_value=np.nan), held_out[used].to_numpy(float, na_value=np.nan)
    good_a, good_b = np.isfinite(a).all(axis=1), np.isfinite(b).all(axis=1)
    index_a, index_b = np.flatnonzero(good_a), np.flatnonzero(good_b)
    # equal rows have their own check; repeats inside training would make the local scale zero
    index_a = index_a[np.unique(training_rows[index_a], return_index=True)[1]]
    index_b = index_b[~np.isin(held_out_rows[index_b], training_rows)]
    if len(index_a) < FEWEST_ROWS or not len(index_b):
        return none
    a, b = a[index_a], b[index_b]
    spread = a.std(axis=0)
    if not (spread > 0).all():
        return none
    steps = np.array([np.median(np.diff(np.unique(a[:, j]))) for j in range(a.shape[1])])
    floor = float(np.sqrt(((steps / spread / 2) ** 2).sum()))
    a, b = a / spread, b / spread
    model = NearestNeighbors(n_neighbors=K + 1).fit(a)
    inside = model.kneighbors(a)[0][:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(inside[:, -1:] / inside[:, :-1])
    logs = logs[np.isfinite(logs).all(axis=1)]
    dimension = float(np.clip((K - 2) / max(logs.sum(axis=1).mean(), 1e-9), 1.0, a.shape[1]))
    distance, nearest = model.kneighbors(b, n_neighbors=1)
    distance, nearest = distance[:, 0], nearest[:, 0]
    scale = inside[nearest, -1]
    ratio = (distance + floor) / np.where(scale > 0, scale, np.inf)
    ratio[scale <= 0] = np.inf
    chance = np.minimum(1.0, K * ratio**dimension)
    near = (chance * len(b) < FALSE_ROWS) & (held_out_keys[index_b] == training_keys[index_a[nearest]])
    return index_b[near], index_a[nearest[near]], 1.0 - ratio[near]
