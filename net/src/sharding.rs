//! How many shards serve.

use corelane::{DriverInfo, Shard};

use crate::ServeError;

/// On how many shards a carrier serves. The shard that asks is always one of them, and connections
/// spread over them evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Sharding {
    /// On every shard of the runtime.
    #[default]
    Auto,
    /// On the calling shard alone.
    Off,
    /// On this many shards: the calling one and those that follow it.
    Shards(usize),
}

impl Sharding {
    /// The shards that serve besides `here`.
    pub(crate) fn others(self, here: &Shard, shards: &[Shard]) -> Result<Vec<Shard>, ServeError> {
        let wanted = match self {
            Self::Auto => shards.len(),
            Self::Off => 1,
            Self::Shards(count) => count,
        };
        if wanted == 0 || wanted > shards.len() {
            let shards = shards.len();
            return Err(ServeError::Shards { wanted, shards });
        }
        if wanted > 1 && here.driver().map(DriverInfo::name) == Some("sim") {
            return Err(ServeError::Simulated { wanted });
        }
        let following = shards.iter().cycle().skip(here.index() + 1);
        Ok(following.take(wanted - 1).cloned().collect())
    }
}
