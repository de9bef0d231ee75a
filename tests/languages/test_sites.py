"""Sites of a file: what is called, decorated, subscripted, raised and looped over, as it is written."""

from pathlib import Path

import pytest

from codeplane.languages.sites import Site, Value, ValueKind, pack_sites, read_sites, unpack_sites

_PYTHON = """
app = FastAPI()
router = APIRouter(prefix="/x" + BASE)

@router.get(f"/items/{ID}", tags=["a"])
def get_item():
    raise NotFound("no")

for one in [router, other.router]:
    app.include_router(one)
if DEBUG:
    app.add_middleware(Cors)
KEY = os.environ["KEY"]
def make():
    return APIRouter()
class Model(Base, table=True):
    __tablename__ = "models"
"""
_JAVASCRIPT = """
const app = express();
app.route("/x").get(list).post((req) => { throw new Error("a"); });
const key = process.env.KEY || process.env["OTHER"];
"""


def _sketch(value: Value) -> str:
    """A value in one line, so that a test can be read."""
    prefix = f"{value.keyword}=" if value.keyword else ""
    match value.kind:
        case ValueKind.TEXT:
            return f"{prefix}{value.text!r}"
        case ValueKind.CALL:
            owner = f"{_sketch(value.receiver)}." if value.receiver is not None else ""
            return f"{prefix}{owner}{value.text}({', '.join(map(_sketch, value.arguments))})"
        case ValueKind.LIST:
            return f"{prefix}[{', '.join(map(_sketch, value.items))}]"
        case ValueKind.CONCAT:
            return f"{prefix}{' + '.join(map(_sketch, value.items))}"
        case ValueKind.FUNCTION:
            return f"{prefix}<function>"
        case _:
            return f"{prefix}{value.text}"


def _lines(sites: list[Site]) -> list[str]:
    marks = ("is_conditional", "is_returned")
    return [
        " ".join(
            filter(
                None,
                [
                    site.kind.name.lower(),
                    site.name,
                    _sketch(site.value),
                    *(mark for mark in marks if getattr(site, mark)),
                    f"loop {site.loop}" if site.loop >= 0 else "",
                ],
            )
        )
        for site in sites
        if site.outer < 0
    ]


def test_sites_of_python() -> None:
    assert _lines(read_sites("python", _PYTHON.encode())) == [
        "call app FastAPI()",
        "call router APIRouter(prefix='/x' + BASE)",
        "decorator router.get('/items/' + ID, tags=['a'])",
        "raise NotFound('no')",
        "call NotFound('no')",
        "loop one [router, other.router]",
        "call app.include_router(one) loop 6",
        "call app.add_middleware(Cors) is_conditional",
        "subscript os.environ.[]('KEY')",
        "call APIRouter() is_returned",
        "class Model [Base, table=True]",
        "assign __tablename__ 'models'",
    ]


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_sites_of_javascript(language: str) -> None:
    assert _lines(read_sites(language, _JAVASCRIPT.encode())) == [
        "call app express()",
        "call app.route('/x').get(list).post(<function>)",
        "raise Error('a')",
        "call Error('a')",
        "subscript process.env.[]('KEY')",
        "subscript process.env.[]('OTHER')",
    ]


def test_packed_sites_come_back_as_they_were() -> None:
    for language, text in (("python", _PYTHON), ("javascript", _JAVASCRIPT)):
        sites = read_sites(language, text.encode())
        assert unpack_sites(pack_sites(sites)) == sites
    here = Path(__file__).read_bytes()
    assert unpack_sites(pack_sites(read_sites("python", here))) == read_sites("python", here)


def test_a_site_begins_where_its_text_does() -> None:
    data = _PYTHON.encode()
    for site in read_sites("python", data):
        assert 0 <= site.start < site.end <= len(data)
        for value in site.value.walk():
            if value.kind is ValueKind.NAME:
                assert data[value.start :].startswith(value.text.split(".")[0].encode())


def test_a_language_without_sites_has_none() -> None:
    assert read_sites("markdown", b"# x") == []
