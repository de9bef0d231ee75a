(import_declaration) @import.scala_import
