//! Credentials against the whole authenticator: what must be let in, and above all what must not.

mod external;
mod fixtures;
mod hostile;
mod keys;
mod own_tokens;
mod properties;
mod revocation;
