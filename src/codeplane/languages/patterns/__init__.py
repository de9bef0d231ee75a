"""Code patterns: code with holes, `requests.get($URL, $$$REST)`, found in files by their syntax trees."""

from codeplane.languages.patterns.compiling import all_readings, compile_pattern, has_grammar
from codeplane.languages.patterns.finding import find_pattern, may_match
from codeplane.languages.patterns.near_misses import NearMiss, near_misses
from codeplane.languages.patterns.pattern import Pattern

__all__ = [
    "NearMiss",
    "Pattern",
    "all_readings",
    "compile_pattern",
    "find_pattern",
    "has_grammar",
    "may_match",
    "near_misses",
]
