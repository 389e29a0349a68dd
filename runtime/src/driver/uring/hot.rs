//! The hot stream: on a shard that spins, the one that a reader waited for last is received from at
//! once, again and again, instead of by an armed receive.
//!
//! A completion costs the sender a task-work entry and the shard an `enter` that runs it; a receive
//! that finds nothing costs one short system call, on a shard that would spin anyway (bench `tcp`,
//! row `echo_64b_c1_spin`: 27 % of a round trip).
//!
//! Order: a hot stream has no receive armed, and what is received goes to its stash, so bytes keep
//! their order and a dropped read loses none. It is only looked at while a reader waits, so
//! nobody's stash grows. A shard that parks, or has a crowd of busy streams, arms what it was hot
//! for.

use std::io;
use std::mem::MaybeUninit;
use std::rc::Rc;

use super::driver::Uring;
use super::receive::End;
use super::stream::Socket;

impl Uring {
    /// Makes `socket` the hot stream, if this shard spins and has a buffer for it; the one before
    /// it gets a receive. Tells whether it is hot now.
    pub(super) fn heat(&self, socket: &Rc<Socket>) -> bool {
        if !self.spins || self.closing.get() || self.is_crowded() || !self.pool().has_free() {
            return false;
        }
        if socket.hot.replace(true) {
            return true;
        }
        let before = self.hot.borrow_mut().replace(Rc::clone(socket));
        if let Some(before) = before {
            before.cool(Socket::arm_receive);
        }
        true
    }

    /// Whether a reader waits for the hot stream.
    pub(super) fn is_hot(&self) -> bool {
        let hot = self.hot.borrow();
        hot.as_ref()
            .is_some_and(|socket| !socket.readers.is_empty())
    }

    /// Receives from the hot stream, if a reader waits for it. Tells whether that reader was woken.
    pub(super) fn look(&self) -> bool {
        if !self.is_hot() {
            return false;
        }
        if self.is_crowded() {
            self.cool(Socket::arm_receive);
            return false;
        }
        let hot = self.hot.borrow().clone();
        hot.is_some_and(|socket| socket.receive_hot())
    }

    /// No stream is hot any more; a reader of the one that was is woken by what `arm` arms.
    pub(super) fn cool(&self, arm: fn(&Rc<Socket>) -> io::Result<()>) {
        let hot = self.hot.borrow_mut().take();
        if let Some(socket) = hot {
            socket.cool(arm);
        }
    }

    /// Takes `socket` out, if it is the hot stream.
    pub(super) fn forget_hot(&self, socket: &Socket) {
        if socket.hot.replace(false) {
            let hot = self.hot.borrow_mut().take();
            // Its last handle may be this one: dropped without the borrow.
            drop(hot);
        }
    }
}

impl Socket {
    fn cool(self: &Rc<Self>, arm: fn(&Rc<Self>) -> io::Result<()>) {
        self.hot.set(false);
        if !self.readers.is_empty() && arm(self).is_err() {
            // The driver is closed: the reader's own try says so.
            self.readers.wake_all();
        }
    }

    /// Receives into a buffer of the pool. Tells whether the readers were woken.
    fn receive_hot(self: &Rc<Self>) -> bool {
        let pool = self.driver.pool();
        let Some(id) = pool.take() else {
            // The readers wait for a buffer like others.
            self.driver.forget_hot(self);
            self.readers.wake_all();
            return true;
        };
        let received = pool.fill(id, |slot| {
            let (start, len) = (slot.as_mut_ptr().cast::<MaybeUninit<u8>>(), slot.len());
            // SAFETY: Valid: the bytes of `slot`, initialised before and after. Exclusive: `slot`
            // is borrowed mutably and not used while this slice lives.
            self.receive_now(unsafe { std::slice::from_raw_parts_mut(start, len) })
        });
        match received {
            Ok(Some(n)) if n > 0 => {
                self.measure(n == pool.slot_bytes());
                self.stash.borrow_mut().push(pool.chunk(id, n));
            }
            Ok(Some(_)) => pool.give_back(id),
            Ok(None) => {
                pool.give_back(id);
                return false;
            }
            Err(error) => {
                pool.give_back(id);
                self.end.set(End::Failed(error));
            }
        }
        self.readers.wake_all();
        true
    }
}
