//! One sequence of calls, each beside its oracle.

use crate::bell::{Bell, bell};
use crate::line::{Answer, Line};
use crate::settle::settle;
use corelane_primitives::{Closed, Permits, Receiver, RecvError, SendError, Sender};
use futures_core::Stream;
use futures_sink::Sink;
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A value that shows by its count whether all of them are gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Token(u64, Arc<()>);

type Future<'a, R> = Pin<Box<dyn std::future::Future<Output = R> + 'a>>;

enum Work<'a> {
    Send(u64, Future<'a, Result<(), Closed<Token>>>),
    Reserve(usize, Future<'a, Result<Permits<'a, Token>, Closed>>),
    Closing(Future<'a, ()>),
    Sink(Box<Sender<Token>>, bool),
}

/// What one task does, and how often it was and should have been woken.
struct Task<'a> {
    who: u64,
    work: Work<'a>,
    bell: Arc<Bell>,
    waker: Waker,
    rings: usize,
}

pub(crate) struct Run<'a> {
    sender: &'a Sender<Token>,
    receiver: Receiver<Token>,
    root: Arc<()>,
    line: Line,
    inside: VecDeque<u64>,
    tasks: Vec<Task<'a>>,
    permits: Vec<Permits<'a, Token>>,
    numbers: u64,
    bell: (Arc<Bell>, Waker),
    rings: usize,
    is_parked: bool,
}

