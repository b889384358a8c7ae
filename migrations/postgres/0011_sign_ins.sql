-- From where a user has signed in: a right password from there is let in while wrong ones from elsewhere are refused.
-- `network` is an IPv4 address or a /64 of IPv6.
CREATE TABLE sign_in_networks (
    user_id UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network TEXT   COLLATE "C" NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, network)
);
CREATE INDEX sign_in_networks_by_age ON sign_in_networks (last_at);
