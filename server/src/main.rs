//! Starts the command line; everything else is in the library.

/// Calls allocate many small, short-lived values, which this allocator serves cheaper than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    toolgate::cli::main()
}
