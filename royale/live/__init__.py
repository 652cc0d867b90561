"""A page that follows runs as they train: `python -m royale.live results/train/...`.

It only reads what training writes anyway, when a page asks, and at the lowest priority.
"""
