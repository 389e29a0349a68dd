//! One binary a question, and the market feed service.

#![forbid(unsafe_code)]

pub mod feed;
pub mod service;
pub mod sweep;
pub mod words;
