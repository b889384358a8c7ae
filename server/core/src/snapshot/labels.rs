//! Declared groups and states: names with a description, and conditions on groups. What tools use needs no declaration.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::ProjectSnapshot;
use crate::policy::group_conditions::{ConditionsByGroup, GroupCondition};

/// A declared group or state as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelInput {
    /// The name, matched exactly.
    pub name: String,
    /// For people and models; may be empty.
    pub description: String,
    /// When the group is open; always without one. States have none.
    pub condition: Option<String>,
    /// The version of the project that its last change made.
    pub revision: i64,
    /// When that was.
    pub updated_at: DateTime<Utc>,
    /// Who made it.
    pub updated_by: String,
}

/// A declared group.
#[derive(Debug)]
pub struct DeclaredGroup {
    /// What was declared.
    pub label: LabelInput,
    /// Its condition, compiled.
    pub condition: Option<Arc<GroupCondition>>,
}

/// All that is declared in a project.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) groups: BTreeMap<String, DeclaredGroup>,
    pub(super) states: BTreeMap<String, LabelInput>,
    pub(super) conditions: ConditionsByGroup,
}

impl Labels {
    /// Compiles what is declared; a condition with the same text in `previous` is taken over.
    pub(super) fn new(
        groups: Vec<LabelInput>,
        states: Vec<LabelInput>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        let known = |label: &LabelInput| {
            let before = previous?.labels.groups.get(&label.name)?;
            (before.label.condition == label.condition)
                .then(|| before.condition.clone())
                .flatten()
        };
        let groups: BTreeMap<String, DeclaredGroup> = groups
            .into_iter()
            .map(|label| {
                let condition = known(&label).or_else(|| {
                    label
                        .condition
                        .as_deref()
                        .map(|source| Arc::new(GroupCondition::new(source)))
                });
                (label.name.clone(), DeclaredGroup { label, condition })
            })
            .collect();
        let conditions = groups
            .iter()
            .filter_map(|(name, group)| Some((name.as_str().into(), Arc::clone(group.condition.as_ref()?))))
            .collect();
        Self {
            groups,
            states: states
                .into_iter()
                .map(|label| (label.name.clone(), label))
                .collect(),
            conditions,
        }
    }
}
