use std::sync::Arc;

use thread_aware::ThreadAware;

#[derive(ThreadAware)]
struct Shared {
    name: String,
    table: Arc<[u8]>,
}

fn main() {}
