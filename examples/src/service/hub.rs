//! The subscribers of one shard.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::yield_now;
use corelane::time::timeout;
use corelane_primitives::Consumer;

use super::crew::Crew;
use super::door::{Door, Hall};
use super::publish::{Audience, News};
use super::subscriber::Subscriber;

/// Subscribers of one shard at most; each can have a MiB waiting for it.
const SUBSCRIBERS_MAX: usize = 16_384;

/// Blocks of lines that are passed on before other tasks of the shard have their turn.
const BATCH_MAX: usize = 16;

/// How long subscribers may take at the end to fetch what is theirs.
const FLUSH_LIMIT: Duration = Duration::from_secs(3);

/// The subscribers of one shard: who they are, and what they are sent.
#[derive(Debug)]
pub(super) struct Hub {
    shard: usize,
    audience: Arc<Audience>,
    subscribers: RefCell<Vec<Rc<Subscriber>>>,
    /// Of each shard that has books, who waits for their best prices.
    sources: Vec<Source>,
    crew: Crew,
    served: Cell<u64>,
    cut: Cell<u64>,
}

/// A shard that has books.
#[derive(Debug)]
struct Source {
    ask: Door<usize>,
    /// It has been asked for its best prices, and has not answered yet.
    asked: Cell<bool>,
    waiting: RefCell<Vec<Rc<Subscriber>>>,
}

impl Hub {
    /// Nobody yet. Best prices are asked for through these doors, one a shard.
    pub(super) fn new(shard: usize, audience: Arc<Audience>, asks: Vec<Door<usize>>) -> Self {
        let source = |ask| Source {
            ask,
            asked: Cell::new(false),
            waiting: RefCell::default(),
        };
        Self {
            shard,
            audience,
            subscribers: RefCell::default(),
            sources: asks.into_iter().map(source).collect(),
            crew: Crew::default(),
            served: Cell::new(0),
            cut: Cell::new(0),
        }
    }

    /// How many subscribers there are.
    pub(super) fn subscribers(&self) -> usize {
        self.subscribers.borrow().len()
    }

    /// How many have been accepted.
    pub(super) fn served(&self) -> u64 {
        self.served.get()
    }

    /// How many of them have been cut.
    pub(super) fn cut(&self) -> u64 {
        self.cut.get()
    }

    /// Takes a subscriber in, unless there are too many; then the connection closes. The first that
    /// it is told are the best prices as they are.
    pub(super) fn join(self: &Rc<Self>, stream: TcpStream) -> bool {
        if self.subscribers() == SUBSCRIBERS_MAX {
            return false;
        }
        let subscriber = Rc::new(Subscriber::default());
        self.served.set(self.served.get() + 1);
        // In this order: what changes after the prices were written down is passed on.
        self.change(|all| all.push(Rc::clone(&subscriber)));
        for source in &self.sources {
            source.bring_up(&subscriber, self.shard);
        }
        let hub = Rc::clone(self);
        self.crew.start(async move {
            subscriber.serve(stream).await;
            let stays = |other: &Rc<Subscriber>| !Rc::ptr_eq(other, &subscriber);
            hub.change(|all| all.retain(stays));
            for source in &hub.sources {
                source.waiting.borrow_mut().retain(stays);
            }
        });
        true
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Rc<Subscriber>>)) {
        let mut subscribers = self.subscribers.borrow_mut();
        change(&mut subscribers);
        self.audience.set(self.shard, subscribers.len());
    }

    /// Passes on what comes over every lane that is brought, until all of them have ended.
    pub(super) async fn pass_on_all(self: Rc<Self>, mut lanes: Hall<Consumer<News>>) {
        let crew = Crew::default();
        while let Some(lane) = lanes.next().await {
            crew.start(Rc::clone(&self).pass_on(lane));
        }
        crew.done().await;
    }

    async fn pass_on(self: Rc<Self>, mut lane: Consumer<News>) {
        while lane.ready().await {
            for news in lane.read_chunk(BATCH_MAX) {
                match news {
                    News::Lines(lines) => self.keep(|subscriber| subscriber.push(&lines)),
                    // Whoever has a hole in what was sent is better off with a new connection.
                    News::Missed => self.keep(|_| false),
                    News::Snapshot { owner, lines } => self.tell_new(&self.sources[owner], &lines),
                }
            }
            lane.notify();
            yield_now().await;
        }
    }

    /// Passes a shard's best prices on to those who wait for them.
    fn tell_new(&self, source: &Source, lines: &[u8]) {
        source.asked.set(false);
        let mut slow = source.waiting.take();
        slow.retain(|subscriber| !subscriber.push(lines));
        if !slow.is_empty() {
            self.keep(|kept| !slow.iter().any(|slow| std::ptr::eq(&**slow, kept)));
        }
    }

    /// Cuts all subscribers that `is_kept` does not want to keep.
    fn keep(&self, is_kept: impl Fn(&Subscriber) -> bool) {
        let mut cut = 0;
        let judge = |subscriber: &mut Rc<Subscriber>| {
            let kept = is_kept(subscriber);
            if !kept {
                subscriber.cut();
                cut += 1;
            }
            kept
        };
        let mut subscribers = self.subscribers.borrow_mut();
        subscribers.retain_mut(judge);
        if cut > 0 {
            self.audience.set(self.shard, subscribers.len());
            self.cut.set(self.cut.get() + cut);
        }
    }

    /// Sends all subscribers what is left for them, and closes. Who is too slow for that is cut.
    pub(super) async fn finish(&self) {
        self.subscribers
            .borrow()
            .iter()
            .for_each(|subscriber| subscriber.end());
        if timeout(FLUSH_LIMIT, self.crew.done()).await.is_err() {
            self.keep(|_| false);
            self.crew.done().await;
        }
    }
}

