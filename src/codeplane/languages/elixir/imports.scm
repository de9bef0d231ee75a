((call target: (identifier) @_import (arguments . [(alias) (dot)])) @import.elixir_import
  (#match? @_import "^(import|require|use|alias)$"))
