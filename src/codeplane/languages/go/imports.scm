(import_spec) @import.go_import
