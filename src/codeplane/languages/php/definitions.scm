(namespace_definition !body name: (namespace_name) @package)
(namespace_definition
  name: (namespace_name) @name @identifier.whole
  body: (compound_statement) @body) @definition.namespace
(namespace_definition body: (compound_statement) @scope.namespace)

(function_definition name: (name) @name body: (compound_statement) @body) @definition.function @scope.function
(class_declaration name: (name) @name body: (declaration_list) @body) @definition.class @scope.class
(interface_declaration name: (name) @name body: (declaration_list) @body) @definition.interface @scope.class
(trait_declaration name: (name) @name body: (declaration_list) @body) @definition.trait @scope.class
(enum_declaration name: (name) @name body: (enum_declaration_list) @body) @definition.enum @scope.class
(anonymous_class body: (declaration_list) @scope.class)

((method_declaration name: (name) @name) @definition.method @scope.function (#not-eq? @name "__construct"))
((method_declaration name: (name) @name) @definition.constructor @scope.function (#eq? @name "__construct"))
(method_declaration body: (compound_statement) @body)
(property_declaration
  (property_element name: (variable_name (name) @name @identifier.part))) @definition.field
(property_promotion_parameter name: (variable_name (name) @name)) @definition.field
(const_declaration (const_element . (name) @name)) @definition.constant
(enum_case name: (name) @name) @definition.enum_member
(use_as_clause (_) (name) @name) @definition.method

; A definition behind a condition may not be the one that counts.
(if_statement body: (compound_statement [
  (function_definition name: (name) @doubt)
  (class_declaration name: (name) @doubt)]))
(if_statement body: (colon_block [
  (function_definition name: (name) @doubt)
  (class_declaration name: (name) @doubt)]))

(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(use_declaration [(name) (qualified_name)] @base.mixin)
; Which of two traits has a method is said here: as a base that is no class, it leaves that open.
(use_instead_of_clause . (_) @base.mixin)

((method_declaration (visibility_modifier) @modifier.private) (#eq? @modifier.private "private"))
((property_declaration (visibility_modifier) @modifier.private) (#eq? @modifier.private "private"))
((property_promotion_parameter (visibility_modifier) @modifier.private) (#eq? @modifier.private "private"))
((const_declaration (visibility_modifier) @modifier.private) (#eq? @modifier.private "private"))
(method_declaration (static_modifier) @modifier.static)
(property_declaration (static_modifier) @modifier.static)
(abstract_modifier) @modifier.abstract
(attribute [(name) (qualified_name)] @decorator @reference.new)
