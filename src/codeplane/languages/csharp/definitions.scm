(namespace_declaration name: (_) @name body: (declaration_list) @body) @definition.namespace @scope.namespace

(class_declaration name: (identifier) @name) @definition.class @scope.class
(struct_declaration name: (identifier) @name) @definition.struct @scope.class
(record_declaration name: (identifier) @name) @definition.class @scope.class
(interface_declaration name: (identifier) @name) @definition.interface @scope.class
(enum_declaration name: (identifier) @name) @definition.enum @scope.class
(class_declaration body: (_) @body)
(struct_declaration body: (_) @body)
(record_declaration body: (_) @body)
(interface_declaration body: (_) @body)
(enum_declaration body: (_) @body)
(enum_member_declaration name: (identifier) @name) @definition.enum_member
(delegate_declaration name: (identifier) @name) @definition.type @scope.function

(class_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type type: [(identifier) @base (qualified_name) @base (generic_name . (identifier) @base)])]))
(struct_declaration (base_list [(identifier) @base (qualified_name) @base (generic_name . (identifier) @base)]))
(record_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type type: [(identifier) @base (qualified_name) @base (generic_name . (identifier) @base)])]))
(interface_declaration (base_list [(identifier) @base (qualified_name) @base (generic_name . (identifier) @base)]))

(method_declaration name: (identifier) @name) @definition.method @scope.function
(method_declaration body: [(block) (arrow_expression_clause)] @body)
(method_declaration
  parameters: (parameter_list . (parameter
    (modifier) @_this
    type: [(identifier) @extended (qualified_name) @extended (generic_name . (identifier) @extended)]))
  (#eq? @_this "this"))
(constructor_declaration name: (identifier) @name) @definition.constructor @scope.function
(constructor_declaration body: [(block) (arrow_expression_clause)] @body)
(destructor_declaration name: (identifier) @name) @definition.constructor @scope.function
(operator_declaration operator: _ @name) @definition.method
(conversion_operator_declaration) @definition.method
(operator_declaration body: [(block) (arrow_expression_clause)] @body)
(local_function_statement name: (identifier) @name) @definition.function @scope.function
(local_function_statement body: [(block) (arrow_expression_clause)] @body)

(property_declaration name: (identifier) @name) @definition.property
(property_declaration accessors: (_) @body)
(property_declaration value: (_) @body)
(indexer_declaration "this" @name) @definition.property @scope.function
(indexer_declaration accessors: (_) @body)
(event_declaration name: (identifier) @name accessors: (_) @body) @definition.property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.property))

; What implements a member of an interface in this way has no name of its own.
(method_declaration (explicit_interface_specifier) name: (identifier) @doubt)
(property_declaration (explicit_interface_specifier) name: (identifier) @doubt)

; A name that is that of its own type stands for both.
(property_declaration type: (identifier) @_type name: (identifier) @doubt (#eq? @_type @doubt))
(parameter type: (identifier) @_type name: (identifier) @doubt (#eq? @_type @doubt))
(variable_declaration
  type: (identifier) @_type (variable_declarator name: (identifier) @doubt) (#eq? @_type @doubt))

; Not of accessors, which have modifiers of their own.
(class_declaration (modifier "private") @modifier.private)
(struct_declaration (modifier "private") @modifier.private)
(record_declaration (modifier "private") @modifier.private)
(interface_declaration (modifier "private") @modifier.private)
(enum_declaration (modifier "private") @modifier.private)
(delegate_declaration (modifier "private") @modifier.private)
(method_declaration (modifier "private") @modifier.private)
(constructor_declaration (modifier "private") @modifier.private)
(property_declaration (modifier "private") @modifier.private)
(indexer_declaration (modifier "private") @modifier.private)
(event_declaration (modifier "private") @modifier.private)
(event_field_declaration (modifier "private") @modifier.private)
(field_declaration (modifier "private") @modifier.private)
(modifier "static") @modifier.static
(modifier "abstract") @modifier.abstract
(modifier "async") @modifier.async
(modifier "override") @modifier.override
(field_declaration (modifier "const") @modifier.static)
(interface_declaration (declaration_list (method_declaration !body ";" @modifier.abstract)))
(modifier "partial") @decorator
(class_declaration (attribute_list (attribute name: (_) @decorator)))
(method_declaration (attribute_list (attribute name: (_) @decorator)))

(class_declaration (modifier "public") name: (identifier) @export.public)
(struct_declaration (modifier "public") name: (identifier) @export.public)
(record_declaration (modifier "public") name: (identifier) @export.public)
(interface_declaration (modifier "public") name: (identifier) @export.public)
(enum_declaration (modifier "public") name: (identifier) @export.public)
(delegate_declaration (modifier "public") name: (identifier) @export.public)
