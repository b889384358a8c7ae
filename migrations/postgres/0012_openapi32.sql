-- OpenAPI 3.2 is a format of its own.
ALTER TABLE imports DROP CONSTRAINT imports_format_check;
ALTER TABLE imports ADD CONSTRAINT imports_format_check
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32'));
