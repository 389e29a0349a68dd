//! The end of a runtime that serves.

use std::time::Duration;

use corelane::net::TcpStream;
use corelane::{Driver, Runtime, StartError, shutdown};
use corelane_net::{Stats, Tcp};

use super::support::{PATIENCE, close_at_leisure, echo, served};

/// Runs `test` with each driver of the kernel that there is.
fn on_each_driver(test: impl Fn(corelane::Running)) {
    for driver in [Driver::Epoll, Driver::Uring] {
        match Runtime::builder().shards(2).driver(driver).start() {
            Ok(running) => test(running),
            Err(StartError::Driver { .. }) if driver == Driver::Uring => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Serves until the end of the runtime begins, and closes then.
async fn serve_until_shutdown() -> Stats {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let clients = [
        served(binding.local_addr()).await,
        served(binding.local_addr()).await,
    ];
    shutdown::trigger();
    shutdown::wait().await;
    drop(clients);
    close_at_leisure(&mut binding).await
}

#[test]
fn a_service_closes_when_the_runtime_ends() {
    on_each_driver(|running| {
        let stats = running.shard(0).submit(serve_until_shutdown).wait();
        let stats = stats.unwrap();
        assert_eq!((stats.total.accepted, stats.total.finished), (2, 2));
        running.shutdown(PATIENCE).unwrap();
    });
}

#[test]
fn a_binding_that_nobody_closes_does_not_hold_the_runtime_up() {
    for home in 0..2 {
        on_each_driver(|running| {
            // Says when it serves, and leaves both ends to a task that never ends by itself.
            let serving = running.shard(home).submit(|| async {
                let binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
                let clients = [
                    served(binding.local_addr()).await,
                    served(binding.local_addr()).await,
                ];
                corelane::spawn(async move {
                    std::future::pending::<()>().await;
                    drop((clients, binding));
                })
                .detach();
            });
            serving.wait().unwrap();
            running.shutdown(Duration::ZERO).unwrap();
        });
    }
}

#[corelane::test]
async fn a_binding_may_outlive_what_it_was_made_in() {
    let made = corelane::spawn(async { Tcp::bind("127.0.0.1:0").serve(echo).unwrap() });
    let mut binding = made.await.unwrap();
    let client = TcpStream::connect(binding.local_addr()).await.unwrap();
    super::support::ask(&client, vec![5; 10]).await;
    drop(client);
    let total = close_at_leisure(&mut binding).await.total;
    assert_eq!(total.finished, 1);
}
