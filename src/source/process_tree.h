#pragma once

#include <sys/types.h>

#include <vector>

// Ending a process with all that came of it; source/program.h runs them.
namespace goldenv::source {

/// Kills a child of ours that has not been reaped: its process group, what descends from it by
/// /proc, whatever its group or session, and what holds one of those pipes open, its parents being
/// gone. It is stopped first, so that nothing is started meanwhile.
void end_with_descendants(pid_t child, const std::vector<ino_t>& pipes);

}  // namespace goldenv::source
