#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::host {

/// What a failed system call on `path` means. Codes: absent (also ENOTDIR, and ESRCH for a process
/// that has ended), denied, timed_out, failed where this process ran out of something, else
/// unreadable.
Error error_of(int number, std::string_view path);

/// One error of a code, "PATH: WHAT".
Error error_at(Errc code, std::string_view path, std::string_view what);

/// The usual words for a code: absent "no such file or folder", not_collected "was not recorded".
Error error_at(Errc code, std::string_view path);

/// "/a//b/./c/" as "/a/b/c"; `..` stays, since only a walk knows what it means behind a link.
/// Errors: unreadable (not absolute, holds a NUL byte, longer than 64 KiB).
Result<std::string> clean_path(std::string_view path);

/// "/a/b" of "/a/b/c", "/" of "/a" and of "/".
std::string_view folder_of(std::string_view clean);

/// "c" of "/a/b/c", "" of "/".
std::string_view name_of(std::string_view clean);

/// "/a" and "b" as "/a/b", "/" and "b" as "/b".
std::string joined(std::string_view folder, std::string_view name);

/// Whether `path` is `folder` or below it.
bool is_within(std::string_view path, std::string_view folder);

}  // namespace goldenv::host
