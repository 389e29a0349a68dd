use thread_aware::ThreadAware;

#[derive(ThreadAware)]
#[thread_aware(crate = thread_aware, crate = thread_aware)]
struct Item {
    #[thread_aware(skip, skip)]
    a: u8,
    #[thread_aware(skip)]
    #[thread_aware(skip)]
    b: u8,
}

#[derive(ThreadAware)]
#[thread_aware(crate = thread_aware)]
#[thread_aware(crate = thread_aware)]
enum Choice {
    A(#[thread_aware(skip, skip)] u8),
}

fn main() {}
