//! From matches to recommendations: only what the caller holds, by the decision that calls get.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Index;
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::{ANY, GroupSet, parents};
use crate::snapshot::{CompiledTool, Denial, ProjectSnapshot};

/// The number of its best tools by which a group is judged.
const TOOLS_OF_GROUP: usize = 10;
/// The number of best matches that are considered; what is beyond them would not be shown.
const CONSIDERED: usize = 2_000;
/// The number of tools that are read for groups when nothing fits the question.
const WITHOUT_A_MATCH: usize = 10_000;

/// A question.
pub struct RecommendationQuestion<'a> {
    /// What is to be done.
    pub question: &'a str,
    /// What the caller holds.
    pub granted: &'a GroupSet,
    /// The preferred groups; `None`: whatever is granted.
    pub preferred: Option<&'a [String]>,
    /// The workflow state; absent and `""` are `undefined`.
    pub state: Option<&'a str>,
    /// The time, the source and the principal.
    pub evaluation: &'a EvaluationContext<'a>,
    /// Entries per list.
    pub limit: usize,
}

/// A tool that fits.
#[derive(Debug, Clone)]
pub struct Found {
    /// The tool.
    pub tool: Arc<CompiledTool>,
    /// From above 0 to below 1.
    pub score: f64,
    /// How often it was called lately.
    pub usage: u64,
    /// What to ask for to reach it, of what the caller holds.
    pub groups: Vec<String>,
}

/// A group that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundGroup {
    /// The group.
    pub group: String,
    /// From 0 to below 1: what the scores of its best tools come to if each is a chance of its own.
    pub score: f64,
    /// Its best tools, best first.
    pub tools: Vec<String>,
    /// How many of its tools fit and can be called now; with a score of 0: how many can be called now.
    pub fitting: usize,
    /// Whether it is not among the preferred groups.
    pub fallback: bool,
}

/// What fits a question.
#[derive(Debug)]
pub struct Ranking {
    /// Tools of the preferred groups that can be called now.
    pub tools: Vec<Found>,
    /// Tools that the caller holds but cannot call now with the preferred groups in this state.
    pub elsewhere: Vec<Found>,
    /// Groups to ask for.
    pub groups: Vec<FoundGroup>,
}

/// Ranks the tools and groups that a caller holds. `usage` decides between equal scores.
///
/// # Errors
/// When a preferred group was not granted; the request is then refused as a whole.
pub fn rank(
    snapshot: &ProjectSnapshot,
    index: &Index,
    asked: &RecommendationQuestion<'_>,
    usage: impl Fn(&CompiledTool) -> u64,
) -> Result<Ranking, Denial> {
    let everything = asked.granted.to_vec();
    let preferred = asked.preferred.unwrap_or(&everything);
    snapshot.resolve(asked.granted, Some(preferred), asked.state, asked.evaluation)?;
    let visible = snapshot.visible(asked.granted);
    let callable = |requested: &[String], name: &str| {
        snapshot
            .decide(
                asked.granted,
                Some(requested),
                asked.state,
                name,
                asked.evaluation,
            )
            .is_allowed()
    };

    let mut ranking = Ranking {
        tools: Vec::new(),
        elsewhere: Vec::new(),
        groups: Vec::new(),
    };
    let mut groups = Groups::new(asked.granted, preferred);
    let mut fitting: Vec<Found> = index
        .search(asked.question)
        .into_iter()
        .filter_map(|found| {
            let tool = snapshot.tools().get(found.position)?;
            Some((visible.tool(tool.name())?, found.score))
        })
        .take(CONSIDERED)
        .map(|(tool, score)| Found {
            tool: Arc::clone(tool),
            score,
            usage: usage(tool),
            groups: ways(tool, asked.granted),
        })
        .collect();
    fitting.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.usage.cmp(&a.usage))
            .then_with(|| a.tool.name().cmp(b.tool.name()))
    });
    for found in fitting {
        let name = found.tool.name();
        if callable(&everything, name) {
            groups.add(&found.tool, found.score);
        }
        let list = if callable(preferred, name) {
            &mut ranking.tools
        } else {
            &mut ranking.elsewhere
        };
        if list.len() < asked.limit {
            list.push(found);
        }
    }
    if groups.is_empty() {
        // Nothing fits: say at least where something can be called.
        for tool in visible.iter().take(WITHOUT_A_MATCH) {
            if callable(&everything, tool.name()) {
                groups.add(tool, 0.0);
            }
        }
    }
    ranking.groups = groups.best(asked.limit);
    Ok(ranking)
}

/// What to ask for to reach a tool: those of its groups that are granted, or `*` for one without groups.
fn ways(tool: &CompiledTool, granted: &GroupSet) -> Vec<String> {
    let named: Vec<String> = tool
        .groups
        .iter()
        .filter(|group| granted.covers(group))
        .cloned()
        .collect();
    if named.is_empty() {
        vec![ANY.to_owned()]
    } else {
        named
    }
}

/// Adds up what the tools of each group are worth.
struct Groups<'a> {
    granted: &'a GroupSet,
    preferred: GroupSet,
    by_name: BTreeMap<String, Sum>,
}

#[derive(Default)]
struct Sum {
    /// The chance that none of the tools is the right one.
    miss: Option<f64>,
    tools: Vec<String>,
    fitting: usize,
}

impl<'a> Groups<'a> {
    fn new(granted: &'a GroupSet, preferred: &[String]) -> Self {
        Self {
            granted,
            preferred: preferred.iter().cloned().collect(),
            by_name: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Tools come best first, so the first ones are the best of their groups.
    fn add(&mut self, tool: &CompiledTool, score: f64) {
        let names: HashSet<&str> = tool
            .groups
            .iter()
            .flat_map(|group| std::iter::once(group.as_str()).chain(parents(group)))
            .filter(|group| *group != ANY && self.granted.covers(group))
            .collect();
        for name in names {
            let sum = self.by_name.entry(name.to_owned()).or_default();
            sum.fitting += 1;
            if sum.tools.len() < TOOLS_OF_GROUP {
                sum.miss = Some(sum.miss.unwrap_or(1.0) * (1.0 - score));
                sum.tools.push(tool.name().to_owned());
            }
        }
    }

    /// The preferred ones; only if there is none, the others.
    fn best(self, limit: usize) -> Vec<FoundGroup> {
        let preferred = self.preferred;
        let mut found: Vec<FoundGroup> = self
            .by_name
            .into_iter()
            .map(|(group, sum)| FoundGroup {
                fallback: !preferred.covers(&group),
                score: 1.0 - sum.miss.unwrap_or(1.0),
                tools: sum.tools,
                fitting: sum.fitting,
                group,
            })
            .collect();
        if found.iter().any(|group| !group.fallback) {
            found.retain(|group| !group.fallback);
        }
        found.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                // Of two groups with the same tools the narrower one is enough.
                .then(b.group.matches('/').count().cmp(&a.group.matches('/').count()))
                .then(b.fitting.cmp(&a.fitting))
                .then_with(|| a.group.cmp(&b.group))
        });
        found.truncate(limit);
        found
    }
}
