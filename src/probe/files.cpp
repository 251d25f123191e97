// Digests of files that a manifest names.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

Result<std::string> digest_of(Survey& survey, const std::string& path) {
  const host::Host& host = survey.host();
  const auto learn = [&] {
    return host.ask(path, "sha256", [](int fd) -> Result<std::string> {
      const Result<Sha256> digest = Sha256::of_file(fd);
      if (!digest) {
        return digest.error();
      }
      return digest->hex();
    });
  };
  return survey.request().memory == nullptr
             ? learn()
             : survey.request().memory->recall(host, path, "sha256", learn);
}

/// What stands at a path in place of a regular file: it has no digest, but it is there.
std::string_view kind_at(const host::Host& host, const std::string& path) {
  using Kind = host::FileStatus::Kind;
  const auto status = host.status(path);
  if (!status) {
    return {};
  }
  switch (status->kind) {
    case Kind::folder:
      return "folder";
    case Kind::fifo:
      return "FIFO";
    case Kind::socket:
      return "socket";
    case Kind::device:
      return "device";
    case Kind::file:
    case Kind::link:
    case Kind::other:
      break;
  }
  return {};
}

Reading read_file(Survey& survey, const std::string& path) {
  const Result<std::string> digest = digest_of(survey, path);
  if (digest) {
    return Value::scalar(*digest);
  }
  if (digest.error().code == Errc::unreadable) {
    if (const std::string_view kind = kind_at(survey.host(), path); !kind.empty()) {
      return Value::scalar(std::string(kind));
    }
  }
  return facts::unread(digest.error());
}

void run(Survey& survey) {
  for (const std::string& label : survey.labels_of("file")) {
    const std::string path = survey.untilde(label);
    Reading reading = Unknown{Why::unsupported, "no absolute path", ""};
    if (path.starts_with('/')) {
      reading = read_file(survey, path);
    }
    survey.add("file@" + label, std::move(reading), seen(survey.tilde(path)));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"file"});

}  // namespace

extern const Probe files{.name = "files", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
