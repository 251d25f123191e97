#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "loader/loader.h"
#include "support/program.h"

namespace goldenv::test {

struct Native {
  std::string interpreter;
  std::string multiarch;
  std::uint16_t machine = 0;
};

inline Native native() {
#if defined(__aarch64__)
  return {"/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu", EM_AARCH64};
#else
  return {"/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu", EM_X86_64};
#endif
}

/// What this machine's loader says when it only traces, as ldd(1) has it do.
struct Listing {
  struct Object {
    std::string name;  ///< by which it was asked for
    std::string path;  ///< absolute; "" where it says "not found"
  };
  int status = 0;
  std::string err;
  /// In the order of loading, without the kernel's object, the loader and the program; what is not
  /// found once.
  std::vector<Object> objects;
};

inline Listing listed(const std::string& file, std::map<std::string, std::string> environment,
                      const std::string& folder = "/") {
  environment["LD_TRACE_LOADED_OBJECTS"] = "1";
  const Ended ended =
      run({.argv = {native().interpreter, file}, .environment = environment, .folder = folder});
  Listing listing{ended.status, ended.err, {}};
  const auto base = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  for (const std::string_view line : lines(ended.out)) {
    const std::vector<std::string_view> parts = words(line);
    Listing::Object object;
    if (parts.size() >= 3 && parts[1] == "=>") {
      object = {std::string(parts[0]), parts[2] == "not" ? "" : std::string(parts[2])};
    } else if (parts.size() == 2 && parts[1].starts_with("(0x")) {
      object = {std::string(parts[0]), std::string(parts[0])};
    } else {
      continue;
    }
    if (object.name.starts_with("linux-vdso.") || base(object.name) == base(native().interpreter) ||
        base(object.path) == base(native().interpreter)) {
      continue;
    }
    if (!object.path.empty() && !object.path.starts_with('/')) {
      object.path = folder + "/" + object.path;
    }
    const bool again =
        object.path.empty() && std::ranges::any_of(listing.objects, [&](const auto& other) {
          return other.path.empty() && other.name == object.name;
        });
    if (!again) {
      listing.objects.push_back(std::move(object));
    }
  }
  return listing;
}

/// One line an object, to compare: its path, or its name where none was found.
inline std::vector<std::string> paths(const Listing& listing) {
  std::vector<std::string> out;
  for (const Listing::Object& object : listing.objects) {
    out.push_back(object.path.empty() ? object.name + " not found" : object.path);
  }
  return out;
}

inline std::vector<std::string> paths(const std::vector<loader::Loaded>& objects) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < objects.size(); ++i) {
    out.push_back(objects[i].path.empty() ? objects[i].name + " not found" : objects[i].path);
  }
  return out;
}

}  // namespace goldenv::test
