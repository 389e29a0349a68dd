//! Feature `http`.

use ::http::{
    Error, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
    uri::{Authority, InvalidUri, PathAndQuery, Port, Scheme},
};

use super::plain::plain;
use crate::{ThreadAware, affinity::Affinity};

plain!(
    Error,
    HeaderName,
    HeaderValue,
    InvalidUri,
    Method,
    StatusCode,
    Version
);
plain!(Authority, PathAndQuery, Scheme, Uri);
plain!(HeaderMap<HeaderValue>);

/// The number is a number whatever `T` it was read from.
impl<T: Send> ThreadAware for Port<T> {
    #[inline]
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
}

/// The body is relocated. The other parts are plain, but for the extensions: nobody knows their
/// types, so whoever puts something thread-aware there relocates it.
impl<T: ThreadAware> ThreadAware for Request<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.body_mut().relocate(source, destination);
    }
}

/// The body is relocated. The other parts are plain, but for the extensions: nobody knows their
/// types, so whoever puts something thread-aware there relocates it.
impl<T: ThreadAware> ThreadAware for Response<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.body_mut().relocate(source, destination);
    }
}
