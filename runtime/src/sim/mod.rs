//! Not built yet.

use std::future::Future;

use crate::error::StartError;
use crate::settings::Settings;
use crate::start::Plan;

pub(crate) fn run<F, Fut>(
    _plan: &Plan,
    _settings: Settings,
    _seed: u64,
    _main: F,
) -> Result<(Fut::Output, ()), StartError>
where
    F: FnOnce() -> Fut + 'static,
    Fut: Future + 'static,
{
    Err(StartError::NoProcessor)
}
