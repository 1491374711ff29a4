"""The door for configs: what a file of a folder may say, when the folder may be a stranger's.

A folder comes in by ``--config-dir`` or ``hydra.searchpath``. Hydra reads it through
``source.OwnFolder`` alone, which lets nothing in that is not on a list: text of a bounded size
(``text``), uids' own keys, sweeps over them, references to them, and output folders below the
current one (``allowed``). ``trust`` then compares what was composed with what it would be without
the folder, and ``folders`` looks where the output would really go. What a person types on the
command line is theirs to decide, and does not come through here.
"""
