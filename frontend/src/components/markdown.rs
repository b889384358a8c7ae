//! Markdown as it is read: only the tags of this program, whatever the text holds.

use leptos::html;
use leptos::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Markup;
use crate::reactive::effect;

/// What an address of a link may begin with.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// A text in Markdown, shown as it is read. HTML in it stays text, and links lead to web pages only.
#[component]
pub(crate) fn Markdown(
    /// The text.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let element = NodeRef::<html::Div>::new();
    effect(move || {
        if let Some(element) = element.get() {
            element.set_inner_html(text.with(|text| rendered(text)).as_str());
        }
    });
    view! { <div class="prose" node_ref=element></div> }
}

fn rendered(text: &str) -> Markup {
    let mut markup = Markup::default();
    // Whether each open link has a tag.
    let mut links = Vec::new();
    let mut is_head = false;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let leads = SCHEMES.iter().any(|scheme| dest_url.starts_with(scheme));
                links.push(leads);
                if leads {
                    markup
                        .tags(r#"<a rel="noopener noreferrer" href=""#)
                        .text(&dest_url)
                        .tags(r#"">"#);
                }
            }
            Event::End(TagEnd::Link) => {
                let has_tag = links.pop() == Some(true);
                markup.tags(if has_tag { "</a>" } else { "" });
            }
            Event::Start(tag) => {
                is_head = matches!(tag, Tag::TableHead) || (is_head && !matches!(tag, Tag::TableRow));
                markup.tags(opening(&tag, is_head));
            }
            Event::End(tag) => {
                markup.tags(closing(tag, is_head));
            }
            Event::Code(code) => {
                markup.tags("<code>").text(&code).tags("</code>");
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                markup.text(&text);
            }
            Event::SoftBreak => {
                markup.tags("\n");
            }
            Event::HardBreak => {
                markup.tags("<br>");
            }
            Event::Rule => {
                markup.tags("<hr>");
            }
            _ => {}
        }
    }
    markup
}

/// Headings begin below those of the page.
fn opening(tag: &Tag<'_>, is_head: bool) -> &'static str {
    match tag {
        Tag::Paragraph => "<p>",
        Tag::Heading { level, .. } => match level {
            HeadingLevel::H1 => "<h3>",
            HeadingLevel::H2 => "<h4>",
            HeadingLevel::H3 => "<h5>",
            _ => "<h6>",
        },
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(_) => r#"<pre tabindex="0"><code>"#,
        Tag::List(None) => "<ul>",
        Tag::List(Some(_)) => "<ol>",
        Tag::Item => "<li>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        Tag::Strikethrough => "<s>",
        Tag::Table(_) => r#"<div class="table-wrap"><table>"#,
        Tag::TableHead => "<thead><tr>",
        Tag::TableRow => "<tr>",
        Tag::TableCell if is_head => r#"<th scope="col">"#,
        Tag::TableCell => "<td>",
        Tag::Image { .. } => r#"<span class="muted">"#,
        _ => "",
    }
}

fn closing(tag: TagEnd, is_head: bool) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::Heading(level) => match level {
            HeadingLevel::H1 => "</h3>",
            HeadingLevel::H2 => "</h4>",
            HeadingLevel::H3 => "</h5>",
            _ => "</h6>",
        },
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</code></pre>",
        TagEnd::List(false) => "</ul>",
        TagEnd::List(true) => "</ol>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Strikethrough => "</s>",
        TagEnd::Table => "</table></div>",
        TagEnd::TableHead => "</tr></thead>",
        TagEnd::TableRow => "</tr>",
        TagEnd::TableCell if is_head => "</th>",
        TagEnd::TableCell => "</td>",
        TagEnd::Image => "</span>",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::rendered;

    #[test]
    fn what_is_written_is_read() {
        for (text, expected) in [
            (
                "# One\n\ntwo *three* **four** `5`",
                "<h3>One</h3><p>two <em>three</em> <strong>four</strong> <code>5</code></p>",
            ),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("1. a", "<ol><li>a</li></ol>"),
            (
                "[a](https://example.com/?b=\"c\")",
                "<p><a rel=\"noopener noreferrer\" href=\"https://example.com/?b=&quot;c&quot;\">a</a></p>",
            ),
            (
                "|a|\n|-|\n|b|",
                "<div class=\"table-wrap\"><table><thead><tr><th scope=\"col\">a</th></tr></thead><tr><td>b</td></tr></table></div>",
            ),
        ] {
            assert_eq!(rendered(text).as_str(), expected, "{text}");
        }
    }

    #[test]
    fn no_html_and_no_script_comes_through() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[a](javascript:alert(1))",
            "[a]( java\tscript:alert(1))",
            "[a](data:text/html,x)",
            "![a](https://example.com/x.png \"onerror=alert(1)\")",
            "<https://example.com/\"onmouseover=alert(1)>",
        ] {
            let html = rendered(text).as_str().to_owned();
            for tag in [
                "<script",
                "<img",
                "javascript:alert(1)\"",
                "href=\"data",
                "\"onmouseover",
            ] {
                assert!(!html.contains(tag), "{text}: {html}");
            }
        }
    }
}
