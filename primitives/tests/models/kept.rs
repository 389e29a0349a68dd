//! Ends that outlive their threads.

use std::sync::{Arc, Mutex};

/// Keeps ends alive until the last clone goes, so that their leaving wakes nobody.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<Box<dyn Send>>>>);

impl Kept {
    pub(crate) fn keep(&self, end: impl Send + 'static) {
        let mut kept = self.0.lock().expect("no model panics in here");
        kept.push(Box::new(end));
    }
}
