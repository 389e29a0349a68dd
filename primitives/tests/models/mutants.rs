//! The program that weakens each named ordering in turn: some model must then fail, or nothing
//! watches that ordering.
//!
//! Without arguments it runs itself once for each site, with `CORELANE_WEAKEN` set; with `--models`
//! it runs all models until one fails.

use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};

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
    if let Some(model) = failing(&itself, "") {
        println!("{model} fails as it stands");
        return ExitCode::FAILURE;
    }
    // A model has one thread at work: as many mutants run at once as there are processors.
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let survivors: usize = std::thread::scope(|scope| {
        let itself = &itself;
        let shares = (0..workers).map(|first| sites.iter().skip(first).step_by(workers));
        let running: Vec<_> = shares
            .map(|share| scope.spawn(move || share.filter(|site| survives(itself, site)).count()))
            .collect();
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
    println!("models: {models}, mutants: {mutants}, survivors: {survivors}");
    if survivors > 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Whether no model fails with `site` weakened.
fn survives(itself: &Path, site: &str) -> bool {
    let failing = failing(itself, site);
    match &failing {
        Some(model) => println!("mutant {site} … fails {model}, as it should"),
        None => println!("mutant {site} … SURVIVED"),
    }
    failing.is_none()
}

/// The first model that fails with `site` weakened, if one does; no site has an empty name.
fn failing(itself: &Path, site: &str) -> Option<String> {
    let run = Command::new(itself)
        .arg("--models")
        .env("CORELANE_WEAKEN", site)
        .output()
        .expect("the program that is running can be run");
    let names = String::from_utf8_lossy(&run.stdout);
    (!run.status.success()).then(|| names.lines().last().unwrap_or("no model").to_owned())
}
