//! What fields for principals, hosts and names of a project offer: those that the lists of the server name.

use leptos::prelude::*;
use serde_json::Value;

use crate::api::in_project;
use crate::components::{Choice, Choices, Names, Source, same};
use crate::contract_words::contract_word;
use crate::session::{Permission, Session};

/// The users, keys and external subjects with a place in a project, as they are written in paths.
pub(crate) fn principals(project: Memo<String>) -> Choices {
    Choices::named(vec![members(project, |row| named(row, "principal"))])
}

/// The same by their ids alone, as the record has them.
pub(crate) fn principal_ids(project: Memo<String>) -> Choices {
    Choices::named(vec![members(project, |row| named(row, "id"))])
}

/// The same by their names.
pub(crate) fn principal_names(project: Memo<String>) -> Choices {
    Choices::of(vec![members(project, |row| same(&row["name"]))])
}

/// The users of the server, by their ids.
pub(crate) fn user_ids() -> Choices {
    let users = || "/users?limit=200".to_owned();
    Choices::named(vec![Source::new(users, |user| {
        let (id, name) = (user["id"].as_str(), user["username"].as_str());
        let both = id.zip(name).map(|(id, name)| (id.to_owned(), name.to_owned()));
        both.into_iter().collect()
    })])
}

/// The users of the server, by their names.
pub(crate) fn user_names() -> Choices {
    let users = || "/users?limit=200".to_owned();
    Choices::of(vec![Source::new(users, |user| same(&user["username"]))])
}

/// The origins that imports, tools and MCP servers of a project name, and those that were asked for after a refusal.
pub(crate) fn origins(project: Memo<String>) -> Choices {
    Choices::of(origin_lists(project))
}

/// Their hosts, each with its port if it names one.
pub(crate) fn hosts(project: Memo<String>) -> Choices {
    Choices::of(origin_lists(project)).without_scheme()
}

fn origin_lists(project: Memo<String>) -> Vec<Source> {
    vec![
        list(
            project,
            Permission::ReadDefinitions,
            "imports",
            "limit=200",
            |import| {
                let hosts = import["hosts"].as_array().into_iter().flatten();
                hosts.flat_map(|host| same(&host["origin"])).collect()
            },
        ),
        list(
            project,
            Permission::ReadDefinitions,
            "tools",
            "limit=100&type=openapi",
            |tool| origin(&tool["definition"]["options"]["http"]["base_url"]),
        ),
        list(
            project,
            Permission::ReadDefinitions,
            "mcp-servers",
            "",
            |server| origin(&server["definition"]["url"]),
        ),
        list(
            project,
            Permission::ManageAccess,
            "access-requests",
            "limit=200",
            |request| same(&request["asked"]["origin"]),
        ),
    ]
}

/// The names of a project that values of definitions refer to, by their keys.
pub(crate) fn definition_names(project: Memo<String>) -> Names {
    let of = |permission: Permission, part: &'static str, query: &'static str| {
        Choices::of(vec![list(project, permission, part, query, |item| {
            same(&item["name"])
        })])
    };
    let states = of(Permission::ReadDefinitions, "states", "limit=200");
    let services = list(
        project,
        Permission::ReadDefinitions,
        "tool-services",
        "limit=200",
        |item| same(&item["id"]),
    );
    Names(vec![
        ("group", of(Permission::ReadDefinitions, "groups", "limit=200")),
        ("available_in_states", states),
        ("state", states),
        ("secret", of(Permission::ManageSecrets, "secrets", "limit=200")),
        ("mcp_server", of(Permission::ReadDefinitions, "mcp-servers", "")),
        ("service", Choices::of(vec![services])),
    ])
}

fn members(project: Memo<String>, read: fn(&Value) -> Vec<Choice>) -> Source {
    // Only what is granted as `*`: the groups are of no use here.
    list(
        project,
        Permission::ReadAccess,
        "permissions",
        "limit=200&group=*",
        read,
    )
}

/// A list of a project, for those who may read it.
fn list(
    project: Memo<String>,
    permission: Permission,
    part: &'static str,
    query: &'static str,
    read: fn(&Value) -> Vec<Choice>,
) -> Source {
    let session = Session::get();
    let address = move || {
        if session.may(&project.get(), permission) {
            in_project(&project.get(), &[part]) + "?" + query
        } else {
            String::new()
        }
    };
    Source::new(address, read)
}

/// A principal under a key of its row, read by its name and kind.
fn named(row: &Value, key: &str) -> Vec<Choice> {
    let (Some(value), Some(name)) = (row[key].as_str(), row["name"].as_str()) else {
        return Vec::new();
    };
    let kind = contract_word(&row["kind"]).replace('_', " ");
    vec![(value.to_owned(), format!("{name} ({kind})"))]
}

/// The origin of an address; nothing for one whose beginning is a variable.
fn origin(address: &Value) -> Vec<Choice> {
    let origin = address.as_str().and_then(|address| {
        let (scheme, rest) = address.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        (!host.is_empty() && !address.contains('$')).then(|| format!("{scheme}://{host}"))
    });
    same(&origin.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::origin;

    #[test]
    fn an_origin_is_what_is_before_the_path() {
        for (address, expected) in [
            (
                "https://petstore.example.com/v1?a=b",
                Some("https://petstore.example.com"),
            ),
            ("http://10.0.0.5:8080", Some("http://10.0.0.5:8080")),
            ("https://${HOST}/v1", None),
            ("petstore", None),
        ] {
            let found = origin(&json!(address)).pop().map(|(value, _)| value);
            assert_eq!(found.as_deref(), expected, "{address}");
        }
    }
}
