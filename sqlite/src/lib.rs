//! nsq as an extension of SQLite: `.load nsq` on an export of nsys, and each query, each relation and each SQL function of nsq can
//! be used in statements, in any program that loads extensions.
//!
//! ```sql
//! SELECT kernel_name, total_ns FROM top_kernels(5);
//! SELECT gpu_name, idle_ns FROM gpu_time JOIN gpu USING (gpu_id);
//! SELECT op_class(kernel_name) AS class, sum(dur_ns) FROM kernel GROUP BY class;
//! ```
//!
//! The functions run on the host's connection. Queries and relations are asked as `nsq run` and `nsq sql` ask them, on connections
//! of their own to the same file, opened with the host's SQLite ([`host`]): so the answers are the same, and
//! nothing is written. [`table`] passes their rows on.

mod batch;
mod host;
mod listed;
mod offer;
mod plan;
mod rows;
mod scope;
mod shape;
mod table;
