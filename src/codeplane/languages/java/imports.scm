(package_declaration [(identifier) (scoped_identifier)] @package)

((import_declaration . (scoped_identifier scope: (_) @import.module name: (identifier) @import.name) .)
  @import.java_import (#not-match? @import.java_import "^import\\s+static\\s"))
((import_declaration . (identifier) @import.name .) @import.java_import)
((import_declaration . (_) @import.module (asterisk) @import.star)
  @import.java_import (#not-match? @import.java_import "^import\\s+static\\s"))

(import_declaration "static" (scoped_identifier scope: (_) @import.module name: (identifier) @import.name) .)
  @import.java_static
(import_declaration "static" (_) @import.module (asterisk) @import.star) @import.java_static
