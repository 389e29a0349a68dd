#[corelane::main(shards = 1)]
async fn start(number: u32) -> u32 {
    number
}

fn main() {
    std::process::exit(start(3) as i32);
}
