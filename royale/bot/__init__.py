"""A trained champion as the competition runs it: line protocol, numpy only, one core.

This package imports nothing of the rest of the project, so the folder and one
bundle file are all that a submission needs.
"""
