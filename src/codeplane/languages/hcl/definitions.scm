(config_file (body (block .
  (identifier) .
  [(string_lit (template_literal) @extended) (identifier) @extended] .
  [(string_lit (template_literal) @name) (identifier) @name] .
  (block_start)) @definition.resource))

((config_file (body (block .
  (identifier) @_kind . [(string_lit (template_literal) @name) (identifier) @name] . (block_start))
    @definition.variable))
  (#eq? @_kind "variable"))

((config_file (body (block .
  (identifier) @_kind . [(string_lit (template_literal) @name) (identifier) @name] . (block_start) @body)
    @definition.property))
  (#eq? @_kind "output"))

((config_file (body (block .
  (identifier) @_kind . [(string_lit (template_literal) @name) (identifier) @name] . (block_start) @body)
    @definition.module))
  (#eq? @_kind "module"))

((config_file (body (block .
  (identifier) @_kind . [(string_lit (template_literal) @name) (identifier) @name] . (block_start))
    @definition.block))
  (#not-match? @_kind "^(variable|output|module)$"))

((config_file (body (block . (identifier) @name . (block_start)) @definition.block))
  (#not-eq? @name "locals"))

((config_file (body (block . (identifier) @_kind . (block_start) (body
  (attribute (identifier) @name) @definition.variable))))
  (#eq? @_kind "locals"))

(config_file (body (attribute (identifier) @name) @definition.key))
