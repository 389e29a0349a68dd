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
