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

# What needs a GPU; without one the tests say that they were skipped.
test-cuda:
    cargo test -p posteria-cuda -- --nocapture

# How fast a GPU is, beside JAX (if it is installed) in the same run; and fits from the command line by CPU and GPU.
bench-cuda:
    cargo build --release -p posteria-cuda --example speed
    cargo build --release
    python3 bench/cuda.py target/release/examples/speed
    python3 bench/devices.py measure target/release/posteria target/device-times.json
    python3 bench/devices.py draw target/device-times.json docs/figures/gpu-times.svg
