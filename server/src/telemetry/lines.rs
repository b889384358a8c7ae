//! How a line of a JSON log looks: a flat object. The record of a request is itself an object, so its members become
//! those of the line.

use std::fmt;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::gateway::observe::REQUEST_TARGET;

/// Writes request records itself and leaves everything else to the format inside.
#[derive(Debug, Clone)]
pub(super) struct JsonLines<F>(pub(super) F);

impl<S, N, F> FormatEvent<S, N> for JsonLines<F>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut record = Record(None);
        if event.metadata().target() == REQUEST_TARGET {
            event.record(&mut record);
        }
        let Some(members) = record.0.as_deref().and_then(|record| record.strip_prefix('{')) else {
            return self.0.format_event(context, writer, event);
        };
        writer.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut writer)?;
        let level = event.metadata().level();
        writeln!(
            writer,
            "\",\"level\":\"{level}\",\"target\":\"{REQUEST_TARGET}\",{members}"
        )
    }
}

/// The field `record` of an event.
struct Record(Option<String>);

impl Visit for Record {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "record" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
