//! Feature `bytes`.
//!
//! Handles that share a buffer go on sharing it: what is in it cannot change, and the buffer's
//! count is touched only when a handle is made or dropped.

use ::bytes::{Bytes, BytesMut};

use super::plain::plain;

plain!(Bytes, BytesMut);
