// Any bytes as a lock file of each form, and as what `pip config list` prints.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "wheel/lock.h"
#include "wheel/name.h"
#include "wheel/pip_settings.h"

namespace goldenv::wheel {
namespace {

void require(bool holds, std::string_view promise, std::string_view text) {
  if (holds) return;
  std::cerr << "broken: " << promise << "\n[" << text << "]\n";
  std::abort();
}

void check(const LockedSet& set, std::string_view text) {
  std::string last;
  for (const LockedPackage& package : set.packages) {
    require(package.name > last, "packages are sorted, each name once", text);
    last = package.name;
    require(is_name(package.name) && !package.version.empty(), "a package is exact", text);
    require(package.line > 0, "a package has a line", text);
    for (const LockedWheel& wheel : package.wheels) {
      require(parse_wheel_name(wheel.file).has_value(), "a wheel has a name", text);
    }
    require(page_files(package, "file:///srv/").size() == package.wheels.size(),
            "every wheel is a file", text);
  }
}

}  // namespace
}  // namespace goldenv::wheel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace goldenv::wheel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const MarkerEnvironment environment = linux_environment("3.11.7", "x86_64");
  for (const LockForm form : {LockForm::requirements, LockForm::pylock, LockForm::uv}) {
    const auto set = parse_lock(text, form, "lock", environment);
    if (set) {
      check(*set, text);
    } else {
      require(set.error().message.starts_with("lock:"), "an error names the lock", text);
    }
  }
  if (const auto settings = parse_pip_settings(text)) {
    require(!settings->timeout_s || *settings->timeout_s >= 0, "seconds are a number", text);
  }
  return 0;
}
