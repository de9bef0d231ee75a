(create_table
  [(keyword_table) (keyword_exists)] .
  (object_reference schema: (identifier)? @extended name: (identifier) @name)) @definition.table

; The grammar takes `(LIKE other)` for a column.
((column_definitions (column_definition name: [(identifier) (literal)] @name) @definition.field)
  (#not-match? @name "^[Ll][Ii][Kk][Ee]$"))

(create_view
  [(keyword_view) (keyword_exists)] .
  (object_reference schema: (identifier)? @extended name: (identifier) @name)) @definition.view
(create_materialized_view
  [(keyword_view) (keyword_exists)] .
  (object_reference schema: (identifier)? @extended name: (identifier) @name)) @definition.view
(create_index column: (identifier) @name) @definition.index
(create_function
  (keyword_function) . (object_reference schema: (identifier)? @extended name: (identifier) @name)
  (function_body)? @body) @definition.function
(create_type
  (keyword_type) . (object_reference schema: (identifier)? @extended name: (identifier) @name)) @definition.type
(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @definition.block
(create_sequence
  [(keyword_sequence) (keyword_exists)] .
  (object_reference schema: (identifier)? @extended name: (identifier) @name)) @definition.block
(create_schema (identifier) @name) @definition.namespace

; A column added later belongs to the table that the statement names.
(alter_table (object_reference name: (identifier) @extended)
  (add_column (column_definition name: [(identifier) (literal)] @name))) @definition.field
