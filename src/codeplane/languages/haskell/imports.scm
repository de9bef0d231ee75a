(import module: (module) @import.module) @import.haskell_import

; Only names that can be written without a module are taken by name or all together.
((import alias: (module) @import.alias) @_whole (#match? @_whole "\\bqualified\\b"))
((import "import" @import.star !names) @_whole (#not-match? @_whole "\\bqualified\\b"))
((import "import" @import.star "hiding") @_whole (#not-match? @_whole "\\bqualified\\b"))
((import names: (import_list (import_name [variable: (variable) type: (name)] @import.name))) @_whole
  (#not-match? @_whole "\\b(qualified|hiding)\\b"))
