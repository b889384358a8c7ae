//! Uploading definitions: drop files, see the verdict and the differences, apply.

mod files;
mod page;
mod report;

pub(crate) use files::FileDrop;
pub(crate) use page::UploadPage;
