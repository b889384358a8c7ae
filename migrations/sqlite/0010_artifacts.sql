-- What a completion says of a result besides that there was one, as JSON: warnings, and where it is kept whole.
ALTER TABLE completions ADD COLUMN notes TEXT;

-- Results that were too large for their answers, kept whole until they expire. `principal_*` made the call.
CREATE TABLE artifacts (
    project_uid    BLOB    NOT NULL REFERENCES projects (uid),
    id             BLOB    NOT NULL PRIMARY KEY,
    principal_kind TEXT    NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id   TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL CHECK (expires_at > created_at),
    bytes          INTEGER NOT NULL CHECK (bytes >= 0),
    content_type   TEXT    NOT NULL,
    content        BLOB    NOT NULL CHECK (length(content) = bytes)
) STRICT;
-- Their sizes can be added up without reading them.
CREATE INDEX artifacts_by_age ON artifacts (project_uid, created_at, id, bytes);
CREATE INDEX artifacts_by_expiry ON artifacts (expires_at);
