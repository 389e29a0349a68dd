//! The program that weakens each named ordering in turn: some model must then fail, or nothing
//! watches that ordering.
//!
//! Without arguments it runs itself once for each site, with `CORELANE_WEAKEN` set; with `--models`
//! it runs all models until one fails.

use std::iter;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;

/// The site of a run that weakens nothing; no site has an empty name.
const UNCHANGED: &str = "";

/// Runs all mutants of `sites`, or what one of them runs.
pub(crate) fn run(models: &[(&str, fn())], sites: &[&str]) -> ExitCode {
    if std::env::args().any(|argument| argument == "--models") {
        for (name, model) in models {
            println!("{name}");
            model();
        }
        return ExitCode::SUCCESS;
    }
    let itself = std::env::current_exe().expect("a running program has a path");
    // A run has one thread at work: as many go on at once as there are processors. The one that
    // weakens nothing is the longest, so it comes first.
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let left = Mutex::new(iter::once(UNCHANGED).chain(sites.iter().copied()));
    let next = || left.lock().expect("nobody panics who takes a site").next();
    let wrong: usize = std::thread::scope(|scope| {
        let runs = || {
            iter::from_fn(next)
                .filter(|site| is_wrong(&itself, site))
                .count()
        };
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(runs)).collect();
        running
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .expect("a mutant's end is told, never a panic")
            })
            .sum()
    });
    let (models, mutants) = (models.len(), sites.len());
    println!("models: {models}, mutants: {mutants}, survivors: {wrong}");
    if wrong > 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Whether no model fails with `site` weakened, or one does though nothing is.
fn is_wrong(itself: &Path, site: &str) -> bool {
    match (failing(itself, site), site) {
        (Some(model), UNCHANGED) => println!("{model} fails as it stands"),
        (None, UNCHANGED) => return false,
        (Some(model), _) => {
            println!("mutant {site} … fails {model}, as it should");
            return false;
        }
        (None, _) => println!("mutant {site} … SURVIVED"),
    }
    true
}

/// The first model that fails with `site` weakened, if one does.
fn failing(itself: &Path, site: &str) -> Option<String> {
    let run = Command::new(itself)
        .arg("--models")
        .env("CORELANE_WEAKEN", site)
        .output()
        .expect("the program that is running can be run");
    let names = String::from_utf8_lossy(&run.stdout);
    (!run.status.success()).then(|| names.lines().last().unwrap_or("no model").to_owned())
}
