"""One run, from data to metrics: load, fit and score, choose, draw and refit, judge.

Joins the rooms before it, in plain Python. Knows no configs, writes no files but the cache of fits,
prints nothing; progress goes to whoever listens (``uids/system/progress.py``).
"""
