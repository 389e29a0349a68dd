use thread_aware::ThreadAware;

struct Table;

#[derive(ThreadAware)]
struct Shared {
    name: String,
    tables: Vec<Table>,
    #[thread_aware(skip)]
    skipped: Table,
}

fn main() {}
