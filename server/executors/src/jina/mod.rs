//! The Jina preset: search (`s.jina.ai`) and reader (`r.jina.ai`), as `options.jina` (tool development guide, section 4).
//!
//! How arguments travel:
//!
//! | | GET | POST |
//! |---|---|---|
//! | search | `q` and the others in the query | everything in the JSON body |
//! | reader | target encoded as the path, options as their documented headers | everything in the JSON body of `POST /` |
//!
//! Nothing is ever appended to the reader's target. Environment values never travel in a URL: they are fields of the JSON
//! body with POST, and headers with GET (`X-Proxy-Url` for `proxy_url` or `proxyUrl`), which is where Jina reads its
//! options from. An environment value for `q`, `query`, `url` or `target_url` therefore needs POST.
//!
//! Which names are one argument to Jina is in `toolgate_core::http_mapping::jina`. The layers of arguments are merged by
//! it, so one value arrives here; what would overwrite a constant header is refused.

pub(crate) mod answer;
mod envelope;
pub(crate) mod executor;
mod template;

pub(crate) use template::JinaTemplate;
