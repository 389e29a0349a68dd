//! Where futures run.

mod glommio;
#[path = "../../../../../../primitives/contract/tests/contract/hosts/host.rs"]
mod host;
#[path = "../../../../../../primitives/contract/tests/contract/hosts/side_by_side.rs"]
mod side_by_side;

pub(crate) use self::glommio::Glommio;
pub(crate) use host::{Host, PLACES};
