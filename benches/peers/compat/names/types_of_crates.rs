//! The types of other crates that features make thread-aware.

use http::uri::{Authority, InvalidUri, PathAndQuery, Port, Scheme};
use thread_aware::ThreadAware;

use crate::probe::{Probe, twice};

fn is_aware<T: ThreadAware>() {}

macro_rules! all {
    ($($type:ty),* $(,)?) => { $(is_aware::<$type>();)* };
}

#[test]
fn plain_types_are_aware() {
    all!(bytes::Bytes, bytes::BytesMut, uuid::Uuid);
    all!(jiff::Timestamp, jiff::SignedDuration, jiff::Span);
    all!(
        jiff::civil::Date,
        jiff::civil::DateTime,
        jiff::civil::Time,
        jiff::civil::ISOWeekDate
    );
    all!(
        http::StatusCode,
        http::Method,
        http::Version,
        http::HeaderName,
        http::HeaderValue
    );
    all!(
        http::HeaderMap<http::HeaderValue>,
        http::Uri,
        http::Error,
        InvalidUri
    );
    all!(Authority, Scheme, PathAndQuery, Port<u8>);
}

#[test]
fn messages_relocate_their_body() {
    let mut request = http::Request::new(Probe(0));
    let mut response = http::Response::new(Probe(0));
    twice(&mut request);
    twice(&mut response);
    assert_eq!((request.body(), response.body()), (&Probe(2), &Probe(2)));
}
