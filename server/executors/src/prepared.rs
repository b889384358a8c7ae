//! A tool with what can be computed once per revision instead of once per call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::redact::MarkedParameters;

use crate::config::ExecutorConfig;
use crate::executor::Prepared;
use crate::failure::Failure;
use crate::guard::BreakerPolicy;
use crate::result::ResultTemplate;

/// A revision of a tool as the guards know it.
pub(crate) struct PreparedTool {
    /// The definition it was made from.
    pub(crate) definition: Arc<ToolDefinition>,
    /// The service that it refers to, as it was then.
    pub(crate) service: Option<Arc<ServiceDefinition>>,
    /// Another number for another revision.
    pub(crate) number: u64,
    /// How long one call may take.
    pub(crate) timeout: Duration,
    /// When its circuit breaker opens.
    pub(crate) breaker: BreakerPolicy,
    /// The places for calls at the same time that the definition has, if it says.
    pub(crate) running: Option<Semaphore>,
    /// How long an answer serves further calls, if it may.
    pub(crate) keep: Option<Duration>,
    /// Which arguments are secret, as the definition says.
    pub(crate) marked: Option<MarkedParameters>,
    /// What becomes of results, where its executor does not follow that itself.
    pub(crate) shape: Option<ResultTemplate>,
    /// What its executor made of it, or why the definition cannot be executed.
    pub(crate) executable: Result<Box<dyn Prepared>, Failure>,
}

/// The number of the next revision.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn places(count: u32) -> Semaphore {
    Semaphore::new(usize::try_from(count).unwrap_or(Semaphore::MAX_PERMITS))
}

impl PreparedTool {
    pub(crate) fn new(
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
        config: &ExecutorConfig,
        executable: Result<Box<dyn Prepared>, Failure>,
    ) -> Self {
        let options = &definition.options;
        // What an executor does not do itself is prepared here.
        let guarded = |executable: &dyn Prepared| match options.result() {
            Some(result) if !executable.shapes() => ResultTemplate::new(result).map(Some),
            _ => Ok(None),
        };
        let (executable, shape) = match executable {
            Ok(executable) => match guarded(&*executable) {
                Ok(shape) => (Ok(executable), shape),
                Err(failure) => (Err(failure), None),
            },
            Err(failure) => (Err(failure), None),
        };
        let timeout = options
            .timeout_ms
            .map_or(config.default_timeout, Duration::from_millis)
            .clamp(Duration::from_millis(1), config.max_timeout);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            timeout,
            breaker: BreakerPolicy::new(options.breaker()),
            running: options.concurrency().map(places),
            keep: options
                .cache()
                .map(|cache| Duration::from_secs(cache.ttl_s.into())),
            marked: MarkedParameters::of(&definition.parameters.value()),
            definition: Arc::clone(definition),
            service: service.cloned(),
            shape,
            executable,
        }
    }

    /// Whether it was made from this very definition and service.
    pub(crate) fn is_of(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
    ) -> bool {
        let same_service = match (&self.service, service) {
            (None, None) => true,
            (Some(known), Some(service)) => Arc::ptr_eq(known, service),
            _ => false,
        };
        same_service && Arc::ptr_eq(&self.definition, definition)
    }
}

#[cfg(test)]
#[path = "pinned_tests.rs"]
mod pinned_tests;
