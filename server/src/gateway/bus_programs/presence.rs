//! Which processes of services and workers run, as this server hears them. Each server hears all, so nothing is stored.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::presence::{AnnouncerKind, BusInstance, InstanceState, RefusedAnnouncement};
use toolgate_core::announcements::{Announcement, Heartbeat};
use toolgate_core::ids::ProjectUid;

/// A process that was silent for so long is shown as silent; the kits send a heartbeat every 10 seconds.
const ALIVE: TimeDelta = TimeDelta::seconds(30);
/// A process that was silent for so long is forgotten.
const SHOWN: TimeDelta = TimeDelta::days(1);
/// Between two questions for the announcements of a project that heartbeats give reason for.
const ASKED: TimeDelta = TimeDelta::seconds(10);
/// Programs of a project.
const MOST_PROGRAMS: usize = 1000;
/// Processes of a program.
const MOST_INSTANCES: usize = 200;
/// Refused announcements that are shown.
const MOST_REFUSED: usize = 20;
/// Announcements of a project that are taken in a row, and how many a second after that.
const BURST: f64 = 1000.0;
const PER_SECOND: f64 = 10.0;

/// A program: its kind and its name.
pub type ProgramName = (AnnouncerKind, String);

/// What this server has heard of all programs.
#[derive(Default)]
pub struct Presence(Mutex<HashMap<ProjectUid, OfProject>>);

#[derive(Default)]
struct OfProject {
    programs: BTreeMap<ProgramName, BTreeMap<String, Heard>>,
    refused: VecDeque<RefusedAnnouncement>,
    asked: Option<DateTime<Utc>>,
    /// Announcements that may be taken now, as of a time.
    room: Option<(f64, DateTime<Utc>)>,
}

struct Heard {
    version: String,
    since: DateTime<Utc>,
    seen: DateTime<Utc>,
    stopped: bool,
    announced: bool,
}

impl Presence {
    /// Notes a heartbeat; whether the programs of the project should be asked for their announcements, because this one's is not known.
    pub fn beat(&self, project: ProjectUid, beat: Heartbeat, now: DateTime<Utc>) -> bool {
        let mut all = self.all();
        let of = all.entry(project).or_default();
        let key = (beat.kind, beat.name);
        let Some(heard) = of.heard(key, beat.instance, now) else {
            return false;
        };
        // Another version of the same name has to announce itself.
        heard.announced &= heard.version == beat.version || heard.version.is_empty();
        heard.version = beat.version;
        heard.stopped = beat.stopping;
        let unknown = !heard.announced && !beat.stopping;
        let ask = unknown && of.asked.is_none_or(|asked| now - asked >= ASKED);
        if ask {
            of.asked = Some(now);
        }
        ask
    }

    /// Notes an announcement; whether there is room to import it now.
    pub fn announced(&self, project: ProjectUid, announcement: &Announcement, now: DateTime<Utc>) -> bool {
        let mut all = self.all();
        let of = all.entry(project).or_default();
        let (left, at) = of.room.unwrap_or((BURST, now));
        let since = (now - at).to_std().unwrap_or_default().as_secs_f64();
        let left = since.mul_add(PER_SECOND, left).min(BURST);
        let fits = left >= 1.0;
        of.room = Some((if fits { left - 1.0 } else { left }, now));
        if !fits {
            return false;
        }
        let key = (announcement.kind, announcement.name.clone());
        let Some(heard) = of.heard(key, announcement.instance.clone(), now) else {
            return false;
        };
        heard.version.clone_from(&announcement.version);
        heard.announced = true;
        true
    }

    /// Notes an announcement that was refused.
    pub fn refused(&self, project: ProjectUid, reason: String, now: DateTime<Utc>) {
        let mut all = self.all();
        let refused = &mut all.entry(project).or_default().refused;
        refused.push_front(RefusedAnnouncement { at: now, reason });
        refused.truncate(MOST_REFUSED);
    }

