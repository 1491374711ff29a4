"""Frames of pandas, polars, Arrow and whoever else speaks Arrow: what comes in from Python.

``adopted`` is the door: it makes an Arrow table of a frame, and imports none of those packages.
"""
