"""Contents become facts and words, read in other processes and packed to be sent and kept.

A process that reads imports this package and the languages, nothing of the index: that keeps its start quick.
"""

from codeplane.parsing.workers import Done, Job, Workers

__all__ = ["Done", "Job", "Workers"]
