-- From where a user has signed in: a right password from there is let in while wrong ones from elsewhere are refused.
-- `network` is an IPv4 address or a /64 of IPv6.
CREATE TABLE sign_in_networks (
    user_id BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network TEXT    NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_networks_by_age ON sign_in_networks (last_at);
