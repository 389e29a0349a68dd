use thread_aware::ThreadAware;

#[derive(ThreadAware)]
#[thread_aware(skip)]
enum Choice {
    #[thread_aware(skip)]
    A(#[thread_aware(crate = thread_aware)] u8),
}

fn main() {}
