-- The MCP servers of a project are one more of its documents, and their tools one more format of imports.
ALTER TABLE project_documents DROP CONSTRAINT project_documents_kind_check;
ALTER TABLE project_documents ADD CONSTRAINT project_documents_kind_check
    CHECK (kind IN ('settings', 'limits', 'egress', 'mcp_servers'));

ALTER TABLE imports DROP CONSTRAINT imports_format_check;
ALTER TABLE imports ADD CONSTRAINT imports_format_check
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32', 'mcp'));
