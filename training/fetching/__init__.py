"""Fetch the sources in `training/sources.py` and make the files of a data folder from them.

Each module has the converters of some sources: functions from the files that were read, the piece
of the table and the data folder to the lines of the files that are made.
"""
