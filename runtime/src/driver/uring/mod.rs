//! Not built yet: no value of this type exists.

use std::io;
use std::time::Duration;

#[derive(Debug)]
pub(crate) enum Uring {}

impl Uring {
    pub(crate) fn turn(&self) {
        match *self {}
    }

    pub(crate) fn needs_turn(&self) -> bool {
        match *self {}
    }

    pub(crate) fn park(&self, _timeout: Option<Duration>) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn close(&self, _limit: Duration) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn ring(
        &self,
        _bell: &'static super::bell::Bell,
        _epoch: corelane_primitives::Epoch,
    ) {
        match *self {}
    }
}
