//! What parameters and bodies of a request have in common: styles, media types and flags.

use crate::definition::fields;
use crate::definition::model::request::ParameterStyle;
use crate::definition::nearest::nearest;
use crate::definition::node::Cursor;
use crate::definition::report::{Report, Spot, listed, shown};
use crate::http_mapping::media::is_media_type;

/// Longest name of a parameter, in characters.
pub(super) const LONGEST_NAME: usize = 256;

/// Reports an explode that the style does not have.
pub(super) fn exploded(
    cursor: &Cursor<'_>,
    style: ParameterStyle,
    explode: Option<bool>,
    report: &mut Report,
) {
    let is_delimited = matches!(
        style,
        ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited
    );
    if is_delimited && explode == Some(true) {
        report.error(
            &cursor.find("/explode").spot,
            format!("the style {} has no exploded form", style.as_str()),
            "write style: form for one name=value per item",
        );
    }
}

/// The style, where it is one of those that exist at this place.
pub(super) fn style(
    cursor: &Cursor<'_>,
    allowed: Option<&[ParameterStyle]>,
    report: &mut Report,
) -> Option<ParameterStyle> {
    let at = cursor.get("style")?;
    let text = fields::string(&at, "style", report)?;
    let style = one_of(&text, "style", &ParameterStyle::ALL, &at.spot, report)?;
    if let Some(allowed) = allowed
        && !allowed.contains(&style)
    {
        let hint = if allowed.is_empty() {
            "remove it".to_owned()
        } else {
            format!(
                "styles here are {}",
                listed(allowed.iter().map(|style| style.as_str()))
            )
        };
        report.error(&at.spot, format!("the style {text} does not exist here"), hint);
        return None;
    }
    Some(style)
}

/// One of several words.
pub(super) fn one_of<T: Copy>(
    text: &str,
    what: &str,
    known: &[(&'static str, T)],
    spot: &Spot,
    report: &mut Report,
) -> Option<T> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == text) {
        return Some(*value);
    }
    let names = || known.iter().map(|(name, _)| *name);
    let hint = match nearest(text, names()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("write {}", listed(names())),
    };
    report.error(spot, format!("unknown {what} {}", shown(text)), hint);
    None
}

/// `true` or `false`, where it is said.
pub(super) fn flag(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<bool> {
    cursor.get(key).and_then(|at| fields::boolean(&at, key, report))
}

/// One media type.
pub(super) fn media_type(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let text = fields::word(cursor, key, LONGEST_NAME, report)?;
    if !is_media_type(&text) {
        report.error(
            &cursor.spot,
            format!("{} is no media type", shown(&text)),
            "write application/json, for example",
        );
        return None;
    }
    Some(text)
}
