; An element whose name begins with a small letter is the platform's own.
(jsx_opening_element name: (identifier) @argument.keyword (#match? @argument.keyword "^[a-z]"))
(jsx_closing_element name: (identifier) @argument.keyword (#match? @argument.keyword "^[a-z]"))
(jsx_self_closing_element name: (identifier) @argument.keyword (#match? @argument.keyword "^[a-z]"))
(jsx_attribute (property_identifier) @argument.keyword)
(jsx_namespace_name (identifier) @argument.keyword)
