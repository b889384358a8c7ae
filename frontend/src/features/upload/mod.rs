//! Uploading definitions, and whole projects: drop files, see the verdict and the differences, apply.

mod files;
mod page;
mod project;
mod report;

pub(crate) use files::FileDrop;
pub(crate) use page::UploadPage;
