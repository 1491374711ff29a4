"""Data sets: where rows and labels come from, and how they are shared out.

``formats/`` reads a person's own files, ``columns/`` makes X of the columns of tables, ``frames/``
is the door of frames, ``public/`` knows the addresses of public sets, ``parsed`` keeps what was
read, ``split`` makes training, validation and test rows and ``noise`` makes some of them wrong;
``adopted`` is the door, by which a data set of any package comes in. Nothing here knows of models,
backends or configs.
"""
