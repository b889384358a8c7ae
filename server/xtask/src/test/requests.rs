//! The stage about the requests that imported tools send: an independent library reads them by the same description.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::api::{Checked, checks, fresh};
use super::count::{self, Tally};
use crate::server::free_port;
use crate::sh::Sh;
use crate::{install, openapi, paths};

/// Where extracts of public descriptions stand.
const EXTRACTS: &str = "server/core/src/openapi_import/tests/extracts";
/// The Node package with example descriptions (MIT; those of the OpenAPI Initiative in it: Apache 2.0), by version.
const EXAMPLES: &str = "node_modules/@readme/oas-examples";
const VERSIONS: [&str; 3] = ["2.0", "3.0", "3.1"];

/// Imports every description into a server, calls every tool with generated arguments, and lets the reference server of
/// `openapi/tests/judge` say whether the requests follow the description.
pub(super) fn run() -> Result<Tally> {
    let bin = install::python("python", &checks().join("requirements.txt"))?;
    let packages = install::node_packages("api-checks", &checks())?;
    let descriptions = descriptions(&packages)?;
    let port = free_port()?;
    let checked = Checked::start(&[&format!("http://127.0.0.1:{port}")])?;
    let admin = checked.admin()?;
    let run = Sh::new(bin.join("python"))
        .arg(checks().join("judge/judge.py"))
        .env("TOOLGATE_ADDRESS", checked.address())
        .env("TOOLGATE_TOKEN", admin.token().unwrap_or_default())
        .env("REFERENCE_PORT", port.to_string())
        .env("DESCRIPTIONS", descriptions)
        .env("HYPOTHESIS_STORAGE_DIRECTORY", paths::tools().join("hypothesis"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let tally = count::tap(&run.tee()?);
    checked.stop()?;
    Ok(tally)
}

/// A folder with every description; those of Swagger 2.0 also as an independent converter writes them in OpenAPI 3.0, because
/// the library reads no other.
fn descriptions(packages: &Path) -> Result<PathBuf> {
    let folder = fresh(&paths::tools().join("descriptions"))?;
    let put = |from: &Path, name: &str| {
        fs::copy(from, folder.join(name)).with_context(|| format!("cannot copy {}", from.display()))
    };
    put(&openapi::file(), "toolgate.json")?;
    for file in files(&paths::root().join(EXTRACTS))? {
        put(&file, &name_of(&file))?;
    }
    for version in VERSIONS {
        for file in files(&packages.join(EXAMPLES).join(version).join("json"))? {
            put(&file, &format!("{version}-{}", name_of(&file)))?;
        }
    }
    let swagger = files(&folder)?.into_iter().filter(|file| is_swagger(file));
    Sh::new(install::node()?.join("node"))
        .arg(checks().join("judge/convert.mjs"))
        .arg(packages)
        .args(swagger)
        .run()?;
    Ok(folder)
}

fn is_swagger(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| {
        text.lines()
            .any(|line| line.trim_start().trim_start_matches('"').starts_with("swagger"))
    })
}

fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}
