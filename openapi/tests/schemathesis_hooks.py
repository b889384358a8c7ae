"""What schemathesis cannot read by itself."""

import schemathesis
from schemathesis.core.media_types import YAML_MEDIA_TYPES


@schemathesis.deserializer(*YAML_MEDIA_TYPES)
def yaml_is_text(_context, response):
    """YAML is a text for the document, and may be several YAML documents: schemathesis reads one, and stops at more."""
    return response.content.decode()
