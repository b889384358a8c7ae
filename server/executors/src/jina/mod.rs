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

pub(crate) mod answer;
mod envelope;
mod headers;
mod template;

pub(crate) use template::JinaTemplate;
