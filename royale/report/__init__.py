"""The report page: one file that opens offline, from what a ladder has finished."""
