(header module: (module) @package)

(declarations
  [(function name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)
   (bind name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)
   (signature name: [(variable) @name (prefix_id (operator) @name)])] @definition.function)
(declarations (function (infix operator: [(operator) @name (infix_id (variable) @name)]) match: (_) @body) @definition.function)
(class_declarations
  [(function name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)
   (bind name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)
   (signature name: [(variable) @name (prefix_id (operator) @name)])] @definition.method)
(instance_declarations
  [(function name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)
   (bind name: [(variable) @name (prefix_id (operator) @name)] match: (_) @body)] @definition.method)
(foreign_import (signature name: (variable) @name)) @definition.function
(pattern_synonym (equation synonym: (apply function: (constructor) @name))) @definition.function

(type_synonym name: (name) @name) @definition.type
(type_family name: (name) @name) @definition.type
(data_type name: (name) @name) @definition.class
(newtype name: (name) @name) @definition.class
(class name: (name) @name declarations: (_)? @body) @definition.interface
(instance name: (name) @extended declarations: (_)? @body) @definition.impl

(data_constructor
  [(prefix name: (constructor) @name) (record name: (constructor) @name) (infix operator: (constructor_operator) @name)])
  @definition.enum_member
(newtype_constructor name: (constructor) @name) @definition.enum_member
(gadt_constructor name: (constructor) @name) @definition.enum_member
(field name: (field_name (variable) @name)) @definition.field
