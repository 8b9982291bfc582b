"""Shares of keys and values that decode steps read, counted from the sampled indices themselves."""

from __future__ import annotations

import dataclasses

from santasim.huggingface import Step


@dataclasses.dataclass
class Access:
    """Observes decode steps. A dense unit reads all; a token of a layer and head counts once."""

    dense_values: bool
    first_step: int = 0  # earlier ones, of a prompt, are not counted
    possible_values: int = 0  # rows, of each KV head
    group_values: int = 0  # rows that some head of the group drew
    possible_head_values: int = 0  # rows, of each query head
    head_values: int = 0
    possible_keys: int = 0  # features, of each KV head
    group_keys: int = 0

    def __call__(self, step: Step) -> None:
        if step.step < self.first_step:
            return
        query_heads, features = step.query.shape
        kv_heads = step.cache.kv_heads
        read_features, rows, head_rows = step.result.reads
        self.possible_values += step.tokens * kv_heads
        self.possible_head_values += step.tokens * query_heads
        self.possible_keys += features * kv_heads
        self.group_keys += read_features
        if self.dense_values:
            rows, head_rows = step.tokens * kv_heads, step.tokens * query_heads
        self.group_values += rows
        self.head_values += head_rows

    def record(self) -> dict[str, list[int]]:
        """Read and possible, for the JSON of an answer."""
        return {"keys_group": [self.group_keys, self.possible_keys],
                "values_group": [self.group_values, self.possible_values],
                "values_head": [self.head_values, self.possible_head_values]}
