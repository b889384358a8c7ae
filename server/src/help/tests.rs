//! Every guide is there, and every link leads somewhere.

use std::collections::BTreeSet;
use std::fs;

use super::{guides, search};

#[test]
fn every_file_is_a_guide() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder")
        .filter_map(|entry| {
            let name = entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name");
            name.strip_suffix(".md").map(str::to_owned)
        })
        .collect();
    let shown = guides().iter().map(|guide| guide.name.to_owned()).collect();
    assert_eq!(files, shown);
}

#[test]
fn links_between_guides_lead_to_sections() {
    let mut followed = 0;
    for guide in guides() {
        for link in guide.html.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap_or_default();
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => guide,
                "/help" => continue,
                path if path.contains("://") => continue,
                path => guides()
                    .iter()
                    .find(|other| path == format!("/help/{}", other.name))
                    .unwrap_or_else(|| panic!("{}: {link}", guide.name)),
            };
            followed += 1;
            let is_there = anchor.is_empty() || target.html.contains(&format!("id=\"{anchor}\""));
            assert!(is_there, "{}: {link}", guide.name);
        }
    }
    assert!(followed > 30, "{followed} links");
}

#[test]
fn sections_are_found_by_their_words() {
    let all = search("");
    assert_eq!(all.len(), guides().len());
    let found = search("requiring SESSIONS");
    assert_eq!(found[0].path, "/help/sessions#requiring-sessions");
    assert!(found.iter().all(|section| !section.excerpt.contains('\n')));
    assert!(search("zebra umbrella quark").is_empty());
    let webhook = search("webhook signature");
    assert!(
        webhook
            .iter()
            .any(|section| section.path.starts_with("/help/alerts#")),
        "{webhook:?}"
    );
}

/// Every text that the dashboard's sources have between a start and the next quotation mark.
fn in_dashboard(folder: &std::path::Path, start: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            in_dashboard(&path, start, found);
        } else {
            let text = fs::read_to_string(&path).expect("a source");
            let links = text.split(start).skip(1);
            found.extend(links.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
}

#[test]
fn links_of_the_dashboard_lead_to_sections() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/src");
    let mut links = Vec::new();
    in_dashboard(&sources, "guide=\"", &mut links);
    in_dashboard(&sources, "\"/help/", &mut links);
    assert!(links.len() > 40, "{links:?}");
    // The search is no guide, and what is put together has its guide elsewhere.
    let is_guide = |link: &&String| !link.contains('{') && !link.starts_with("search");
    for link in links.iter().filter(is_guide) {
        let (name, anchor) = link.split_once('#').unwrap_or((link, ""));
        let guide = guides().iter().find(|guide| guide.name == name);
        let guide = guide.unwrap_or_else(|| panic!("there is no guide {link}"));
        let is_there = anchor.is_empty() || guide.html.contains(&format!("id=\"{anchor}\""));
        assert!(is_there, "there is no section {link}");
    }
}
