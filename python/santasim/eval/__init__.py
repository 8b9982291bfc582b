"""Task accuracy of language models whose attention the unit computes: docs/eval.md.

    python -m santasim.eval run --model DIR --task niah --length 1024 --method sdpa --out results
    python -m santasim.eval report results
"""
