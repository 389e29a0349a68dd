use thread_aware::ThreadAware;

#[derive(ThreadAware)]
union Either {
    a: u8,
    b: i8,
}

fn main() {}
