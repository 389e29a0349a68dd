use super::super::orders::{Orders, limits};
use super::super::tape;
use super::super::tops::{Tops, boards};
use super::*;
use crate::feed::{Books, Decimal, Generator, KEPT_UPDATES_MAX, OUTBOX_BYTES_MAX, Options};
use corelane::net::TcpListener;
use std::io::{self, Read};
use std::net::TcpStream as StdStream;
use std::sync::Arc;

fn on_a_shard<F>(test: impl FnOnce(TcpListener) -> F + 'static)
where
    F: Future<Output = io::Result<()>> + 'static,
{
    let ran = corelane::Runtime::builder().shards(1).run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        test(listener).await
    });
    ran.unwrap().unwrap();
}

/// A subscriber of `hub` and its client.
async fn join(hub: &Rc<Hub>, listener: &TcpListener) -> io::Result<StdStream> {
    let client = StdStream::connect(listener.local_addr()?)?;
    let (stream, _) = listener.accept().await?;
    assert!(hub.join(stream));
    Ok(client)
}

/// An order side without limits.
fn orders() -> Rc<Orders> {
    let options = Options::from_args(["market-feed"]).unwrap();
    let (_, mut feeds) = limits(&options, 1);
    Rc::new(Orders::new(0, 1, &mut feeds[0]))
}

fn lines_of(mut client: StdStream) -> io::Result<String> {
    let mut got = String::new();
    client.read_to_string(&mut got).map(|_| got)
}

fn trade(id: u64) -> Trade {
    let one = Decimal::from_units(100_000_000);
    Trade {
        symbol: "ES".parse().unwrap(),
        id,
        price: one,
        quantity: one,
    }
}

fn trade_lines(ids: impl IntoIterator<Item = u64>) -> String {
    let line = |id| format!(r#"{{"symbol":"ES","id":{id},"trade":{{"price":1,"qty":1}}}}"#);
    ids.into_iter().map(|id| line(id) + "\n").collect()
}

#[test]
fn trades_are_told_to_the_last_before_the_end() {
    on_a_shard(|listener| async move {
        let options = Options::from_args(["market-feed"]).unwrap();
        let (topic, mut feeds) = tape::tape(&options, 1);
        let hub = Rc::new(Hub::new(0, boards(1)));
        let client = join(&hub, &listener).await?;
        let reading = corelane::spawn(tape::read(feeds.remove(0), Rc::clone(&hub), orders()));
        let published = topic.publish_batch((1..=1_000).map(trade)).await;
        assert_eq!(published.ok(), Some(1_000));
        drop(topic);
        reading.await.unwrap();
        hub.finish().await;
        assert_eq!(
            (hub.subscribers(), hub.served.get(), hub.cut.get()),
            (0, 1, 0)
        );
        let reader = hub.reader();
        assert_eq!((reader.delivered, reader.dropped), (1_000, 0));
        assert_eq!(lines_of(client)?, trade_lines(1..=1_000));
        Ok(())
    });
}

#[test]
fn subscribers_that_missed_trades_are_cut() {
    on_a_shard(|listener| async move {
        for (policy, kept) in [("drop-new", [1, 2]), ("drop-oldest", [4, 5])] {
            let args = ["--trades-capacity", "2", "--trades-overflow", policy];
            let args = ["market-feed"].into_iter().chain(args);
            let (topic, mut feeds) = tape::tape(&Options::from_args(args).unwrap(), 1);
            let hub = Rc::new(Hub::new(0, boards(1)));
            let early = join(&hub, &listener).await?;
            for id in 1..=5 {
                assert!(topic.try_publish(trade(id)).is_ok(), "{policy}");
            }
            let reading = corelane::spawn(tape::read(feeds.remove(0), Rc::clone(&hub), orders()));
            while hub.reader().delivered == 0 {
                yield_now().await;
            }
            let late = join(&hub, &listener).await?;
            assert!(topic.try_publish(trade(6)).is_ok(), "{policy}");
            drop(topic);
            reading.await.unwrap();
            hub.finish().await;
            let reader = hub.reader();
            assert_eq!((reader.delivered, reader.dropped), (3, 3), "{kept:?}");
            assert_eq!((hub.served.get(), hub.cut.get()), (2, 1));
            assert_eq!(lines_of(early)?, "");
            assert_eq!(lines_of(late)?, trade_lines([6]));
        }
        Ok(())
    });
}

/// An owner whose books have had the first updates of the embedded feed.
fn owner(board: Directory) -> (Tops, Books) {
    let (mut tops, mut books) = (Tops::new(board), Books::new(KEPT_UPDATES_MAX));
    for update in Generator::new(1).take(100) {
        books.apply(update).unwrap();
    }
    books.iter().for_each(|book| tops.set(book));
    tops.list();
    (tops, books)
}

#[test]
fn who_is_new_is_told_the_best_prices_and_then_what_changes() {
    on_a_shard(|listener| async move {
        let boards = boards(2);
        let hub = Rc::new(Hub::new(0, Arc::clone(&boards)));
        let following = Crew::default();
        let before = join(&hub, &listener).await?;
        hub.follow_all(&following);
        let (mut tops, books) = owner(boards[1].clone());
        while hub.tops.get().followed < 5 {
            yield_now().await;
        }
        join(&hub, &listener).await?;
        assert_eq!(hub.tops.get().reads, 5);
        let book = books.iter().next().unwrap();
        tops.set(book);
        tops.close();
        boards[0].close();
        following.done().await;
        hub.finish().await;
        let mut line = Vec::new();
        write_best(&mut line, book.symbol(), Best::from(book));
        let told = lines_of(before)?;
        assert!(told.ends_with('\n') && told.lines().count() >= 5, "{told}");
        assert!(told.contains(&String::from_utf8(line).unwrap()), "{told}");
        let counted = hub.tops.get();
        let mut set = TopsReport::default();
        tops.report(&mut set);
        // The followers came behind the first set of each, which they were given.
        assert_eq!(counted.followed + counted.skipped, set.sets);
        Ok(())
    });
}

#[test]
fn a_new_one_that_cannot_take_the_best_prices_is_cut() {
    on_a_shard(|listener| async move {
        let hub = Rc::new(Hub::new(0, boards(1)));
        let client = join(&hub, &listener).await?;
        hub.keep(|subscriber| subscriber.push(&vec![b'x'; OUTBOX_BYTES_MAX + 1]));
        assert_eq!((hub.cut.get(), hub.subscribers()), (1, 0));
        hub.finish().await;
        assert_eq!(lines_of(client)?, "");
        Ok(())
    });
}
