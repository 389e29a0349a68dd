//! Thread-per-core runtime for Linux: a shard on every physical core, io_uring or epoll.
