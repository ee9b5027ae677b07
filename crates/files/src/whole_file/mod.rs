//! What programs write: a file appears when it is complete, and an answer that cannot be written is an error.
//!
//! Every program of nsq writes its files here. It does not know what is written.

mod cache_folder;
mod leftovers;
mod names;
mod owned;
mod record;
mod replace;
mod standard_streams;
mod work_folder;

pub use cache_folder::cache_folder;
pub use cache_folder::{CacheFolder, find_cache, prepare};
pub use leftovers::remove_leftovers;
pub use names::TEMPORARY;
pub use owned::{is_at, is_mine, private_folder};
pub use replace::{create, must_differ, replace, write};
pub use standard_streams::{has_standard_output, standard_output, tell};
pub use work_folder::{WorkFolder, remove_work_folders};
