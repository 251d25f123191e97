#pragma once

#include <chrono>

namespace goldenv::store {

/// gc holds the lock for as long as it takes to find what is dead and to rename it, milliseconds;
/// a use of the store may take as long as its downloads.
inline constexpr std::chrono::milliseconds kLockPatience{30'000};

/// flock(2) with a limit: false with errno EWOULDBLOCK when that is over.
bool take_lock(int fd, int how, std::chrono::milliseconds patience);

}  // namespace goldenv::store
