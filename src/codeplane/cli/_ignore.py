"""The `.cplignore` that a repository starts with: a description of the built-in rules, and no rule."""

from codeplane.working_tree.rules.ignore import GENERATED_LINES, SECRET_LINES, SECRET_PATH_LINES, USUAL_LINES


def _render_comment(lines: str) -> str:
    return "".join(f"#   {line}\n" for line in lines.splitlines())


CPLIGNORE = f"""\
# What CodePlane leaves out, in .gitignore syntax, on top of .gitignore and of the built-in rules below.
# A pattern leaves files out, tracked or not. !pattern brings back what git or a built-in rule leaves out.
#
# Built in, unless tracked:
{_render_comment(USUAL_LINES)}#
# Built in, tracked or not:
{_render_comment(GENERATED_LINES)}#
# Built in, secrets. A !pattern opens one only after you have run `cpl trust --secrets`:
{_render_comment(SECRET_LINES + SECRET_PATH_LINES)}"""
