-- What a project has one of, as JSON. Where no row is, the defaults hold.
CREATE TABLE project_documents (
    project_uid UUID             NOT NULL REFERENCES projects (uid),
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('settings', 'limits')),
    revision    BIGINT           NOT NULL CHECK (revision > 0),
    content     TEXT             NOT NULL,
    updated_at  BIGINT           NOT NULL,
    updated_by  TEXT             NOT NULL,
    PRIMARY KEY (project_uid, kind)
);

-- `sealed` is nonce, ciphertext and tag (AES-256-GCM) under the configured key `key_id`, bound to project and name.
CREATE TABLE secrets (
    project_uid  UUID             NOT NULL REFERENCES projects (uid),
    name         TEXT COLLATE "C" NOT NULL,
    revision     BIGINT           NOT NULL CHECK (revision > 0),
    key_id       TEXT             NOT NULL,
    sealed       BYTEA            NOT NULL CHECK (length(sealed) >= 28),
    set_at       BIGINT           NOT NULL,
    set_by       TEXT             NOT NULL,
    last_used_at BIGINT,
    PRIMARY KEY (project_uid, name)
);

-- With a key id, `pkcs8` is sealed like a secret; without one it is plain.
ALTER TABLE signing_keys ADD COLUMN key_id TEXT;
