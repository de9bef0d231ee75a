"""JavaScript, JSX included."""

from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import SCRIPT, HeaderStyle

_NODE = (
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns"
    " domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring"
    " readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads"
    " zlib"
).split()

SPEC = LanguageSpec(
    name="javascript",
    family="javascript",
    grammar="tree_sitter_javascript",
    extensions=(".js", ".jsx", ".mjs", ".cjs"),
    shebangs=("node", "nodejs"),
    own_queries=("jsx.scm", "own.scm"),
    call_by_parenthesis=True,
    made_from={
        ".js": (".ts", ".tsx"),
        ".jsx": (".tsx",),
        ".mjs": (".mts", ".ts", ".tsx"),
        ".cjs": (".cts", ".ts", ".tsx", ".mjs", ".js"),
        ".d.ts": (".ts", ".tsx", ".js", ".jsx"),
        ".d.mts": (".mts", ".ts", ".tsx", ".mjs", ".js"),
        ".d.cts": (".cts", ".ts", ".tsx", ".cjs", ".js"),
    },
    outputs=("lib", "dist", "build", "out", "es", "esm", "esm5", "esm2015", "cjs", "umd", "types", "typings"),
    constant=r"[A-Z][A-Z0-9_$]*",
    private=r"#.*|_.*",
    constructor=r"",
    # Keywords before a name, and the name itself, that the queries capture as decorators.
    decorator_kinds={"get": "property", "set": "property", "constructor": "constructor"},
    decorator_adds=frozenset(("get", "set")),
    dynamic_calls={
        "eval": ("eval", 0),
        "Function": ("eval", 0),
        "Reflect.get": ("reflect", 1),
        "Reflect.set": ("reflect", 1),
        "Reflect.has": ("reflect", 1),
        "Reflect.deleteProperty": ("reflect", 1),
        "Object.defineProperty": ("reflect", 1),
    },
    surface="exported",
    standard=rf"node:\w+|(?:{'|'.join(_NODE)})(?=/|\Z)",
    writing=SCRIPT,
    header=HeaderStyle(lenient=True, rest=("...",)),
)
