//! How much one text may hold.

use super::node::Size;
use super::report::{Report, Spot};

/// The limits of one kind of text.
#[derive(Debug)]
pub(crate) struct Limits {
    /// What the text is, for messages.
    pub(crate) what: &'static str,
    /// Deepest nesting of lists and maps, aliases followed.
    pub(crate) depth: usize,
    /// Most values, aliases followed.
    pub(crate) nodes: usize,
    /// Most bytes of text in the values, aliases followed.
    pub(crate) text: usize,
    /// Most aliases.
    pub(crate) aliases: usize,
    /// What to do about a text that is nested too deeply.
    pub(crate) if_deep: &'static str,
    /// What to do about a text that is too large.
    pub(crate) if_large: &'static str,
}

/// Uploads of definitions.
pub(crate) static UPLOAD: Limits = Limits {
    what: "upload",
    depth: 64,
    nodes: 50_000,
    text: 4 << 20,
    aliases: 1_000,
    if_deep: "definitions are flat; check for unclosed brackets or wrong indentation",
    if_large: "split it into several uploads, or write fewer aliases",
};

/// Descriptions of APIs, which have one value for every 20 to 40 bytes. They may be nested as deeply as the JSON parser allows.
pub(crate) static DESCRIPTION: Limits = Limits {
    what: "description",
    depth: 127,
    nodes: 1_000_000,
    text: 16 << 20,
    aliases: usize::MAX,
    if_deep: "check for unclosed brackets or wrong indentation",
    if_large: "split it, or leave out what is not needed",
};

impl Limits {
    /// That a text is nested too deeply.
    pub(crate) fn too_deep(&self) -> String {
        format!("nested more than {} levels deep", self.depth)
    }
}

/// What one text may still hold.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: &'static Limits,
    nodes: usize,
    text: usize,
}

impl Budget {
    /// Everything that is allowed.
    pub(crate) fn new(limits: &'static Limits) -> Self {
        Self {
            limits,
            nodes: limits.nodes,
            text: limits.text,
        }
    }

    /// Takes what a value needs; false, with an error reported, when that is more than is left.
    pub(crate) fn take(&mut self, size: Size, depth: usize, spot: &Spot, report: &mut Report) -> bool {
        let limits = self.limits;
        if depth + size.height > limits.depth {
            report.error(spot, limits.too_deep(), limits.if_deep);
            return false;
        }
        if size.nodes > self.nodes || size.text > self.text {
            let Limits {
                what, nodes, text, ..
            } = limits;
            let most = format!(
                "at most {nodes} values and {} MiB of text, aliases followed",
                text >> 20
            );
            report.error(spot, format!("the {what} is too large: {most}"), limits.if_large);
            return false;
        }
        self.nodes -= size.nodes;
        self.text -= size.text;
        true
    }
}
