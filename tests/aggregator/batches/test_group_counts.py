"""Batches are counted one by one, and then the counts are added up, group by group."""

from __future__ import annotations

import numpy as np

from aggregator.batches.group_counts import GroupCounts


def test_batches_add_up_group_by_group_and_code_by_code() -> None:
    first = GroupCounts(columns=(np.array([[1, 2], [3, 4]]),), tables=(np.array([[5], [6]]),))
    second = GroupCounts(columns=(np.array([[10, 0], [0, 20]]),), tables=(np.array([[0], [7]]),))
    both = first + second
    assert both.gather([0]) == ([[11, 2]], [[5]])
    assert both.gather([1, 0]) == ([[14, 26]], [[18]])
