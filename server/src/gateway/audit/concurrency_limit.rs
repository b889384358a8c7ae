//! How many readers may be busy at a time: in one project, and in all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_api::ErrorCode;
use toolgate_core::ids::ProjectUid;

use crate::gateway::Problem;

/// A bounded number of permits, shared fairly enough that one project cannot take all of them.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit {
    taken: Arc<Mutex<HashMap<ProjectUid, usize>>>,
    per_project: usize,
    all: usize,
}

/// A permit, until it is dropped.
#[derive(Debug)]
pub struct ConcurrencyPermit {
    taken: Arc<Mutex<HashMap<ProjectUid, usize>>>,
    project: ProjectUid,
}

impl ConcurrencyLimit {
    /// At most `per_project` for each project and `all` in total.
    #[must_use]
    pub fn new(per_project: usize, all: usize) -> Self {
        Self {
            taken: Arc::default(),
            per_project,
            all,
        }
    }

    /// Takes a permit.
    ///
    /// # Errors
    /// 429 when there is none.
    pub fn take(&self, project: ProjectUid) -> Result<ConcurrencyPermit, Problem> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let own = taken.get(&project).copied().unwrap_or_default();
        if own >= self.per_project || all >= self.all {
            return Err(Problem::new(
                ErrorCode::ConcurrencyLimited,
                format!(
                    "As many readers of this kind as there may be are at work ({} in a project). Wait until one has \
                     ended.",
                    self.per_project
                ),
            )
            .retry_after(5));
        }
        taken.insert(project, own + 1);
        Ok(ConcurrencyPermit {
            taken: Arc::clone(&self.taken),
            project,
        })
    }
}

impl Drop for ConcurrencyPermit {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.project) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                taken.remove(&self.project);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn seats_are_counted_per_project_and_in_all() {
        let project = |n: u128| ProjectUid(Uuid::from_u128(n));
        let permits = ConcurrencyLimit::new(2, 3);
        let first = permits.take(project(1)).unwrap();
        let _second = permits.take(project(1)).unwrap();
        assert_eq!(
            permits.take(project(1)).unwrap_err().code(),
            ErrorCode::ConcurrencyLimited
        );
        let third = permits.take(project(2)).unwrap();
        assert!(permits.take(project(3)).is_err());
        drop(first);
        drop(third);
        let _again = (
            permits.take(project(1)).unwrap(),
            permits.take(project(3)).unwrap(),
        );
        assert!(permits.take(project(2)).is_err());
    }
}
