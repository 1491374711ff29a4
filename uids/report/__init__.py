"""What a run or a sweep leaves behind: files, tables, figures, pages.

Reads ``uids.pipeline.metrics`` and computes no more than a table shows. Knows no models and no
Hydra, and prints nothing: what belongs on a terminal is returned as text.

| module             | what                                                                |
|--------------------|---------------------------------------------------------------------|
| run                | the files of one run, written and read                              |
| run_page           | its ``report.html``; run_charts, harmful_rows and next_steps are of |
|                    | it                                                                  |
| table              | its tables and sentences as text                                    |
| plan               | ``sweep.json``: the points of a sweep                               |
| summary            | ``summary.csv``, ``summary.md`` and ``report.html`` of a sweep      |
| summary_csv        | a line of a sweep: the columns of ``summary.csv``                   |
| points, seeds      | the tables that every sweep has: all runs, and means over seeds     |
| experiments        | the tables that a sweep has with ``sweep.report``                   |
| section            | a table with its notes, figure and charts, as text and Markdown     |
| sweep_page         | the ``report.html`` of a sweep, with ``sweep_charts``               |
| page, templates    | HTML from templates, escaped, with a policy                         |
| chart              | a chart on a page: a Vega-Lite specification and its legend         |
| figures            | colours, panels and the figures of a run; ``sweep_figure`` has more |
"""
