"""Sizes of answers: what asks for more than there may be gets the most there may be, and is told so."""

from codeplane.session import Call


def clamped(call: Call, name: str, asked: int, most: int, least: int = 1) -> int:
    """The size that counts; `meta.limits_applied` says where it is not the one that was asked for."""
    size = max(least, min(asked, most))
    if size != asked:
        call.limits_applied[name] = size
    return size