    /// The refused announcements of a project, the newest first.
    #[must_use]
    pub fn latest_refused(&self, project: ProjectUid) -> Vec<RefusedAnnouncement> {
        let all = self.all();
        all.get(&project)
            .map(|of| of.refused.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Every program of a project with its processes.
    #[must_use]
    pub fn programs(
        &self,
        project: ProjectUid,
        now: DateTime<Utc>,
    ) -> BTreeMap<ProgramName, Vec<BusInstance>> {
        let all = self.all();
        let programs = all.get(&project).map(|of| &of.programs);
        let programs = programs.into_iter().flatten();
        programs
            .map(|(key, heard)| (key.clone(), shown(heard, now)))
            .filter(|(_, instances)| !instances.is_empty())
            .collect()
    }

    /// Forgets what is too old to be shown, and projects that are gone.
    pub fn prune(&self, is_there: impl Fn(ProjectUid) -> bool, now: DateTime<Utc>) {
        self.all().retain(|project, of| {
            of.programs.retain(|_, heard| {
                heard.retain(|_, heard| now - heard.seen < SHOWN);
                !heard.is_empty()
            });
            is_there(*project)
        });
    }

    fn all(&self) -> MutexGuard<'_, HashMap<ProjectUid, OfProject>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OfProject {
    /// The entry of a process, which was heard now; `None` when there is no room for it.
    fn heard(&mut self, key: ProgramName, instance: String, now: DateTime<Utc>) -> Option<&mut Heard> {
        if !self.programs.contains_key(&key) && self.programs.len() >= MOST_PROGRAMS {
            return None;
        }
        let instances = self.programs.entry(key).or_default();
        if !instances.contains_key(&instance) && instances.len() >= MOST_INSTANCES {
            // One that runs takes the place of one that does not.
            let oldest = instances.iter().min_by_key(|(_, heard)| heard.seen);
            let oldest = oldest.filter(|(_, heard)| now - heard.seen >= ALIVE || heard.stopped)?;
            let oldest = oldest.0.clone();
            instances.remove(&oldest);
        }
        let heard = instances.entry(instance).or_insert_with(|| Heard {
            version: String::new(),
            since: now,
            seen: now,
            stopped: false,
            announced: false,
        });
        heard.seen = now;
        Some(heard)
    }
}

fn shown(heard: &BTreeMap<String, Heard>, now: DateTime<Utc>) -> Vec<BusInstance> {
    let recent = heard.iter().filter(|(_, heard)| now - heard.seen < SHOWN);
    recent
        .map(|(instance, heard)| BusInstance {
            instance: instance.clone(),
            version: heard.version.clone(),
            since: heard.since,
            seen: heard.seen,
            state: if heard.stopped {
                InstanceState::Stopped
            } else if now - heard.seen >= ALIVE {
                InstanceState::Silent
            } else {
                InstanceState::Alive
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + second, 0).expect("a time")
    }

    fn beat(instance: &str, stopping: bool) -> Heartbeat {
        Heartbeat {
            kind: AnnouncerKind::ToolService,
            name: "jokes".to_owned(),
            instance: instance.to_owned(),
            version: "1".to_owned(),
            stopping,
        }
    }

    #[test]
    fn a_process_is_alive_until_it_stops_or_is_silent() {
        let (presence, project) = (Presence::default(), ProjectUid(uuid::Uuid::nil()));
        let states = |now| {
            let programs = presence.programs(project, at(now));
            let instances = programs.into_values().flatten();
            instances.map(|instance| instance.state).collect::<Vec<_>>()
        };
        presence.beat(project, beat("a", false), at(0));
        presence.beat(project, beat("b", false), at(0));
        presence.beat(project, beat("b", true), at(1));
        assert_eq!(states(29), [InstanceState::Alive, InstanceState::Stopped]);
        assert_eq!(states(30), [InstanceState::Silent, InstanceState::Stopped]);
        assert_eq!(states(86_401), []);
        presence.prune(|_| true, at(86_401));
        presence.beat(project, beat("b", false), at(86_402));
        assert_eq!(states(86_402), [InstanceState::Alive]);
    }

    #[test]
    fn who_beats_without_an_announcement_is_asked_for_it_from_time_to_time() {
        let (presence, project) = (Presence::default(), ProjectUid(uuid::Uuid::nil()));
        let asked: Vec<bool> = [0, 1, 9, 10]
            .map(|second| presence.beat(project, beat("a", false), at(second)))
            .into();
        assert_eq!(asked, [true, false, false, true]);
        assert!(!presence.beat(project, beat("a", true), at(30)), "it stops");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (presence, project) = (Presence::default(), ProjectUid(uuid::Uuid::nil()));
        for number in 0..MOST_INSTANCES + 10 {
            presence.beat(project, beat(&number.to_string(), false), at(0));
        }
        let count = |now| {
            presence
                .programs(project, at(now))
                .into_values()
                .flatten()
                .count()
        };
        assert_eq!(count(1), MOST_INSTANCES);
        presence.beat(project, beat("late", false), at(40));
        assert_eq!(count(41), MOST_INSTANCES, "it takes the place of a silent one");
        for number in 0..30 {
            presence.refused(project, number.to_string(), at(0));
        }
        let refused = presence.latest_refused(project);
        assert_eq!((refused.len(), refused[0].reason.as_str()), (MOST_REFUSED, "29"));
    }
}
