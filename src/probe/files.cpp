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
    return host.inspect(path, [](int fd) -> Result<std::string> {
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

void run(Survey& survey) {
  for (const std::string& label : survey.labels_of("file")) {
    const std::string path = survey.untilde(label);
    Reading reading = Unknown{Why::unsupported, "no absolute path", ""};
    if (path.starts_with('/')) {
      const Result<std::string> digest = digest_of(survey, path);
      reading = digest ? Reading(Value::scalar(*digest)) : facts::unread(digest.error());
    }
    survey.add("file@" + label, std::move(reading), seen(survey.tilde(path)));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"file"});

}  // namespace

extern const Probe files{.name = "files", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
