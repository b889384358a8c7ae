//! Server-sent events that the server makes (WHATWG HTML, section 9.2).

use bytes::Bytes;

/// An event with a name and one line of data.
#[must_use]
pub fn event(name: &str, data: &str) -> Bytes {
    // JSON text has no line ends of its own, but this must not depend on it.
    let data = data.replace(['\r', '\n'], " ");
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Says that the connection is alive; readers skip it.
pub const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_events_are_one_event() {
        let made = event("error", "{\"a\":\n1}\r\n\r\ndata: x");
        assert_eq!(made, "event: error\ndata: {\"a\": 1}    data: x\n\n");
    }
}
