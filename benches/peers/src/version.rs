//! Names of peers with the versions that were built.

const LOCK: &str = include_str!("../Cargo.lock");

/// `NAME-VERSION` of a package, read from the lock file of this build.
pub(crate) fn named(package: &str) -> String {
    let entry = format!("name = \"{package}\"\nversion = \"");
    // A package can stand there in two versions; ours is the newer one, which comes last.
    let version = LOCK
        .rsplit_once(&entry)
        .and_then(|(_, rest)| rest.split('"').next());
    format!(
        "{package}-{}",
        version.expect("every peer is in the lock file")
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_carry_the_locked_version() {
        let name = super::named("glommio");
        assert!(name.starts_with("glommio-0.9."), "{name}");
    }
}
