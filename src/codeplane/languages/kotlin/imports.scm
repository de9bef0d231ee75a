(package_header (qualified_identifier) @package)
(import) @import.kotlin_import
