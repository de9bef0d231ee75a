; all_elements(name): Elements, with their tags.
(element (start_tag (tag_name) @name)) @target
(element (self_closing_tag (tag_name) @name)) @target
(script_element (start_tag (tag_name) @name)) @target
(style_element (start_tag (tag_name) @name)) @target

; all_attributes(name): Attributes.
(attribute (attribute_name) @name) @target

; all_imports(name): Elements that load scripts.
(script_element (start_tag (tag_name) @name (attribute))) @target
