"""Sample budgets that differ between layers: docs/budgets.md.

    python -m santasim.budgets ablate --model DIR --task niah --length 200 --prompts 48 --base 16 --out results
    python -m santasim.budgets train --model DIR --task niah --length 200 --prompts 48 --total 240 --out results
    python -m santasim.budgets report results
"""
