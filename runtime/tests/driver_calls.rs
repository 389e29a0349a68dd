//! How often a shard calls its driver.
#![allow(clippy::unwrap_used)]

mod tcp_pair;

use corelane::metrics::{ShardSnapshot, snapshot};
use corelane::{Builder, IdlePolicy, spawn};
use tcp_pair::pair;

const STREAMS: usize = 64;
const ROUNDS: usize = 50;

fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

fn here() -> ShardSnapshot {
    snapshot().shards[0].clone()
}

// proves: RT-12
#[corelane::test(shards = 1, with = parks)]
async fn shard_calls_its_driver_at_most_once_a_turn_and_once_a_sleep() {
    let mut echoes = Vec::new();
    for _ in 0..STREAMS {
        let (client, server) = pair().await;
        echoes.push(spawn(async move {
            loop {
                let chunk = server.read_chunk().await.unwrap();
                if chunk.is_empty() {
                    return;
                }
                server.write_all(chunk).await.0.unwrap();
            }
        }));
        echoes.push(spawn(async move {
            for round in 0..ROUNDS {
                client.write_all(vec![round as u8; 64]).await.0.unwrap();
                let (read, echoed) = client.read_exact(vec![0; 64].into_boxed_slice()).await;
                read.unwrap();
                assert_eq!(echoed[..], [round as u8; 64]);
            }
        }));
    }
    let before = here();
    for echo in echoes {
        echo.await.unwrap();
    }
    let after = here();
    let turns = after.turns - before.turns;
    let parks = after.parks - before.parks;
    let enters = after.driver_enters - before.driver_enters;
    assert!(
        enters <= turns + parks,
        "{enters} in {turns} turns, {parks} sleeps"
    );
    // Far fewer than messages, each of which is read and written twice.
    let messages = (STREAMS * ROUNDS) as u64;
    assert!(enters < messages, "{enters} for {messages} messages");
}
