//! The types of other crates, each behind its feature: plain ones stay, holders pass it on.
#![cfg(feature = "std")]

use std::fmt::Debug;

use thread_aware::{ThreadAware, affinity::pinned_affinities};

/// Relocates a clone in every direction and finds it equal to what it was.
fn stays<T: ThreadAware + Clone + PartialEq + Debug>(value: T) {
    let cores = pinned_affinities(&[1, 1]);
    let mut moved = value.clone();
    moved.relocate(None, cores[0]);
    moved.relocate(Some(cores[0]), cores[1]);
    assert_eq!(moved, value);
}

#[test]
fn a_value_of_this_crate_stays() {
    stays(pinned_affinities(&[1])[0]);
}

#[cfg(feature = "bytes")]
#[test]
fn buffers_keep_their_bytes_and_their_place() {
    use bytes::{Bytes, BytesMut};

    stays(Bytes::from_static(b"abc"));
    stays(BytesMut::from(&b"abc"[..]));
    let mut shared = Bytes::from(vec![1, 2, 3]);
    let (other, place) = (shared.clone(), shared.as_ptr());
    shared.relocate(None, pinned_affinities(&[1])[0]);
    assert_eq!((shared.as_ptr(), other.as_ptr()), (place, place));
}

#[cfg(feature = "uuid")]
#[test]
fn ids_stay() {
    use uuid::{NonNilUuid, Uuid};

    stays(Uuid::from_u128(7));
    stays(NonNilUuid::new(Uuid::max()));
}

#[cfg(feature = "jiff02")]
#[test]
fn times_stay() {
    use jiff::{
        SignedDuration, Span, Timestamp, Unit,
        civil::{Weekday, date, time},
        tz::offset,
    };

    let day = date(2026, 11, 30);
    stays((day, time(1, 2, 3, 4), day.at(5, 6, 7, 8)));
    stays((day.iso_week_date(), Weekday::Monday, offset(-5), Unit::Hour));
    stays((Timestamp::MAX, SignedDuration::MIN));
    stays(Span::new().years(1).nanoseconds(2).fieldwise());
    let mut span = Span::new().hours(3);
    span.relocate(None, pinned_affinities(&[1])[0]);
    assert_eq!(span.get_hours(), 3);
}

#[cfg(feature = "http")]
#[test]
fn parts_of_messages_stay() {
    use http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version,
        uri::{Authority, PathAndQuery, Port, Scheme},
    };

    fn is_aware<T: ThreadAware>() {}

    stays((Method::PATCH, StatusCode::IM_A_TEAPOT, Version::HTTP_3));
    stays((
        HeaderName::from_static("x-a"),
        HeaderValue::from_static("b"),
    ));
    let uri = Uri::from_static("https://host:8080/path?query");
    stays(uri.clone());
    stays((
        Authority::from_static("host:1"),
        Scheme::HTTPS,
        PathAndQuery::from_static("/p"),
    ));
    let mut headers = HeaderMap::new();
    headers.append("x-a", HeaderValue::from_static("1"));
    headers.append("x-a", HeaderValue::from_static("2"));
    stays(headers);
    let mut port = uri.port().expect("it has one");
    port.relocate(None, pinned_affinities(&[1])[0]);
    assert_eq!(port.as_u16(), 8080);
    is_aware::<(
        http::Error,
        http::uri::InvalidUri,
        Port<std::cell::Cell<u8>>,
    )>();
}

#[cfg(feature = "http")]
#[test]
fn messages_relocate_their_body() {
    use thread_aware::affinity::Affinity;

    #[derive(Default)]
    struct Body(Vec<(Option<Affinity>, Affinity)>);

    impl ThreadAware for Body {
        fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
            self.0.push((source, destination));
        }
    }

    let cores = pinned_affinities(&[2]);
    let mut request = http::Request::new(Body::default());
    let mut response = http::Response::new(Body::default());
    response.relocate(Some(cores[0]), cores[1]);
    request.relocate(None, cores[0]);
    assert_eq!(request.body().0, [(None, cores[0])]);
    assert_eq!(response.body().0, [(Some(cores[0]), cores[1])]);
}
