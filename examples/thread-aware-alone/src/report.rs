//! What came out, and whether it is right.

use std::{fmt, ops::Range, process::ExitCode};

use thread_aware::affinity::Affinity;

use crate::{Resolver, TOURS, Tour, VISITS};

/// What one core did.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    core: Affinity,
    hits: u64,
    computed: u64,
    threads: usize,
}

impl Visited {
    /// Reads what the cache of `core` says; `resolver` has been relocated there.
    #[must_use]
    pub fn of(core: Affinity, resolver: &Resolver) -> Self {
        let (hits, computed, threads) = resolver.counts();
        Self {
            core,
            hits,
            computed,
            threads,
        }
    }
}

/// The outcome of a program.
#[derive(Debug)]
pub struct Report {
    host: &'static str,
    cores: Vec<Visited>,
    sums: Vec<u64>,
}

/// The numbers that every tour asks for.
const NUMBERS: Range<u64> = 1..51;

impl Report {
    /// The tours of a program, all with handles of `resolver`.
    #[must_use]
    pub fn tours(resolver: &Resolver) -> Vec<Tour> {
        let tour = |_| Tour::new(resolver.clone(), NUMBERS);
        (0..TOURS).map(tour).collect()
    }

    /// Collects the outcome of a run on `host`.
    #[must_use]
    pub fn new(host: &'static str, mut cores: Vec<Visited>, tours: &[Tour]) -> Self {
        cores.sort_by_key(|visited| visited.core);
        let sums = tours.iter().map(Tour::sum).collect();
        Self { host, cores, sums }
    }

    /// What is wrong with the outcome, if anything.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let alone = Resolver::default();
        let once: u64 = NUMBERS.map(|number| alone.steps(number)).sum();
        let questions = NUMBERS.end - NUMBERS.start;
        if self.sums != vec![once * VISITS as u64; TOURS] {
            return Err(format!("the answers are wrong: {:?}", self.sums));
        }
        let asked: u64 = self
            .cores
            .iter()
            .map(|core| core.hits + core.computed)
            .sum();
        if asked != questions * (VISITS * TOURS) as u64 {
            return Err(format!("{asked} questions reached the caches of the cores"));
        }
        match self.cores.iter().find(|core| core.threads > 1) {
            Some(core) => Err(format!("{:?}: {} threads used it", core.core, core.threads)),
            None => Ok(()),
        }
    }
}

/// Prints the outcome of a program, and checks it; this is how it ends.
#[must_use]
pub fn conclude(outcome: Result<Report, impl fmt::Display>) -> ExitCode {
    let checked = outcome
        .map_err(|error| error.to_string())
        .inspect(|report| print!("{report}"))
        .and_then(|report| report.check());
    match checked {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TOURS} tours of {VISITS} visits on {}", self.host)?;
        for core in &self.cores {
            writeln!(
                f,
                "core {}: {} answers from its cache, {} computed, {} thread",
                core.core.processor_index(),
                core.hits,
                core.computed,
                core.threads
            )?;
        }
        Ok(())
    }
}
