-- Second factors of users: one-time passwords by time (RFC 6238).

-- `second_factor_at` is since when a user signs in with a second factor; `second_factor_required` that the user has to.
ALTER TABLE users ADD COLUMN second_factor_at INTEGER;
ALTER TABLE users ADD COLUMN second_factor_required INTEGER NOT NULL DEFAULT 0 CHECK (second_factor_required IN (0, 1));

-- The shared secret, sealed where there is a key for secrets. `last_step` is the step of the last code that was used: an
-- earlier one and the same are refused. Without `confirmed_at` the user has not shown a code yet.
CREATE TABLE second_factors (
    user_id      BLOB    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    key_id       TEXT,
    secret       BLOB    NOT NULL,
    last_step    INTEGER NOT NULL CHECK (last_step >= 0),
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER
) STRICT, WITHOUT ROWID;

-- Codes for when the device is lost, by SHA-256. Each works once.
CREATE TABLE recovery_codes (
    user_id BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    digest  BLOB    NOT NULL CHECK (length(digest) = 32),
    used_at INTEGER,
    PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;