impl Source {
    /// Asks for the best prices on behalf of `subscriber`, which it has not told any yet.
    fn bring_up(&self, subscriber: &Rc<Subscriber>, here: usize) {
        self.waiting.borrow_mut().push(Rc::clone(subscriber));
        if !self.asked.replace(true) && self.ask.bring(here).is_err() {
            unreachable!("a door has room for one question a shard");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::door::door;
    use super::*;
    use crate::feed::OUTBOX_BYTES_MAX;
    use corelane::net::TcpListener;
    use corelane_primitives::lane;
    use std::io::{self, Read};
    use std::net::TcpStream as StdStream;

    /// Runs a hub with one subscriber, sends it `news`, and says what it got and whether it was
    /// cut.
    fn serve(news: Vec<News>) -> (String, u64) {
        let served = corelane::Runtime::builder().shards(1).run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let mut client = StdStream::connect(listener.local_addr()?)?;
            let (stream, _) = listener.accept().await?;
            let hub = Rc::new(Hub::new(0, Arc::new(Audience::new(1)), Vec::new()));
            assert!(hub.join(stream));
            let (mut producer, consumer) = lane(8);
            let (brings, hall) = door(1);
            brings.bring(consumer).unwrap();
            producer.push_batch(&mut news.into_iter());
            assert!(producer.slots() > 0, "all of it is in the lane");
            drop((producer, brings));
            Rc::clone(&hub).pass_on_all(hall).await;
            hub.finish().await;
            assert_eq!((hub.subscribers(), hub.served()), (0, 1));
            let mut got = String::new();
            client.read_to_string(&mut got)?;
            Ok::<_, io::Error>((got, hub.cut()))
        });
        served.unwrap().unwrap()
    }

    fn lines(text: &str) -> News {
        News::Lines(Arc::from(text.as_bytes()))
    }

    #[test]
    fn what_is_left_is_sent_before_the_end() {
        let news = vec![lines("1\n2\n"), lines("3\n")];
        assert_eq!(serve(news), ("1\n2\n3\n".to_owned(), 0));
        assert_eq!(serve(Vec::new()), (String::new(), 0));
    }

    #[test]
    fn a_subscriber_that_missed_lines_is_cut() {
        let (got, cut) = serve(vec![News::Missed, lines("1\n")]);
        assert_eq!((got.as_str(), cut), ("", 1));
    }

    /// A subscriber of `hub` and its client.
    async fn join(hub: &Rc<Hub>, listener: &TcpListener) -> io::Result<StdStream> {
        let client = StdStream::connect(listener.local_addr()?)?;
        let (stream, _) = listener.accept().await?;
        assert!(hub.join(stream));
        Ok(client)
    }

    #[test]
    fn only_who_is_new_is_told_the_best_prices() {
        let told = corelane::Runtime::builder().shards(1).run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let (ask, mut asks) = door(1);
            let hub = Rc::new(Hub::new(0, Arc::new(Audience::new(1)), vec![ask]));
            let mut clients = vec![join(&hub, &listener).await?, join(&hub, &listener).await?];
            // One question for both, and another one only after the answer.
            assert_eq!(asks.next().await, Some(0));
            hub.tell_new(&hub.sources[0], b"old\n");
            clients.push(join(&hub, &listener).await?);
            assert_eq!(asks.next().await, Some(0));
            hub.keep(|subscriber| subscriber.push(b"line\n"));
            hub.tell_new(&hub.sources[0], b"new\n");
            hub.tell_new(&hub.sources[0], b"nobody\n");
            hub.finish().await;
            let read = |mut client: StdStream| {
                let mut got = String::new();
                client.read_to_string(&mut got).map(|_| got)
            };
            clients
                .into_iter()
                .map(read)
                .collect::<io::Result<Vec<_>>>()
        });
        let told = told.unwrap().unwrap();
        assert_eq!(told, ["old\nline\n", "old\nline\n", "line\nnew\n"]);
    }

    #[test]
    fn a_new_one_that_cannot_take_the_best_prices_is_cut() {
        let ran = corelane::Runtime::builder().shards(1).run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let (ask, mut asks) = door(1);
            let hub = Rc::new(Hub::new(0, Arc::new(Audience::new(1)), vec![ask]));
            let _client = join(&hub, &listener).await?;
            assert_eq!(asks.next().await, Some(0));
            hub.tell_new(&hub.sources[0], &vec![b'x'; OUTBOX_BYTES_MAX + 1]);
            assert_eq!((hub.cut(), hub.subscribers()), (1, 0));
            hub.finish().await;
            // Who leaves does not wait any more.
            let client = join(&hub, &listener).await?;
            assert_eq!(hub.sources[0].waiting.borrow().len(), 1);
            hub.finish().await;
            assert!(hub.sources[0].waiting.borrow().is_empty());
            drop(client);
            Ok::<_, io::Error>(())
        });
        ran.unwrap().unwrap();
    }
}
