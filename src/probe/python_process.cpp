#include "probe/python_process.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "host/process.h"
#include "probe/path_text.h"
#include "probe/python_names.h"
#include "probe/python_prefix.h"

namespace goldenv::probe {
namespace {

bool is_python(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.starts_with("python") || name.starts_with("pypy");
}

/// The path by which the program was called, if it leads to the program that runs. A process may
/// have rewritten it (setproctitle), and then it leads elsewhere.
std::optional<std::string> called_as(const host::Host& host, const host::Process& process) {
  if (process.arguments.empty() || process.arguments.front().empty()) {
    return std::nullopt;
  }
  const std::string& word = process.arguments.front();
  std::vector<std::string> places;
  const std::string path = host.variable("PATH").value_or("");
  if (word.starts_with('/')) {
    places.push_back(word);
  } else if (word.find('/') == std::string::npos) {
    for (const std::string_view folder : split(path, ':')) {
      if (folder.starts_with('/')) {
        places.push_back(path_in(normal_path(folder), word));
      }
    }
  } else if (const auto folder = host.read_link("/proc/self/cwd")) {
    places.push_back(path_in(*folder, word));
  }
  for (std::string& place : places) {
    const auto real = host.real_path(place);
    if (real && *real == *process.program) {
      return std::move(place);
    }
  }
  return std::nullopt;
}

/// "/opt/venv" of "/opt/venv/lib/python3.11/site-packages/x/y.so".
std::string prefix_of_module(std::string_view path) {
  const std::size_t site = path.find("/site-packages/");
  if (site == std::string_view::npos) {
    return {};
  }
  const std::string_view series = path.substr(0, site);  // ".../lib/python3.11"
  const std::string_view lib = folder_of(series);
  const bool is_usual = base_name(series).starts_with("python") &&
                        (base_name(lib) == "lib" || base_name(lib) == "lib64");
  return is_usual ? std::string(folder_of(lib)) : std::string();
}

}  // namespace

Result<std::vector<ProcessPython>> pythons_of_process(const host::Host& host) {
  const host::Process* process = host.process();
  std::vector<ProcessPython> found;
  if (process == nullptr) {
    return found;
  }
  if (!process->program) {
    return process->program.error();
  }
  const std::string program = process->program->substr(0, process->program->rfind(host::kDeleted));
  const bool holds_python =
      process->mapped && std::ranges::any_of(*process->mapped, [](const host::MappedFile& file) {
        return base_name(file.path).starts_with("libpython");
      });
  if (!is_python(program) && !holds_python) {
    return found;
  }
  const auto add = [&](std::string path, const std::string& how) {
    found.push_back({std::move(path), process->name + how});
  };
  if (is_python(program)) {
    if (auto called = called_as(host, *process)) {
      const std::string how = " runs " + *called;
      add(*std::move(called), how);
    }
  }
  for (const host::MappedFile& file :
       process->mapped ? *process->mapped : std::vector<host::MappedFile>{}) {
    if (std::string prefix = prefix_of_module(file.path); !prefix.empty()) {
      add(std::move(prefix), " has mapped " + file.path);
      break;
    }
  }
  if (is_python(program)) {
    add(program, " runs " + program);
  } else {
    for (const host::MappedFile& file : *process->mapped) {
      if (base_name(file.path).starts_with("libpython")) {
        add(std::string(folder_of(folder_of(file.path))), " has mapped " + file.path);
        break;
      }
    }
  }
  return found;
}

}  // namespace goldenv::probe
