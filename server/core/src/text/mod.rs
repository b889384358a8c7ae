//! Texts that people and other programs write: YAML and JSON, as trees whose values know their place, with every fault in them at
//! once.
//!
//! `yaml` and `json` read a text into `node`s, within `limits`; `scalar` says what an unquoted value means, and which form a number
//! has; `report` collects the faults. YAML has a strict mode for definitions and a patient one for descriptions of APIs, and
//! `yaml::writer` writes it.

pub(crate) mod json;
pub(crate) mod limits;
pub(crate) mod node;
pub(crate) mod report;
pub(crate) mod scalar;
pub(crate) mod yaml;
