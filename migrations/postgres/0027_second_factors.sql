-- Second factors of users: one-time passwords by time (RFC 6238).

-- `second_factor_at` is since when a user signs in with a second factor; `second_factor_required` that the user has to.
ALTER TABLE users ADD COLUMN second_factor_at BIGINT;
ALTER TABLE users ADD COLUMN second_factor_required BOOLEAN NOT NULL DEFAULT FALSE;

-- The shared secret, sealed where there is a key for secrets. `last_step` is the step of the last code that was used: an
-- earlier one and the same are refused. Without `confirmed_at` the user has not shown a code yet.
CREATE TABLE second_factors (
    user_id      UUID   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    key_id       TEXT,
    secret       BYTEA  NOT NULL,
    last_step    BIGINT NOT NULL CHECK (last_step >= 0),
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT
);

-- Codes for when the device is lost, by SHA-256. Each works once.
CREATE TABLE recovery_codes (
    user_id UUID  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    digest  BYTEA NOT NULL CHECK (length(digest) = 32),
    used_at BIGINT,
    PRIMARY KEY (user_id, digest)
);
