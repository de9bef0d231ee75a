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
        "assign key ||(process.env.KEY, process.env.[]('OTHER'))",
        "subscript process.env.[]('KEY')",
        "subscript process.env.[]('OTHER')",
    ]


_OTHERS = {
    "java": (
        """@RestController @RequestMapping(value="/a", method=RequestMethod.GET)
        class A extends B implements C {
          @GetMapping("/x") String f() { throw new E("a"); }
          @Value("${k:d}") String k = System.getenv("K");
        }""",
        [
            "class A [B, [C]]",
            "decorator RestController()",
            "decorator RequestMapping(value='/a', method=RequestMethod.GET)",
            "decorator GetMapping('/x')",
            "raise E('a')",
            "call E('a')",
            "decorator Value('${k:d}')",
            "call k System.getenv('K')",
        ],
    ),
    "kotlin": (
        """@RequestMapping("/a")
        class A : B() {
          @GetMapping(value = ["/x"])
          fun f(): String { throw E("a") }
          val k = System.getenv("K")
        }
        """,
        [
            "class A [B()]",
            "decorator RequestMapping('/a')",
            "call B()",
            "decorator GetMapping(value=['/x'])",
            "raise E('a')",
            "call E('a')",
            "call k System.getenv('K')",
        ],
    ),
    "csharp": (
        """[Route("api/[controller]")] class A : B, C {
          [HttpGet("{id}", Name = "x")] public int F() { throw new E("a"); }
          void G() { var g = app.MapGroup("/v1"); g.MapGet("/x", (int id) => id); var c = config["K"]; }
        }""",
        [
            "class A [B, C]",
            "decorator Route('api/[controller]')",
            "decorator HttpGet('{id}', Name='x')",
            "raise E('a')",
            "call E('a')",
            "call g app.MapGroup('/v1')",
            "call g.MapGet('/x', <function>)",
            "subscript config.[]('K')",
        ],
    ),
    "go": (
        """package a
        func main() {
          v := r.Group("/v1")
          v.GET("/x", h)
          http.HandleFunc("GET /y", func(w http.ResponseWriter) {})
          for _, x := range []string{"a"} { r.GET(x, h) }
          if a { r.GET("/z"+b, h.F) }
        }""",
        [
            "call v r.Group('/v1')",
            "call v.GET('/x', h)",
            "call http.HandleFunc('GET /y', <function>)",
            "loop _, x ['a']",
            "call r.GET(x, h) loop 3",
            "call r.GET('/z' + b, h.F) is_conditional",
        ],
    ),
    "rust": (
        """#[get("/x/{id}")] async fn f() {}
        fn main() {
          let app = Router::new().route("/a", get(h).post(g)).nest("/api", api());
          std::env::var("K");
        }""",
        [
            "decorator get('/x/{id}')",
            "call app Router.new().route('/a', get(h).post(g)).nest('/api', api())",
            "call std.env.var('K')",
        ],
    ),
    "ruby": (
        """class U < ApplicationRecord
          self.table_name = "us"
          k = ENV.fetch("J", "d")
          resources :users, only: [:index] do
          end
          raise E, "x" if ENV["K"]
        end""",
        [
            "class U [ApplicationRecord]",
            "assign self.table_name 'us'",
            "call self.table_name()",
            "call k ENV.fetch('J', 'd')",
            "call resources(':users', only=[':index'], &block=<function>)",
            "call raise(E, 'x') is_conditional",
            "subscript ENV.[]('K') is_conditional",
        ],
    ),
    "php": (
        """<?php Route::get('/x', [C::class, 'f'])->name('n');
        #[Route('/y', methods: ['GET'])] class D extends E {
          protected $table = 't';
          function f() { getenv('K'); $_ENV['Z']; $this->app->get("/q", fn($a) => $a); }
        }""",
        [
            "call Route.get('/x', [C.class, 'f']).name('n')",
            "class D [E]",
            "decorator Route('/y', methods=['GET'])",
            "assign $table 't'",
            "call getenv('K')",
            "subscript _ENV.[]('Z')",
            "call this.app.get('/q', <function>)",
        ],
    ),
    "c": ("""int main() { char *k = getenv("K"); }""", ["call *k getenv('K')"]),
    "cpp": (
        """int main() { auto k = std::getenv("K"); throw E("x"); }""",
        ["call k std.getenv('K')", "raise E('x')", "call E('x')"],
    ),
}


@pytest.mark.parametrize("language", _OTHERS)
def test_sites_of_other_languages(language: str) -> None:
    text, lines = _OTHERS[language]
    assert _lines(read_sites(language, text.encode())) == lines


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
