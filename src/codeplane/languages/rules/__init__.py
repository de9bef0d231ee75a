"""What a language answers in code: a protocol for each concern, which the language implements in its folder.

`reflection` here is implemented by `reflection` in the folder of a language, and so on. A language overrides
what holds for it; the defaults are those of a language that has no such thing.
"""
