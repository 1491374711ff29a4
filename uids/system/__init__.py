"""What every other room stands on: memory, threads, compiled loops, files and folders, random
streams, progress, statistics, and the numbers by which the quicker of two ways is chosen.

Knows nothing of data, models or runs.
"""
