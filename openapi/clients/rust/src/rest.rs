//! Cards that are larger than a message of the bus: the REST API takes and gives them.

use bytes::Bytes;
use reqwest::StatusCode;

/// Where the REST API is, and a service key for it.
#[derive(Clone)]
pub(crate) struct Rest {
    url: String,
    key: String,
}

impl Rest {
    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
        }
    }

    /// That of `TOOLGATE_URL` and `TOOLGATE_KEY`, if both are set.
    pub(crate) fn from_env() -> Option<Self> {
        let set = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        Some(Self::new(&set("TOOLGATE_URL")?, &set("TOOLGATE_KEY")?))
    }

    /// Stores the card of a result.
    ///
    /// # Errors
    /// Why it is not stored.
    pub(crate) async fn store_card(&self, project: &str, card: &str) -> Result<(), String> {
        let request = reqwest::Client::new()
            .post(format!("{}/projects/{project}/cards", self.url))
            .bearer_auth(&self.key)
            .header("content-type", "application/json")
            .body(card.to_owned());
        let answer = request.send().await.map_err(|error| error.to_string())?;
        match answer.status() {
            // Another worker, or an earlier delivery, has stored it.
            status if status.is_success() || status == StatusCode::CONFLICT => Ok(()),
            status => Err(format!(
                "the REST API answers {status}: {}",
                answer.text().await.unwrap_or_default()
            )),
        }
    }

    /// A card, whole.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) async fn read_card(&self, project: &str, id: &str) -> Result<Bytes, String> {
        let request = reqwest::Client::new()
            .get(format!("{}/projects/{project}/cards/{id}", self.url))
            .bearer_auth(&self.key);
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(|error| error.to_string())?;
        if status.is_success() {
            return Ok(body);
        }
        Err(format!(
            "the REST API answers {status}: {}",
            String::from_utf8_lossy(&body)
        ))
    }
}
