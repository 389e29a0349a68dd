#[corelane::main]
async fn main() -> u32 {
    3
}
