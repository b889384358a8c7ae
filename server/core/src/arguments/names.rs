//! Which names denote the same argument.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::definition::model::Options;
use crate::http_mapping::jina;

/// The names of a tool's arguments. Jina takes several spellings for one argument, so that a value under one of them
/// overwrites that under another; everywhere else each name is an argument of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Each name is an argument.
    Plain,
    /// Several names may be one argument.
    Jina,
}

impl Names {
    /// Those of a tool with these options.
    pub(crate) fn of(options: &Options) -> Self {
        if options.jina.is_some() {
            Self::Jina
        } else {
            Self::Plain
        }
    }

    /// The same for all names of one argument.
    pub(crate) fn key(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Jina => Cow::Owned(jina::key(name)),
            Self::Plain => Cow::Borrowed(name),
        }
    }

    /// Names by their key, where an argument has more than one name; empty elsewhere.
    pub(crate) fn aliases<'n>(
        self,
        names: impl Iterator<Item = &'n String>,
    ) -> HashMap<Cow<'n, str>, &'n String> {
        let aliased = names.filter(|_| self == Self::Jina);
        aliased.map(|name| (self.key(name), name)).collect()
    }

    /// Whether one of `others`, which does not contain `name` itself, is another name of the same argument.
    pub(crate) fn has_alias<'n>(self, name: &str, mut others: impl Iterator<Item = &'n String>) -> bool {
        self == Self::Jina && {
            let key = self.key(name);
            others.any(|other| self.key(other) == key)
        }
    }
}
