"""Problem sheets: notebooks with blanks, a check of each blank, and grading in its own process.

Read `sheets` (a source becomes cells, and cells a notebook), `grading` (what is started, with which
limits) and `child` (what runs there). The sources are in `assets/sheets`; the folder `solutions`
beside them may be left out of a copy. Nothing here knows the site.
"""
