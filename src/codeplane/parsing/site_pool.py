"""Processes that read the sites of files, at the lowest priority: nobody waits for them."""

import os

from codeplane.parsing.workers import Job, Pool

_LOWEST = 19


def site_pool(count: int) -> Pool[bytes]:
    """Processes that give the packed sites of a file; nothing for one that they die of."""
    return Pool(count, read_job_sites, lambda _: b"")


def read_job_sites(job: Job) -> bytes:
    """The packed sites of one blob."""
    # Grammars are loaded in the worker alone.
    from codeplane.languages.sites import pack_sites, read_own_sites

    os.nice(_LOWEST)
    return pack_sites(read_own_sites(job.language, job.data))