fn refused<T>(answer: Answer, value: T) -> Result<(), SendError<T>> {
    match answer {
        Answer::Taken => Ok(()),
        Answer::Closed => Err(SendError::Closed(value)),
        Answer::No => Err(SendError::Full(value)),
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(sender: &'a Sender<Token>, receiver: Receiver<Token>, root: Arc<()>) -> Self {
        Self {
            line: Line::new(sender.capacity()),
            sender,
            receiver,
            root,
            inside: VecDeque::new(),
            tasks: Vec::new(),
            permits: Vec::new(),
            numbers: 0,
            bell: bell(),
            rings: 0,
            is_parked: false,
        }
    }

    pub(crate) fn step(&mut self, bits: u32) {
        let [kind, a, b, _] = bits.to_le_bytes().map(usize::from);
        let few = b % (self.sender.capacity() + 1);
        let (tasks, permits) = (self.tasks.len().max(1), self.permits.len().max(1));
        match kind {
            0..40 => self.try_send(),
            40..75 => self.start_send(),
            75..90 => self.start(|sender| Work::Reserve(few, Box::pin(sender.reserve(few)))),
            90..93 => self.start(|sender| Work::Closing(Box::pin(sender.closed()))),
            93..100 => self.start(|sender| Work::Sink(Box::new(sender.clone()), false)),
            100..145 => self.poll(a % tasks),
            145..160 => self.drop_task(a % tasks),
            160..170 => self.try_reserve(b % (self.sender.capacity() + 2)),
            170..185 => self.send_by_permit(a % permits),
            185..192 => self.drop_permits(a % permits),
            192..215 => self.try_recv(),
            215..230 => self.fold(b % 9),
            230..245 => self.poll_next(),
            245..254 => self.recv_batch(b % 9),
            254 if a < 128 => self.close(),
            _ => {}
        }
        self.check();
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn token(&self, number: u64) -> Token {
        Token(number, self.root.clone())
    }

    /// A value went in.
    fn went_in(&mut self, number: u64) {
        self.inside.push_back(number);
        self.wake_receiver();
    }

    fn wake_receiver(&mut self) {
        self.rings += usize::from(std::mem::take(&mut self.is_parked));
    }

    fn took(&mut self, count: usize) -> Vec<u64> {
        let taken: Vec<_> = self.inside.drain(..count).collect();
        if count > 0 {
            self.line.give(count);
        }
        taken
    }

    fn try_send(&mut self) {
        let number = self.number();
        let answer = self.line.try_take(1);
        let sent = self.sender.try_send(self.token(number));
        assert_eq!(sent, refused(answer, self.token(number)));
        if answer == Answer::Taken {
            self.went_in(number);
        }
    }

    fn try_reserve(&mut self, count: usize) {
        let answer = self.line.try_take(count);
        let reserved = self.sender.try_reserve(count);
        assert_eq!(
            reserved.as_ref().map(Permits::len).ok(),
            (answer == Answer::Taken).then_some(count)
        );
        assert_eq!(
            reserved.as_ref().map(|_| ()).map_err(Clone::clone),
            refused(answer, ())
        );
        self.permits.extend(reserved);
    }

    fn send_by_permit(&mut self, which: usize) {
        let number = self.number();
        let token = self.token(number);
        let Some(permits) = self.permits.get_mut(which) else {
            return;
        };
        let is_empty = permits.is_empty();
        let sent = permits.send(token);
        if is_empty {
            assert_eq!(sent, Err(SendError::Full(self.token(number))));
        } else {
            self.sent_on_credit(number, sent);
        }
    }

    /// A send that had its place.
    fn sent_on_credit(&mut self, number: u64, sent: Result<(), SendError<Token>>) {
        if self.line.is_closed {
            assert_eq!(sent, Err(SendError::Closed(self.token(number))));
            self.line.give(1);
        } else {
            assert_eq!(sent, Ok(()));
            self.went_in(number);
        }
    }

    fn drop_permits(&mut self, which: usize) {
        if which < self.permits.len() {
            let permits = self.permits.swap_remove(which);
            self.line.give(permits.len());
        }
    }

    fn start_send(&mut self) {
        let number = self.number();
        let token = self.token(number);
        self.start(|sender| Work::Send(number, Box::pin(sender.send(token))));
    }

    fn start(&mut self, work: impl FnOnce(&'a Sender<Token>) -> Work<'a>) {
        let (bell, waker) = bell();
        let who = self.number();
        self.tasks.push(Task {
            who,
            work: work(self.sender),
            bell,
            waker,
            rings: 0,
        });
        self.poll(self.tasks.len() - 1);
    }

    /// Polls a task; one that is ready goes, except for a sink, which then sends.
    fn poll(&mut self, which: usize) {
        if which >= self.tasks.len() {
            return;
        }
        let mut task = self.tasks.swap_remove(which);
        let waker = task.waker.clone();
        let mut cx = Context::from_waker(&waker);
        let stays = match &mut task.work {
            Work::Send(number, send) => {
                let answer = self.line.poll(task.who, 1);
                let value = self.token(*number);
                let sent = match answer {
                    Answer::Taken => Poll::Ready(Ok(())),
                    Answer::Closed => Poll::Ready(Err(Closed(value))),
                    Answer::No => Poll::Pending,
                };
                assert_eq!(send.as_mut().poll(&mut cx), sent);
                if answer == Answer::Taken {
                    self.went_in(*number);
                }
                sent.is_pending()
            }
            Work::Reserve(need, reserve) => {
                let answer = self.line.poll(task.who, *need);
                match (reserve.as_mut().poll(&mut cx), answer) {
                    (Poll::Ready(Ok(permits)), Answer::Taken) => {
                        assert_eq!(permits.len(), *need);
                        self.permits.push(permits);
                        false
                    }
                    (Poll::Ready(Err(Closed(()))), Answer::Closed) => false,
                    (Poll::Pending, Answer::No) => true,
                    (found, answer) => panic!("{found:?} instead of {answer:?}"),
                }
            }
            Work::Closing(closing) => {
                let is_closed = closing.as_mut().poll(&mut cx).is_ready();
                assert_eq!(is_closed, self.line.is_closed);
                !is_closed
            }
            Work::Sink(..) => {
                self.poll_sink(&mut task, &mut cx);
                true
            }
        };
        if stays {
            self.tasks.push(task);
        }
    }

    fn poll_sink(&mut self, task: &mut Task<'a>, cx: &mut Context<'_>) {
        let Work::Sink(sink, is_reserved) = &mut task.work else {
            return;
        };
        let answer = match (*is_reserved, self.line.is_closed) {
            (true, true) => Answer::Closed,
            (true, false) => Answer::Taken,
            (false, _) => self.line.poll(task.who, 1),
        };
        let ready = Pin::new(&mut **sink).poll_ready(cx);
        match answer {
            Answer::Taken => assert_eq!(ready, Poll::Ready(Ok(()))),
            Answer::Closed => assert_eq!(ready, Poll::Ready(Err(SendError::Closed(None)))),
            Answer::No => assert!(ready.is_pending()),
        }
        *is_reserved |= answer == Answer::Taken;
        self.numbers += 1;
        if *is_reserved && self.numbers.is_multiple_of(2) {
            *is_reserved = false;
            let number = self.numbers;
            let sent = Pin::new(&mut **sink).start_send(self.token(number));
            let sent = sent.map_err(|refused| match refused {
                SendError::Closed(Some(value)) => SendError::Closed(value),
                other => panic!("{other:?}"),
            });
            self.sent_on_credit(number, sent);
        }
    }

    fn drop_task(&mut self, which: usize) {
        if which < self.tasks.len() {
            let task = self.tasks.swap_remove(which);
            if !matches!(task.work, Work::Closing(_)) {
                self.line.leave(task.who);
            }
            if let Work::Sink(_, true) = task.work {
                self.line.give(1);
            }
        }
    }

    fn try_recv(&mut self) {
        let expected = match self.inside.front() {
            Some(number) => Ok(self.token(*number)),
            None if self.line.is_closed => Err(RecvError::Closed),
            None => Err(RecvError::Empty),
        };
        assert_eq!(self.receiver.try_recv(), expected);
        self.took(usize::from(expected.is_ok()));
    }

    fn fold(&mut self, max: usize) {
        let folded = self.receiver.fold(max, Vec::new(), |mut all, token| {
            all.push(token.0);
            all
        });
        assert_eq!(folded.acc, self.took(max.min(self.inside.len())));
        assert_eq!((folded.consumed, folded.skipped), (folded.acc.len(), 0));
    }

    fn poll_next(&mut self) {
        let mut cx = Context::from_waker(&self.bell.1);
        let rings = || self.bell.0.rings();
        let (polled, own) = settle(rings, || Pin::new(&mut self.receiver).poll_next(&mut cx));
        self.rings += own;
        let polled = polled.map(|next| next.map(|token| token.0));
        let expected = match self.inside.front() {
            Some(number) => Poll::Ready(Some(*number)),
            None if self.line.is_closed => Poll::Ready(None),
            None => Poll::Pending,
        };
        assert_eq!(polled, expected);
        self.is_parked = expected.is_pending();
        self.took(usize::from(matches!(expected, Poll::Ready(Some(_)))));
    }

    /// A batch that is polled once, and then dropped.
    fn recv_batch(&mut self, max: usize) {
        let mut out = Vec::new();
        let rings = || self.bell.0.rings();
        let (polled, own) = {
            let mut cx = Context::from_waker(&self.bell.1);
            let mut batch = pin!(self.receiver.recv_batch(&mut out, max));
            settle(rings, || batch.as_mut().poll(&mut cx))
        };
        self.rings += own;
        self.is_parked = false;
        let count = max.min(self.inside.len());
        let expected = match max == 0 || count > 0 || self.line.is_closed {
            true => Poll::Ready(count),
            false => Poll::Pending,
        };
        assert_eq!(polled, expected);
        let numbers: Vec<_> = out.iter().map(|token| token.0).collect();
        assert_eq!(numbers, self.took(count));
    }

    fn close(&mut self) {
        match self.numbers.is_multiple_of(2) {
            true => self.sender.close(),
            false => self.receiver.close(),
        }
        if !self.line.is_closed {
            self.line.close();
            for task in &mut self.tasks {
                task.rings += usize::from(matches!(task.work, Work::Closing(_)));
            }
        }
        self.wake_receiver();
    }

    fn check(&mut self) {
        for granted in self.line.take_granted() {
            let task = self.tasks.iter_mut().find(|task| task.who == granted);
            task.expect("who waits is a task").rings += 1;
        }
        for task in &self.tasks {
            assert_eq!(task.bell.rings(), task.rings, "wakes of a task");
        }
        assert_eq!(self.bell.0.rings(), self.rings, "wakes of the receiver");
        assert_eq!(self.sender.occupancy(), self.inside.len());
        assert_eq!(self.receiver.is_closed(), self.line.is_closed);
    }

    /// Everybody goes: all places come back, and all values are gone.
    pub(crate) fn end(mut self) {
        while !self.tasks.is_empty() {
            self.drop_task(0);
            self.check();
        }
        while !self.permits.is_empty() {
            self.drop_permits(0);
        }
        while !self.inside.is_empty() {
            self.fold(4);
        }
        self.check();
        if !self.line.is_closed {
            self.try_reserve(self.sender.capacity());
            assert_eq!(self.permits.len(), 1, "a place was lost");
        }
    }
}
