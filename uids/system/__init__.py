"""What every other room stands on: memory, threads, compiled loops, files and folders, random
streams, progress, statistics, and the numbers by which the quicker of two ways is chosen.

Imports nothing of data, models or runs; it holds their numbers and the names of their streams.
"""
