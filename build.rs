//! How the released program is linked.
//!
//! A short run of it takes some five milliseconds, and one of them went into moving half a megabyte of tables of pointers to
//! where the loader had put the program. Linked to a fixed address it starts without that: the first byte of a streamed
//! answer comes an eighth sooner. What is given up is that the program's own code stands at another address in each
//! run; libraries, heap and stack still do, and all that reads what comes from outside is safe Rust.

#![expect(clippy::disallowed_methods, reason = "this is how a build script is spoken to")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // Elsewhere the linker has other words for it, or none.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
