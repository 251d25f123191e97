#include "wheel/lock.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "version/version.h"
#include "wheel/lock_builder.h"
#include "wheel/name.h"
#include "wheel/specifier.h"
#include "wheel/url.h"

namespace goldenv::wheel {

Error LockBuilder::fault(std::size_t line, const std::string& what) const {
  return Error{Errc::malformed, name_ + ":" + std::to_string(line) + ": " + what, {}};
}

Result<bool> LockBuilder::holds(std::size_t line, std::string_view marker) const {
  if (trim(marker).empty()) return true;
  const auto parsed = parse_marker(marker);
  if (!parsed) return fault(line, parsed.error().message);
  const Truth found = evaluate(*parsed, environment_);
  if (found == Truth::unknown) {
    return fault(line, "whether " + version::quoted(marker) + " holds here is not known");
  }
  return found == Truth::yes;
}

Result<void> LockBuilder::check_python(std::size_t line, std::string_view specifiers) const {
  if (trim(specifiers).empty() || !environment_.python_full_version) return {};
  const auto parsed = parse_specifiers(specifiers);
  if (!parsed) return fault(line, parsed.error().message);
  if (contains(*parsed, *environment_.python_full_version)) return {};
  return Error{Errc::failed,
               name_ + ": the lock is for Python " + std::string(specifiers) + ", this one is " +
                   *environment_.python_full_version,
               {}};
}

Result<void> LockBuilder::add(LockedPackage package) {
  if (const auto parsed = version::parse(version::Scheme::pep440, package.version); !parsed) {
    return fault(package.line, package.name + ": " + parsed.error().message);
  }
  const auto [at, is_new] = packages_.try_emplace(package.name, package);
  if (is_new) return {};
  LockedPackage& there = at->second;
  const version::Version before{version::Scheme::pep440, there.version};
  const version::Version now{version::Scheme::pep440, package.version};
  if (version::order(before, now) != 0) {
    return fault(package.line, "two versions of " + package.name + ": " + there.version +
                                   " in line " + std::to_string(there.line) + ", " +
                                   package.version + " here");
  }
  there.digests.insert(there.digests.end(), package.digests.begin(), package.digests.end());
  there.wheels.insert(there.wheels.end(), package.wheels.begin(), package.wheels.end());
  return {};
}

void LockBuilder::leave(std::string_view name, std::string why) {
  set.not_taken.push_back({normalised_name(name), std::move(why)});
}

LockedSet LockBuilder::finish() {
  for (auto& [name, package] : packages_) set.packages.push_back(std::move(package));
  packages_.clear();
  return std::move(set);
}

std::string text_under(const doc::Node& node, std::string_view key) {
  const doc::Node* found = node.find(key);
  return found != nullptr && found->is_scalar() && found->quoted ? found->text : "";
}

LockedWheel wheel_of(const doc::Node& entry) {
  LockedWheel wheel;
  wheel.url = text_under(entry, "url");
  wheel.path = text_under(entry, "path");
  wheel.file = text_under(entry, "name");
  if (wheel.file.empty()) wheel.file = text_under(entry, "filename");
  if (wheel.file.empty()) {
    wheel.file = wheel.url.empty() ? wheel.path.substr(wheel.path.rfind('/') + 1)
                                   : file_of(parse_url(wheel.url));
  }
  if (const doc::Node* size = entry.find("size"); size != nullptr && !size->quoted) {
    wheel.size_bytes = to_number(size->text);
  }
  return wheel;
}

LockForm lock_form(std::string_view file_name) {
  file_name = file_name.substr(file_name.rfind('/') + 1);
  if (file_name == "uv.lock") return LockForm::uv;
  const bool pylock = file_name == "pylock.toml" ||
                      (file_name.starts_with("pylock.") && file_name.ends_with(".toml"));
  return pylock ? LockForm::pylock : LockForm::requirements;
}

Result<LockedSet> parse_lock(std::string_view text, LockForm form, std::string_view name,
                             const MarkerEnvironment& environment) {
  switch (form) {
    case LockForm::pylock:
      return parse_pylock(text, name, environment);
    case LockForm::uv:
      return parse_uv_lock(text, name, environment);
    case LockForm::requirements:
      break;
  }
  return parse_requirements(text, name, environment);
}

std::vector<PageFile> page_files(const LockedPackage& package, std::string_view folder) {
  std::vector<PageFile> files;
  for (const LockedWheel& wheel : package.wheels) {
    PageFile file;
    file.file = wheel.file;
    file.url = wheel.url.empty() ? render(resolve(parse_url(folder), wheel.path)) : wheel.url;
    file.sha256 = wheel.sha256;
    file.size_bytes = wheel.size_bytes;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace goldenv::wheel
