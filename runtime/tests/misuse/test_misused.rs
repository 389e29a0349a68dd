use std::time::Duration;

#[corelane::test(threads = 2)]
async fn takes_no_threads() {
    corelane::time::sleep(Duration::ZERO).await;
}

#[corelane::test(seeds = 3)]
#[should_panic]
fn is_not_async(number: u32) {
    assert_eq!(number, 3);
}

#[corelane::test]
#[test]
async fn is_a_test_twice() {}

#[corelane::test]
#[should_panic = "by the first driver"]
async fn panics() {
    panic!("by the first driver");
}

fn main() {}
