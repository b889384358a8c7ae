"""What schemathesis cannot read by itself."""

import schemathesis


@schemathesis.deserializer("application/yaml")
def yaml_is_text(_context, response):
    """YAML is a text for the document, and may be several YAML documents, which schemathesis takes for a fault of its own."""
    return response.content.decode()
