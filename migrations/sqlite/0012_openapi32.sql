-- OpenAPI 3.2 is a format of its own. SQLite changes no CHECK, so the column is made again.
ALTER TABLE imports RENAME COLUMN format TO format_before;
ALTER TABLE imports ADD COLUMN format TEXT NOT NULL DEFAULT 'openapi31'
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32'));
UPDATE imports SET format = format_before;
ALTER TABLE imports DROP COLUMN format_before;
