//! The market feed on shards: the parts of [`feed`](crate::feed) put to work on every core.
//!
//! Bytes of an input are decoded by a task on one shard. Updates go over a lane to the shard that
//! owns their symbol, one lane a pair of shards that has something to say to the other. There a
//! task a lane applies them to that shard's books.
//!
//! What the books say goes to all shards. The best prices of a symbol are a signal, which its owner
//! sets once a batch, and which any shard reads or follows. Trades go to one topic, which every
//! shard reads. From there they go to the subscribers of the shard, as lines, and to its order
//! side, which checks them against the risk limits. These are a subscription: every shard acts on
//! every version of them. Who wants something of the run, such as a signal's handler, a timer, or a
//! connection of `--control` on any shard, says so over a channel to the governor on shard 0.
//!
//! The embedded feed has no bytes. Its decoders pack updates into [`words`](crate::words) and push
//! them into a ring of the owner, which refuses what it has no room for: that is counted, the book
//! sees a hole, and the decoder answers with a snapshot. Trades and tickers go over a second ring,
//! where they wait for room. At full speed a decoder makes no more than the owner takes.
//!
//! Which shard owns a symbol stands in a table of instruments. Every core has one for itself: each
//! shard is sent a handle of it, which is relocated when it arrives.
//!
//! A full lane makes a decoder wait, so nothing is lost on the way to a book. Nothing waits for a
//! subscriber: one that is behind is cut. A new one is told the best prices as they are: its shard
//! reads the signals.
//! Connections are accepted on shard 0 and handed round; each then lives on one shard.
//!
//! The end comes from the inputs, a time, a signal or, with `--strict`, a malformed line. It runs
//! through the pipeline in its order: inputs end, lanes run dry, signals and topic are closed,
//! subscribers get what is left. The module `worker` has that order for one shard.

mod accept;
#[cfg(test)]
mod block_on;
mod commander;
mod connections;
mod console;
mod control;
mod crew;
mod desk;
mod door;
mod embedded;
mod failure;
mod head;
mod hub;
mod input;
mod intake;
mod live;
mod orders;
mod owner;
mod reader;
mod recorder;
mod ringside;
mod routes;
mod run;
mod signals;
mod start;
mod subscriber;
mod tape;
mod tops;
mod turnstile;
mod worker;

pub use start::run;
