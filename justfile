# The same commands locally and in continuous integration.

# Everything a change must pass.
check:
    .ci/run

# All tests.
test:
    cargo test --workspace

# The long statistical validations.
test-slow:
    cargo test --workspace --release -- --ignored

# The documentation, with private items.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items

# Effective draws per second beside the peers (bench/README.md says what it needs).
bench:
    python3 bench/samplers.py

# Long simulation-based calibrations of every model (validation/README.md).
validate *arguments:
    cargo run --release --manifest-path validation/Cargo.toml -- {{arguments}}
