"""What one column of a table becomes: learned from its cells, kept, and applied to new rows.

``number`` for numbers and true and false, ``category`` for text, ``moment`` for dates and times,
``words`` for text that is read word by word. Nothing here knows files or labels.
"""
