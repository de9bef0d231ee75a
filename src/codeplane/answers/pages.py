"""Pages of long answers: how much goes on one, what is left, and the call that goes on."""

from codeplane.session import Call
from codeplane.session.call import Limit


def clamped(call: Call, name: str, wish: int, most: int, least: int = 1) -> int:
    """The size that counts; `meta.limits_applied` says where it is not the one that was asked for."""
    size = max(least, min(wish, most))
    if size != wish:
        call.limits_applied[name] = Limit(wish, size)
    return size


def more(name: str, count: int | None) -> list[str]:
    return [f"… {count} more {name}"] if count else []


def next_page(tool: str, cursor: str | None) -> list[str]:
    """The call that continues a list."""
    return [f'next: {tool} {{"cursor": "{cursor}"}}'] if cursor else []
