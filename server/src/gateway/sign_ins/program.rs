//! What browser or program a client is, as far as it says so.

/// Characters of a name that is not known.
const LONGEST: usize = 60;

/// What is found in the text of a client, and its name. The first that is found counts: most browsers name others too.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// The same of systems.
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// A name for people, of the header `User-Agent`: `Firefox on Linux`, or the program's own name and version.
pub(super) fn name(agent: &str) -> Option<String> {
    let found = |table: &[(&str, &'static str)]| {
        let mut rows = table.iter();
        rows.find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    if let Some(browser) = found(&BROWSERS) {
        return Some(match found(&SYSTEMS) {
            Some(system) => format!("{browser} on {system}"),
            None => browser.to_owned(),
        });
    }
    let program = agent.split_whitespace().next()?;
    Some(program.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn browsers_and_programs_have_names() {
        for (agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("curl/8.9.1", "curl/8.9.1"),
            ("python-httpx/0.28 extra words", "python-httpx/0.28"),
        ] {
            assert_eq!(name(agent).as_deref(), Some(expected), "{agent}");
        }
        assert_eq!(name("  "), None);
        assert_eq!(
            name(&"x".repeat(500)).map(|name| name.len()),
            Some(super::LONGEST)
        );
    }
}
