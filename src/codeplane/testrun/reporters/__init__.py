"""What runs inside of a project's own interpreter: each file stands alone and tells of tests line by line.

A line is a JSON object. `begin` says that the runner is there, `reading` which file is imported now, `start`
that a test begins, `case` how it ended, `bad` what stands in the way of a file, `end` that the runner
has come to its end by itself.
"""
