(import_declaration) @import.swift_import
