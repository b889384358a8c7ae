//! What goes into the store and comes out of it. Typed ids outside, raw columns inside the modules that own them.

mod accounts;
mod alerts;
mod announcements;
mod artifacts;
mod claims;
mod connections;
mod deferred;
mod definitions;
mod directory;
mod documents;
mod guides;
mod imports;
mod notices;
mod records;
mod secrets;
mod sessions;
mod usage;

pub use toolgate_core::record::RecordFilter;

pub use self::accounts::{AccountFlowRow, AccountRow};
pub use self::alerts::{AlertFilter, DueAlert, NO_PROJECT, NewAlert};
pub use self::announcements::{AnnouncedProgram, AnnouncementClaim, ProgramKey};
pub use self::artifacts::{ArtifactLimits, ArtifactRow};
pub use self::claims::{Claim, Claimed, IdempotencyKey, KeptAnswer, Settlement};
pub use self::connections::{CodeRow, CodeUse, ConnectionRow, OauthClientRow, Refresh, RefreshTokenRow};
pub use self::deferred::{DeferredCall, OpenDeferral};
pub use self::definitions::{
    ProjectChanges, ProjectParts, ProjectRow, ProjectRows, Publication, RevisionRow, ServiceRow, ToolRow,
};
pub use self::directory::{
    DirectoryRows, GrantRow, KeyRotation, KeyRow, PreviousSecret, RevokedTokenRow, SecondFactorRow,
    SignInRow, SigningKeyRow, UserChange, UserIdentity, UserRow,
};
pub use self::documents::{Replacement, Revised};
pub use self::guides::{GuideRow, McpClientRow};
pub use self::imports::{ImportChange, ImportOperationRow, ImportRow, WaitingRow};
pub use self::notices::{DueNotice, MessageDeliveries};
pub use self::records::{
    ChainPlace, Completed, Completion, Noted, Opening, RecordOrder, RecordPage, RecordRange, RecordSeq,
    SessionMove,
};
pub use self::secrets::{NewSecret, Resealed, ResealedSecret, SecretRow, SecretUse};
pub use self::sessions::{
    SessionAdmission, SessionEnd, SessionFilter, SessionLimits, SessionPlace, SessionRow, TransitionRow,
};
pub use self::usage::{
    GroupUseRow, SeriesQuery, SeriesRow, SeriesSlot, Took, UsageDelta, UsageKind, UsageTotal,
};
