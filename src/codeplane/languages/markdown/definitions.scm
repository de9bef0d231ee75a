(section [(atx_heading) (setext_heading)] @definition.heading)
(atx_heading heading_content: (inline) @name)
(setext_heading heading_content: (paragraph) @name)
