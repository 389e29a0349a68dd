//! The subscribers of one shard.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::yield_now;
use corelane::time::timeout;
use corelane_primitives::Consumer;

use super::crew::Crew;
use super::door::Hall;
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
    crew: Crew,
    served: Cell<u64>,
    cut: Cell<u64>,
}

impl Hub {
    /// Nobody yet.
    pub(super) fn new(shard: usize, audience: Arc<Audience>) -> Self {
        Self {
            shard,
            audience,
            subscribers: RefCell::default(),
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

    /// Takes a subscriber in, unless there are too many; then the connection closes.
    pub(super) fn join(self: &Rc<Self>, stream: TcpStream) -> bool {
        if self.subscribers() == SUBSCRIBERS_MAX {
            return false;
        }
        let subscriber = Rc::new(Subscriber::default());
        self.served.set(self.served.get() + 1);
        self.change(|all| all.push(Rc::clone(&subscriber)));
        let hub = Rc::clone(self);
        self.crew.start(async move {
            subscriber.serve(stream).await;
            hub.change(|all| all.retain(|other| !Rc::ptr_eq(other, &subscriber)));
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
        while poll_fn(|cx| lane.poll_ready(cx)).await {
            for news in lane.read_chunk(BATCH_MAX) {
                match news {
                    News::Lines(lines) => self.keep(|subscriber| subscriber.push(&lines)),
                    // Whoever has a hole in what was sent is better off with a new connection.
                    News::Missed => self.keep(|_| false),
                }
            }
            yield_now().await;
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

#[cfg(test)]
mod tests {
    use super::super::door::door;
    use super::*;
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
            let hub = Rc::new(Hub::new(0, Arc::new(Audience::new(1))));
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
}
