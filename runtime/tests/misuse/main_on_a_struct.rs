#[corelane::main]
struct Program {
    number: u32,
}

fn main() {
    let program = Program { number: 3 };
    println!("{}", program.number);
}
