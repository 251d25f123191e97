#include "probe/presence.h"

#include <utility>

namespace goldenv::probe {

Result<bool> is_there(const host::Host& host, std::string_view path) {
  const auto status = host.status(path);
  if (status) {
    return true;
  }
  return status.error().code == Errc::absent ? Result<bool>(false) : Result<bool>(status.error());
}

bool leaves_open(const Error& error) {
  return error.code != Errc::absent && error.code != Errc::not_live &&
         error.code != Errc::not_collected;
}

Result<void> variables_known(const host::Host& host) {
  const auto path = host.variable("PATH");
  return path || !leaves_open(path.error()) ? Result<void>() : Result<void>(path.error());
}

Result<void> mounts_known(const host::Host& host) {
  if (!host.mounts().empty()) {
    return {};
  }
  const auto text = host.read_file("/proc/self/mountinfo");
  return text || !leaves_open(text.error()) ? Result<void>() : Result<void>(text.error());
}

void note_unseen(const Error& error, std::vector<Error>& unseen) {
  if (error.code != Errc::absent) {
    unseen.push_back(error);
  }
}

std::vector<host::DirEntry> entries_or_none(const host::Host& host, std::string_view path,
                                            std::vector<Error>& unseen) {
  auto entries = host.list(path);
  if (entries) {
    return *std::move(entries);
  }
  note_unseen(entries.error(), unseen);
  return {};
}

std::string text_or_none(const host::Host& host, std::string_view path, std::vector<Error>& unseen,
                         std::size_t limit_bytes) {
  auto text = host.read_file(path, limit_bytes);
  if (text) {
    return *std::move(text);
  }
  note_unseen(text.error(), unseen);
  return {};
}

}  // namespace goldenv::probe
