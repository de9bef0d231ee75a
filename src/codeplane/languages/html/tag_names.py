"""Which elements HTML treats specially, by name."""

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VOID: Final = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"
)
# The end tag ends these, and nothing inside of them is an element.
RAW_TEXT: Final = _names("script style xmp iframe noembed noframes noscript plaintext textarea title")
OPTIONAL_END: Final = _names(
    "dd dt li optgroup option p rb rp rt rtc tbody td tfoot th thead tr caption colgroup html head body"
)
IMPLIED_END: Final = _names("dd dt li optgroup option p rb rp rt rtc")
TABLE_IMPLIED_END: Final = IMPLIED_END | _names("caption colgroup tbody td tfoot th thead tr")
HEADINGS: Final = _names("h1 h2 h3 h4 h5 h6")
CLOSES_PARAGRAPH: Final = HEADINGS | _names(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer "
    "form header hgroup hr listing main menu nav ol p plaintext pre search section summary ul xmp li dd "
    "dt"
)
FORMATTING: Final = _names("a b big code em font i nobr s small strike strong tt u")
HEAD_CONTENT: Final = _names("base basefont bgsound link meta noframes noscript script style template title")
SECTIONS: Final = _names("tbody tfoot thead")
CELLS: Final = _names("td th")
TABLE_PARTS: Final = SECTIONS | CELLS | _names("caption col colgroup tr")
TABLE_CONTEXT: Final = SECTIONS | _names("table tr")
MARKED: Final = _names("applet marquee object")  # their formatting elements stay inside
SPECIAL: Final = (
    VOID - {"bgsound", "keygen"} | HEADINGS | CLOSES_PARAGRAPH - {"dialog"} | RAW_TEXT | TABLE_PARTS | MARKED
) | _names("body button frameset head html noscript select table template")
SCOPE: Final = _names("applet caption html marquee object select table td template th")
BUTTON_SCOPE: Final = SCOPE | {"button"}
LIST_SCOPE: Final = SCOPE | {"ol", "ul"}
TABLE_SCOPE: Final = _names("html table template")
PRESERVED: Final = _names("pre listing textarea xmp plaintext")  # white space inside is shown

# Tags that end foreign content.
BREAKOUT: Final = HEADINGS | _names(
    "b big blockquote body br center code dd div dl dt em embed head hr i img li listing menu meta nobr "
    "ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
MATHML_TEXT: Final = _names("mi mo mn ms mtext")
SVG_HTML: Final = _names("foreignObject desc title")
SVG_NAMES: Final = {
    name.lower(): name
    for name in (
        "altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend "
        "feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting "
        "feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR "
        "feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight "
        "feSpecularLighting feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient "
        "radialGradient textPath"
    ).split()
}
SVG_ATTRIBUTES: Final = {
    name.lower(): name
    for name in (
        "attributeName attributeType baseFrequency baseProfile calcMode clipPathUnits diffuseConstant "
        "edgeMode filterUnits glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength "
        "keyPoints keySplines keyTimes lengthAdjust limitingConeAngle markerHeight markerUnits "
        "markerWidth maskContentUnits maskUnits numOctaves pathLength patternContentUnits "
        "patternTransform patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio "
        "primitiveUnits refX refY repeatCount repeatDur requiredExtensions requiredFeatures "
        "specularConstant specularExponent spreadMethod startOffset stdDeviation stitchTiles "
        "surfaceScale systemLanguage tableValues targetX targetY textLength viewBox viewTarget "
        "xChannelSelector yChannelSelector zoomAndPan"
    ).split()
}
BOOLEAN_ATTRIBUTES: Final = _names(
    "allowfullscreen async autofocus autoplay checked controls default defer disabled formnovalidate "
    "inert ismap itemscope loop multiple muted nomodule novalidate open playsinline readonly required "
    "reversed selected"
)
# The values of these are compared without regard to case.
CASELESS_VALUES: Final = _names(
    "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare "
    "defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method "
    "multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape "
    "target text type valign valuetype vlink"
)
