//! Markup for what is made many times over: the browser reads it in one go, which takes it a fraction of the time that
//! making element by element does.

use chrono::{DateTime, Utc};

use super::Symbol;
use super::time::told_at;
use crate::browser::iso;

/// Markup whose tags are this program's own: whatever else goes in is escaped.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// What was written so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Tags. They are constants of the program, never made of what came from elsewhere.
    pub(crate) fn tags(&mut self, tags: &'static str) -> &mut Self {
        self.0.push_str(tags);
        self
    }

    /// Any text, as content or as the value of an attribute in double quotes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(letter),
            }
        }
        self
    }

    /// Names as a list of tags, or what is said when there is none; as [`super::Tags`].
    pub(crate) fn names(&mut self, names: &[String], none: &'static str) -> &mut Self {
        if names.is_empty() {
            return self.tags(r#"<span class="muted">"#).text(none).tags("</span>");
        }
        self.tags(r#"<ul class="tags">"#);
        for name in names {
            self.tags(r#"<li class="tag">"#).text(name).tags("</li>");
        }
        self.tags("</ul>")
    }

    /// How long ago something was; as [`super::TimeAgo`], with classes.
    pub(crate) fn time(&mut self, classes: &'static str, at: DateTime<Utc>) -> &mut Self {
        let exact = iso(at);
        self.tags(r#"<time class=""#)
            .tags(classes)
            .tags(r#"" datetime=""#)
            .text(&exact)
            .tags(r#"" title=""#)
            .text(&crate::browser::stamp_of(&exact))
            .tags(r#"">"#)
            .text(&told_at(at))
            .tags("</time>")
    }

    /// An icon; as [`super::Icon`].
    pub(crate) fn icon(&mut self, symbol: Symbol) -> &mut Self {
        self.tags(r#"<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=""#)
            .tags(symbol.path())
            .tags(r#""></path></svg>"#)
    }
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn whatever_is_written_stays_text() {
        let mut markup = Markup::default();
        markup
            .tags(r#"<a title=""#)
            .text(r#""><img src=x onerror='f()'>"#)
            .tags(r#"">"#)
            .text("</a> & &lt; \u{202e}é")
            .tags("</a>");
        assert_eq!(
            markup.as_str(),
            "<a title=\"&quot;&gt;&lt;img src=x onerror=&#39;f()&#39;&gt;\">&lt;/a&gt; &amp; &amp;lt; \u{202e}é</a>"
        );
    }

    #[test]
    fn names_are_a_list_or_a_word() {
        let made = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            let mut markup = Markup::default();
            markup.names(&names, "none");
            markup.as_str().to_owned()
        };
        assert_eq!(made(&[]), r#"<span class="muted">none</span>"#);
        assert_eq!(
            made(&["a", "<b>"]),
            r#"<ul class="tags"><li class="tag">a</li><li class="tag">&lt;b&gt;</li></ul>"#
        );
    }
}
