"""What a run or a sweep leaves behind: files, tables, figures, pages.

Reads ``uids.pipeline.metrics`` and computes no more than a table shows. Knows no models and no
Hydra, and prints nothing: what belongs on a terminal is returned as text.

| module             | what                                                                |
|--------------------|---------------------------------------------------------------------|
| run                | the files of one run, written and read                              |
| run_page           | its ``report.html``                                                 |
| table              | its tables and sentences as text                                    |
| plan               | ``sweep.json``: the points of a sweep                               |
| summary            | ``summary.csv``, ``summary.md`` and ``report.html`` of a sweep      |
| summary_csv        | a line of a sweep: the columns of ``summary.csv``                   |
| points, seeds      | the tables that every sweep has: all runs, and means over seeds     |
| experiments        | the tables that a sweep has with ``sweep.report``                   |
| section, page      | a table with its notes and figure, as Markdown and HTML             |
| figures            | colours, panels and the figures of a run; ``sweep_figure`` has more |
"""
