#[corelane::main(workers = 2)]
async fn main() {
    let answer = answer().await;
    println!("{answer}");
}

async fn answer() -> u32 {
    42
}
