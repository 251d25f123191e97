#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// For one look at a mount that can hang, and for the write to it: an automounter or a busy server
/// may need some seconds, which a result is worth.
inline constexpr std::chrono::milliseconds kWriteDeadline{5000};

/// For a reader to open a pipe.
inline constexpr std::chrono::milliseconds kReaderDeadline{3000};

/// All of a text to a descriptor; false where that fails, with errno set.
bool write_all(int fd, std::string_view text);

/// Writes a result where a user wants it, relative to the working folder: a pipe or device as it
/// is, once somebody reads it; a file by rename, so that it is there whole or not at all, a link
/// staying one and an old file keeping its mode. No link is followed that another user planted in
/// a folder open to all. What lies on a mount that can hang is written by a child with a deadline.
/// Errors: timed_out, failed (with the system's words); the message begins "cannot write PATH: ".
Result<void> write_result(const std::string& path, std::string_view text,
                          LiveOptions options = {kWriteDeadline, {}});

}  // namespace goldenv::host
