((element (start_tag (attribute
  (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])))
  @definition.block
  (#match? @_id "^[iI][dD]$"))

((element (self_closing_tag (attribute
  (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])))
  @definition.block
  (#match? @_id "^[iI][dD]$"))

((script_element (start_tag (attribute
  (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])))
  @definition.block
  (#match? @_id "^[iI][dD]$"))

((style_element (start_tag (attribute
  (attribute_name) @_id [(attribute_value) @name (quoted_attribute_value (attribute_value) @name)])))
  @definition.block
  (#match? @_id "^[iI][dD]$"))
