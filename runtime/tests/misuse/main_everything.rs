#[corelane::main(shards = 0, shards = 2)]
const extern "C" fn main<T>(number: T) -> u32
where
    T: Copy,
{
    let _number = number;
    3
}
