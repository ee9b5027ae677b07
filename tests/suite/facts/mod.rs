//! What a capture is, before what it means: times that cannot be true, launches and their work, calls, GPUs.

mod calls;
mod capture;
mod contention;
mod cycles;
mod doubts;
mod fixes;
mod gpus;
mod hangs;
mod idle;
mod judged;
mod kinds;
mod launches;
mod metrics;
mod slower;
mod times;
mod traces;
mod unfinished;
