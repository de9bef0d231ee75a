"""The fixture's resources and its one template."""

from __future__ import annotations

import json
import re

from mcp import types

from tests.conformance.catalogue import PIXEL_PNG

TEMPLATE = re.compile(r"test://template/([^/]+)/data")

LISTED = [
    types.Resource(
        uri="test://static-text",
        name="static-text",
        description="A text that never changes.",
        mime_type="text/plain",
    ),
    types.Resource(
        uri="test://static-binary",
        name="static-binary",
        description="An image that never changes.",
        mime_type="image/png",
    ),
    types.Resource(
        uri="test://watched-resource",
        name="watched-resource",
        description="A text that clients subscribe to.",
        mime_type="text/plain",
    ),
]

TEMPLATES = [
    types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="template",
        description="Data for one id.",
        mime_type="application/json",
    )
]

TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "This is the content of the watched resource.",
}


def contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    """What the fixture holds at `uri`, or None when it holds nothing there."""
    if uri in TEXTS:
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL_PNG)
    if match := TEMPLATE.fullmatch(uri):
        body = {"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"}
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(body))
    return None
