(rule_set (selectors)) @definition.selector
(class_selector (class_name) @name .)
(id_selector (id_name) @name)

(declaration (property_name) @name (#match? @name "^--")) @definition.property

(keyframes_statement (keyframes_name) @name) @definition.block
(media_statement
  [(keyword_query) (feature_query) (binary_query) (unary_query) (parenthesized_query)] @name) @definition.block
(supports_statement
  [(keyword_query) (feature_query) (binary_query) (unary_query) (parenthesized_query)] @name) @definition.block

((at_rule (at_keyword) @_rule (keyword_query) @name) @definition.block
  (#any-of? @_rule "@layer" "@container" "@counter-style" "@page"))
((at_rule (at_keyword) @_rule (keyword_query) @name) @definition.property
  (#eq? @_rule "@property"))
