#include "source/manifest_secrets.h"

#include <string>
#include <utility>

#include "base/sha256.h"
#include "facts/variable_names.h"
#include "probe/redact.h"

namespace goldenv::source {
namespace {

constexpr std::string_view kCommandLine = "kernel.cmdline";
constexpr std::string_view kParameter = "kernel.cmdline.";

/// The value of one boot parameter, which is a secret by the parameter's name.
std::string redact_parameter(const std::string& name, const std::string& value) {
  const std::string word = probe::redact_cmdline({name + "=" + value}).front();
  return word.starts_with(name + "=") ? word.substr(name.size() + 1) : word;
}

/// Of a variable off the list only the digest is known: it is wanted by that, then.
bool is_known_by_digest(std::string_view key) {
  constexpr std::string_view kFamily = "env.";
  return key.starts_with(kFamily) && !facts::is_listed_variable(key.substr(kFamily.size()));
}

void redact_value(const std::string& key, facts::Value& value) {
  if (is_known_by_digest(key) && probe::redact(std::string_view(value.text)) != value.text) {
    value.text = "sha256:" + Sha256::of(value.text).hex();
    return;
  }
  if (key.ends_with(kCommandLine)) {
    value.items = probe::redact_cmdline(std::move(value.items));
  } else if (key.starts_with(kParameter) && !value.text.empty()) {
    value.text = redact_parameter(key.substr(kParameter.size()), value.text);
  }
  facts::Reading reading = std::move(value);
  probe::redact(reading);
  value = std::get<facts::Value>(std::move(reading));
}

void redact_want(const std::string& key, facts::Want& want) {
  redact_value(key, want.value);
  for (facts::Want& one : want.any) {
    redact_want(key, one);
  }
}

}  // namespace

void redact(manifest::Manifest& manifest) {
  for (manifest::Pin& pin : manifest.pins) {
    if (pin.want.kind != facts::Want::Kind::constraint) {
      redact_want(pin.key.name, pin.want);
    }
    probe::redact_in_place(pin.why);
  }
}

}  // namespace goldenv::source
