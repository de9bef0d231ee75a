(import_statement) @import.python_import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))

[(import_from_statement) (future_import_statement)] @import.python_from
(import_from_statement module_name: [(dotted_name) (relative_import)] @import.module)
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
(import_from_statement (wildcard_import) @import.star)
(future_import_statement "__future__" @import.module)
(future_import_statement name: (dotted_name) @import.name)
