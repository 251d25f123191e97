#pragma once

namespace goldenv::cli {

/// Has the allocator take memory in few large steps, and the kernel give the first of it at once: a
/// page that is touched alone costs a trap of a microsecond or more, and a look at a machine is
/// over in ten thousand of these. Called before a command begins, not for --help and --version,
/// which need less than is taken here.
void prepare_heap();

}  // namespace goldenv::cli
