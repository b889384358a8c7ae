-- Sign-ins whose token has not expired. `id` is the token's `jti`; one of an earlier `generation` than the user's ended with the password.
-- `way` is the provider that the user signed in at, without one a password. `address` and `browser` are what the request said.
CREATE TABLE user_sign_ins (
    id         BLOB NOT NULL PRIMARY KEY,
    user_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    way        TEXT,
    address    TEXT,
    browser    TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX user_sign_ins_by_user ON user_sign_ins (user_id, created_at);
CREATE INDEX user_sign_ins_by_end ON user_sign_ins (expires_at);

-- How the dashboard looks for a user: JSON.
CREATE TABLE user_preferences (
    user_id     BLOB NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    preferences TEXT NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
