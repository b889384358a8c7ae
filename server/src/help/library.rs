//! The texts, and what is made of them: HTML, headings and sections.

use std::sync::LazyLock;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The guides by their files, in the order of the list of contents.
const TEXTS: [(&str, &str); 25] = [
    ("tools", include_str!("../../docs/tools.md")),
    ("http-tools", include_str!("../../docs/http-tools.md")),
    ("static-tools", include_str!("../../docs/static-tools.md")),
    ("openapi-import", include_str!("../../docs/openapi-import.md")),
    ("mcp-servers", include_str!("../../docs/mcp-servers.md")),
    ("tool-services", include_str!("../../docs/tool-services.md")),
    ("workers", include_str!("../../docs/workers.md")),
    (
        "groups-and-states",
        include_str!("../../docs/groups-and-states.md"),
    ),
    ("permissions", include_str!("../../docs/permissions.md")),
    (
        "explain-and-policy-tests",
        include_str!("../../docs/explain-and-policy-tests.md"),
    ),
    (
        "limits-and-secrets",
        include_str!("../../docs/limits-and-secrets.md"),
    ),
    ("projects", include_str!("../../docs/projects.md")),
    ("accounts", include_str!("../../docs/accounts.md")),
    ("single-sign-on", include_str!("../../docs/single-sign-on.md")),
    ("profile", include_str!("../../docs/profile.md")),
    ("mcp", include_str!("../../docs/mcp.md")),
    ("connections", include_str!("../../docs/connections.md")),
    ("tools-as-api", include_str!("../../docs/tools-as-api.md")),
    ("bus-entrance", include_str!("../../docs/bus-entrance.md")),
    (
        "calls-that-take-time",
        include_str!("../../docs/calls-that-take-time.md"),
    ),
    ("sessions", include_str!("../../docs/sessions.md")),
    ("record", include_str!("../../docs/record.md")),
    ("alerts", include_str!("../../docs/alerts.md")),
    ("status", include_str!("../../docs/status.md")),
    ("metrics", include_str!("../../docs/metrics.md")),
];

/// A guide.
#[derive(Debug)]
pub struct Guide {
    /// Its name in addresses.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// Its text as HTML, which this program has made from its own files.
    pub html: String,
    /// Its parts, the beginning first.
    pub sections: Vec<Section>,
}

/// What is below one heading.
#[derive(Debug, Default)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The heading's anchor; empty at the beginning of a guide.
    pub anchor: String,
    /// The text without marks.
    pub text: String,
}

/// All guides, in the order of the list of contents. They are rendered once.
#[must_use]
pub fn guides() -> &'static [Guide] {
    static GUIDES: LazyLock<Vec<Guide>> =
        LazyLock::new(|| TEXTS.iter().map(|(name, text)| guide(name, text)).collect());
    &GUIDES
}

/// Whether there is a guide of a name.
fn is_guide(name: &str) -> bool {
    TEXTS.iter().any(|(known, _)| *known == name)
}

fn guide(name: &'static str, text: &str) -> Guide {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).map(linked).collect();
    let sections = split(&mut events);
    let mut written = String::new();
    html::push_html(&mut written, events.into_iter());
    Guide {
        name,
        title: sections
            .first()
            .map(|first| first.heading.clone())
            .unwrap_or_default(),
        // Wide tables and code scroll by themselves, and by the keyboard too.
        html: written
            .replace("<table>", "<div class=\"table-wrap\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>")
            .replace("<pre>", "<pre tabindex=\"0\">")
            // A head without text is no head.
            .replace("<th></th>", "<td></td>"),
        sections,
    }
}

/// Links between files lead to the pages of the guides; those to other files of the repository to their list.
fn linked(event: Event<'_>) -> Event<'_> {
    let Event::Start(Tag::Link {
        link_type,
        dest_url,
        title,
        id,
    }) = event
    else {
        return event;
    };
    Event::Start(Tag::Link {
        link_type,
        dest_url: target(&dest_url).map_or(dest_url, CowStr::from),
        title,
        id,
    })
}

/// Where a link leads, if it is to a file.
fn target(link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with('#') {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let name = file.strip_suffix(".md").filter(|name| is_guide(name));
    Some(match (name, anchor) {
        // What is in the repository only is described there; the list of guides is the nearest.
        (None, _) => "/help".to_owned(),
        (Some(name), "") => format!("/help/{name}"),
        (Some(name), anchor) => format!("/help/{name}#{anchor}"),
    })
}

/// Gives every heading its anchor, and collects what is below each.
fn split(events: &mut [Event<'_>]) -> Vec<Section> {
    let mut sections: Vec<Section> = vec![Section::default()];
    let mut heading_at = None;
    for at in 0..events.len() {
        match &events[at] {
            Event::Start(Tag::Heading { .. }) => {
                heading_at = Some(at);
                if !sections[0].heading.is_empty() {
                    sections.push(Section::default());
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let is_first = sections.len() == 1;
                let Some(section) = sections.last_mut() else {
                    continue;
                };
                let anchor = slug(&section.heading);
                if !is_first {
                    section.anchor.clone_from(&anchor);
                }
                if let Some(Event::Start(Tag::Heading { id, .. })) =
                    heading_at.take().and_then(|start| events.get_mut(start))
                {
                    *id = Some(CowStr::from(anchor));
                }
            }
            Event::Text(text) | Event::Code(text) => {
                let Some(section) = sections.last_mut() else {
                    continue;
                };
                let into = if heading_at.is_some() {
                    &mut section.heading
                } else {
                    &mut section.text
                };
                into.push_str(text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) => {
                if let (Some(section), None) = (sections.last_mut(), heading_at) {
                    section.text.push(' ');
                }
            }
            _ => {}
        }
    }
    sections
}

/// An anchor, as the sites that show repositories make them of headings.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}
