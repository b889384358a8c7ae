-- Users who sign in at an OpenID Connect provider: who they are there.

-- `issuer` and `subject` are the `iss` and `sub` of the provider's ID tokens; both are there or neither.
ALTER TABLE users ADD COLUMN issuer TEXT;
ALTER TABLE users ADD COLUMN subject TEXT CHECK ((issuer IS NULL) = (subject IS NULL));

CREATE UNIQUE INDEX users_by_identity ON users (issuer, subject);
