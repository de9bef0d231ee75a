"""Reading all facts out of Django, against parsing it alone: CPU of one process, without a database."""

import json
import subprocess
import sys

from bench.corpora import python_package
from bench.measure import Figure

RUNS = 3
_MEASURE = """
import gc, json, sys, time
from pathlib import Path
from codeplane.languages import extract
from codeplane.languages.query import parser_of

gc.disable()
sources = [path.read_bytes() for path in sorted(Path(sys.argv[1]).rglob("*.py"))]
parser = parser_of("python")

def cpu(read):
    started = time.process_time()
    for source in sources:
        read(source)
    return time.process_time() - started

def facts(source):
    extract("python", source)

pairs = [(cpu(parser.parse), cpu(facts)) for _ in range(int(sys.argv[2]))]
print(json.dumps([min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)]))
"""


def figures() -> list[Figure]:
    command = [sys.executable, "-c", _MEASURE, str(python_package("django", "5.2")), str(RUNS)]
    seen = subprocess.run(command, capture_output=True, check=True)
    parsing, extracting = json.loads(seen.stdout)
    told = f"{extracting:.2f} s; parse only {parsing:.2f} s"
    return [Figure("facts of Django 5.2", extracting / parsing, "×", 5.5, told)]
