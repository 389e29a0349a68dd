//! Feature `uuid`.

use ::uuid::{NonNilUuid, Uuid};

use super::plain::plain;

plain!(Uuid, NonNilUuid);
