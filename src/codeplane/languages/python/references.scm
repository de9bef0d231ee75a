(identifier) @identifier
(attribute) @member
(keyword_argument name: (identifier) @argument.keyword)
(type) @region.type
(type (string (string_content) @region.names))
(type (binary_operator (string (string_content) @region.names)))
