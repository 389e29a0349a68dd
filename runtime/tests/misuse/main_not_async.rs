#[corelane::main]
fn main() {
    answer().await
}

async fn answer() {}
