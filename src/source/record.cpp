#include "source/record.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "facts/variable_names.h"
#include "host/recording.h"
#include "probe/redact.h"
#include "probe/sysctl_path.h"

namespace goldenv::source {
namespace {

/// Variables off the list of those that are facts, by which probes find their way about.
constexpr std::array<std::string_view, 10> kWays = {
    "GOLDENV_STORE", "HOME",           "MAMBA_ROOT_PREFIX",     "PWD",         "PYENV_ROOT",
    "PYENV_VERSION", "PYTHONUSERBASE", "UV_PYTHON_INSTALL_DIR", "WORKON_HOME", "XDG_DATA_HOME"};

std::string cmdline_without_secrets(std::string_view text) {
  std::vector<std::string> parameters;
  for (const std::string_view word : words(text)) {
    parameters.emplace_back(word);
  }
  return join(probe::redact_cmdline(std::move(parameters)), " ") + "\n";
}

/// A process's variables, or a setting of the kernel's that is a secret. No probe reads either.
bool is_secret_file(std::string_view path) {
  constexpr std::string_view kSettings = "/proc/sys/";
  if (path.starts_with(kSettings)) {
    return probe::is_secret_sysctl(probe::sysctl_name(path.substr(kSettings.size())));
  }
  return path.starts_with("/proc/") && path.ends_with("/environ");
}

std::string safe_text(std::string_view path, std::string_view text) {
  if (is_secret_file(path)) {
    return std::string(probe::kMask) + "\n";
  }
  if (path == "/proc/cmdline") {
    return cmdline_without_secrets(text);
  }
  // Tables with a fixed form (ld.so.cache, SMBIOS, auxv) hold no text of people's.
  return text.find('\0') != std::string_view::npos ? std::string(text) : probe::redact(text);
}

std::optional<std::string> safe_value(std::string_view name, std::string_view value) {
  if (facts::is_secret_name(name) ||
      !(facts::is_listed_variable(name) || std::ranges::find(kWays, name) != kWays.end())) {
    return std::nullopt;
  }
  return probe::redact(value);
}

}  // namespace

Result<facts::Snapshot> record(const probe::Request& request, const std::string& folder) {
  if (Result<void> fit = host::check_record_folder(folder); !fit) {
    return std::move(fit).error();
  }
  const host::Recorder recorder(host::live_host(), {safe_text, safe_value});
  // What was remembered of a file would not be asked of it, and the record would lack the answer.
  probe::Request forgetful = request;
  forgetful.memory = nullptr;
  facts::Snapshot snapshot = probe::look(recorder.host(), forgetful, "@live");
  if (Result<void> done = recorder.write(folder); !done) {
    return std::move(done).error();
  }
  return snapshot;
}

}  // namespace goldenv::source
