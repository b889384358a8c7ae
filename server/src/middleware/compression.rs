//! Answers are compressed for clients that accept it.

use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

/// Bytes from which an answer is worth compressing: a smaller one travels in the same packet anyway.
const LEAST_BYTES: u64 = 1024;
/// Of Brotli and gzip alike: most of the gain at a few milliseconds per megabyte.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);

/// Which answers are compressed.
type Compressible = And<And<SizeAbove, NotForContentType>, NotForContentType>;

/// Compresses answers by Brotli or gzip, except small ones, event streams, images, and those that have an encoding
/// already, as the dashboard's files do.
pub(super) fn layer() -> CompressionLayer<Compressible> {
    CompressionLayer::new().quality(LEVEL).compress_when(
        SizeAbove::new(LEAST_BYTES)
            .and(NotForContentType::SSE)
            .and(NotForContentType::IMAGES),
    )
}
