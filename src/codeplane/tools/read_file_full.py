from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.source import heading, offer
from codeplane.jail import shown
from codeplane.search.whole_file import MOST_CHARACTERS, Whole, whole_file
from codeplane.session import Call
from codeplane.session.call import Limit
from codeplane.tools._registry import Effect, Input, synonyms, tool


class ReadFileFullInput(Input):
    path: str = Field(min_length=1, max_length=4000, description="File.")
    confirm: Annotated[bool, synonyms("confirmed")] = Field(
        default=False, description="Set it to read the file, after a first call has shown its size."
    )
    start_line: int = Field(default=1, ge=1, description="`next_line` of the previous part.")


class ReadFileFullOutput(Output):
    path: str = Field(description="Path in the repository.")
    file_sha256: str = Field(description="Digest of the whole file.")
    lines: int = Field(description="Lines of the file.")
    characters: int = Field(description="Its size.")
    confirm: str | None = Field(default=None, description="What to send to read it.")
    outline: list[str] | None = Field(
        default=None, description="Its definitions with their lines, to read one alone."
    )
    content: str | None = Field(default=None, description="The text, without line numbers.")
    next_line: int | None = Field(default=None, description="Where the next part starts.")

    def render(self) -> str:
        head = heading(self.path, self.lines, f"{self.characters} characters" if self.confirm else None)
        return "\n".join([head, *(self.outline or ()), *([self.content] if self.content is not None else [])])


@tool(Effect.READ, "files")
def read_file_full(call: Call, args: ReadFileFullInput) -> ReadFileFullOutput:
    """Reads a whole file; a large one in two steps: its size and outline first, then, confirmed, its text.

    Use when:
    - you need every line of a file, to rewrite it or to review it
    Not for:
    - parts of a file, or definitions by name (read_source)
    Examples:
    - How large is it: {"path": "src/app.py"}
    - Read it: {"path": "src/app.py", "confirm": true}
    """
    call.session.read_budget.check()
    whole = call.ask(lambda snapshot: whole_file(snapshot, snapshot.paths, args.path, args.start_line))
    budget = call.session.read_budget
    is_told = budget.offered.get(whole.path) == whole.digest
    if not (whole.is_small or (args.confirm and is_told)):
        budget.offer(whole.path, whole.digest)
        confirm = offer("read_file_full", path=shown(whole.path), confirm=True)
        call.next_actions.append(confirm)
        return _answer(whole, confirm=confirm)
    call.warn(budget.charge(len(whole.text)))
    call.showed(whole.path, whole.digest, whole.data)
    if whole.next_line:
        call.limits_applied["characters"] = Limit(None, MOST_CHARACTERS)
        path, line = shown(whole.path), whole.next_line
        call.next_actions.append(offer("read_file_full", path=path, confirm=True, start_line=line))
    return _answer(whole, content=whole.text)


def _answer(whole: Whole, *, confirm: str | None = None, content: str | None = None) -> ReadFileFullOutput:
    return ReadFileFullOutput(
        path=shown(whole.path),
        file_sha256=whole.digest,
        lines=whole.lines,
        characters=whole.characters,
        confirm=confirm,
        outline=whole.outline if confirm else None,
        content=content,
        next_line=whole.next_line if content is not None else None,
    )
