"""Selection: which rows are kept, how many, and with what weight.

From probabilities to a draw and its subset, and the ratio that cross-fitting chooses. Knows
nothing of files, of test rows, or of reports.
"""
