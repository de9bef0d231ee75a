(identifier) @identifier
(attribute) @member
(keyword_argument name: (identifier) @argument.keyword)
(type) @region.type
(type (string (string_content) @region.names))
(type (binary_operator (string (string_content) @region.names)))
; Behind a dotted name the grammar takes brackets for a subscript.
(type (subscript subscript: (string (string_content) @region.names)))
(type (subscript subscript: (subscript subscript: (string (string_content) @region.names))))
; Types that are given in quotes.
(call function: [(identifier) @_makes (attribute attribute: (identifier) @_makes)]
  (#any-of? @_makes "TypeVar" "NewType" "cast")) @hook.typing
