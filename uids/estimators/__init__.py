"""Estimators: the whole job as objects of scikit-learn and imbalanced-learn.

Their parameters are the keys of a run, their work is that of ``pipeline/``, and they hand back rows
in the form in which they came. They know no files and no configs.
"""
