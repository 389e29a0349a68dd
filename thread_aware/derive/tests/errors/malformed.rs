use thread_aware::ThreadAware;

#[derive(ThreadAware)]
#[thread_aware]
struct Word;

#[derive(ThreadAware)]
#[thread_aware()]
struct Empty;

#[derive(ThreadAware)]
#[thread_aware = "skip"]
struct Value;

#[derive(ThreadAware)]
#[thread_aware(crate)]
struct Pathless;

#[derive(ThreadAware)]
#[thread_aware(crate = 5)]
struct Number;

#[derive(ThreadAware)]
struct Skip(#[thread_aware(skip = true)] u8);

fn main() {}
