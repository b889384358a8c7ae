-- The project's version that a revision came with, so that a server reads only what changed since the version that it has. A server
-- of the previous release does not write the column: its revisions have the largest version, and are always read.
ALTER TABLE tool_revisions ADD COLUMN version INTEGER NOT NULL DEFAULT 9223372036854775807;
UPDATE tool_revisions SET version = 0;
CREATE INDEX tool_revisions_by_version ON tool_revisions (project_uid, version);
