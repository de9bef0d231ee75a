(namespace_use_declaration) @import.php_use
[(include_expression) (include_once_expression) (require_expression) (require_once_expression)]
  @import.php_include @rebinds
[
  (include_expression [(variable_name) @dynamic.dynamic_import (encapsed_string (variable_name) @dynamic.dynamic_import)])
  (include_once_expression [(variable_name) @dynamic.dynamic_import (encapsed_string (variable_name) @dynamic.dynamic_import)])
  (require_expression [(variable_name) @dynamic.dynamic_import (encapsed_string (variable_name) @dynamic.dynamic_import)])
  (require_once_expression [(variable_name) @dynamic.dynamic_import (encapsed_string (variable_name) @dynamic.dynamic_import)])
]
