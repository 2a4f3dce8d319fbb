"""Lessons: files with what a step shows, asks and replies, and what is measured for it.

Read `records`, then `reading` (a file becomes records, or a sentence about what is wrong with it),
`looking` (what a step computes), `claims` (a sentence counted over many items), `shelf` (what is
offered) and `view` (words and pictures). A file has no code and no markup: what it computes is one
of the named quantities in `quantities`. This package knows no interface.
"""
