"""Decode attention by sampled values (S2ANTA, arXiv 2605.01910) on CUDA devices.

``decode`` returns output and log-sum-exp; ``decode_out`` writes into given tensors and allocates nothing,
for CUDA graphs. ``santa_gpu.huggingface.register`` makes both an attention implementation of
transformers. Shapes, types and errors: ``help(santa_gpu.decode)``.
"""

from .operators import (Layout, Scheme, Scores, decode, decode_out, head_dimensions,
                        make_workspace, workspace_bytes)

__all__ = ["Layout", "Scheme", "Scores", "decode", "decode_out", "head_dimensions",
           "make_workspace", "workspace_bytes"]
