//! Starts the command line; everything else is in the library.

fn main() -> std::process::ExitCode {
    toolgate::cli::main()
}
