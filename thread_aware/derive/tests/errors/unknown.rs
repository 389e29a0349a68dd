use thread_aware::ThreadAware;

#[derive(ThreadAware)]
#[thread_aware(path = thread_aware)]
struct Item {
    #[thread_aware(ignored)]
    a: u8,
}

fn main() {}
