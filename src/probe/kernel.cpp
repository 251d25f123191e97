// The running kernel: what it is, how it was built and started.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/compiler.h"
#include "probe/dpkg_status.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/kernel_text.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/redact.h"
#include "version/version.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kProcVersion = "/proc/version";
constexpr std::string_view kSignature = "/proc/version_signature";

Reading upstream(const host::Host& host, const std::string& release, const std::string& build) {
  // Only Ubuntu's kernels have the file.
  std::vector<Error> unseen;
  const std::string signature = text_or_none(host, kSignature, unseen, 4096);
  if (!unseen.empty() && leaves_open(unseen.front())) {
    return Unknown::from(unseen.front());
  }
  const auto level = version::kernel_upstream(release, build, trim(signature));
  if (!level) {
    return Unknown::from(level.error());
  }
  return level->exact ? Value::scalar(level->text) : Value::prefix(level->text);
}

void add_names(Survey& survey) {
  const host::Host& host = survey.host();
  const KernelName release = kernel_release(host);
  const KernelName build = kernel_build(host);
  survey.add("kernel",
             release.text ? Reading(Value::scalar(*release.text))
                          : Reading(Unknown::from(release.text.error())),
             seen(release.from));
  survey.add("kernel.build",
             build.text ? Reading(Value::scalar(without_builder(*build.text)))
                        : Reading(Unknown::from(build.text.error())),
             seen(build.from));
  if (!release.text) {
    survey.add("kernel.upstream", Unknown::from(release.text.error()), seen(release.from));
  } else if (survey.wants("kernel.upstream")) {
    facts::Evidence evidence = seen("uname");
    if (host.exists(kSignature)) {  // where the fact comes from, not the fact
      evidence = seen(kSignature);
    }
    evidence.basis = "derived";
    survey.add("kernel.upstream", upstream(host, *release.text, build.text.value_or("")),
               std::move(evidence));
  }
}

void add_compiler(Survey& survey) {
  if (!survey.wants("kernel.compiler")) {
    return;
  }
  const Result<std::string> text = survey.host().read_file(kProcVersion, 4096);
  Reading reading;
  if (!text) {
    reading = facts::unread(text.error());
  } else if (std::string name = compiler_name(version_compiler(*text)); !name.empty()) {
    reading = Value::scalar(std::move(name));
  } else {
    reading = Unknown{Why::not_stated, "/proc/version names no compiler", ""};
  }
  survey.add("kernel.compiler", std::move(reading), seen(kProcVersion));
}

void add_cmdline(Survey& survey) {
  if (!survey.wants("kernel.cmdline")) {
    return;
  }
  const Result<std::string> text = survey.host().read_file("/proc/cmdline", 64u << 10);
  survey.add("kernel.cmdline",
             text ? Reading(Value::list(redact_cmdline(split_cmdline(*text))))
                  : facts::unread(text.error()),
             seen("/proc/cmdline"));
}

void add_taint(Survey& survey) {
  constexpr std::string_view kPath = "/proc/sys/kernel/tainted";
  if (!survey.wants("kernel.taint")) {
    return;
  }
  Reading reading = one_line(survey.host(), kPath);
  if (const auto* value = std::get_if<Value>(&reading)) {
    const auto mask = to_number(value->text);
    reading = mask ? Reading(Value::set(taint_letters(*mask)))
                   : Reading(Unknown{Why::unreadable, "no number: " + value->text, ""});
  }
  survey.add("kernel.taint", std::move(reading), seen(kPath));
}

void add_lockdown(Survey& survey) {
  constexpr std::string_view kPath = "/sys/kernel/security/lockdown";
  if (!survey.wants("kernel.lockdown")) {
    return;
  }
  survey.add("kernel.lockdown", bracketed(survey.host(), kPath), seen(kPath));
}

/// Releases that have modules or an image here.
void add_installed(Survey& survey) {
  if (!survey.wants("kernel.installed")) {
    return;
  }
  const host::Host& host = survey.host();
  const auto modules = host.list("/lib/modules");
  const auto boot = host.list("/boot");
  std::vector<std::string> releases;
  for (const auto* listed : {&modules, &boot}) {
    if (!*listed && listed->error().code != Errc::absent) {
      survey.add("kernel.installed", Unknown::from(listed->error()), seen("/lib/modules, /boot"));
      return;
    }
  }
  if (modules) {
    for (const host::DirEntry& entry : *modules) {
      if (entry.kind != host::FileStatus::Kind::file && !entry.name.empty() &&
          entry.name.front() >= '0' && entry.name.front() <= '9') {
        releases.push_back(entry.name);
      }
    }
  }
  if (boot) {
    constexpr std::string_view kImage = "vmlinuz-";
    for (const host::DirEntry& entry : *boot) {
      // Fedora's rescue image is a copy of another kernel.
      if (entry.name.starts_with(kImage) && entry.name.find("-rescue-") == std::string::npos &&
          !entry.name.ends_with(".old")) {
        releases.push_back(entry.name.substr(kImage.size()));
      }
    }
  }
  survey.add("kernel.installed",
             modules || boot ? Reading(Value::set(std::move(releases)))
                             : Reading(Absent{"neither /lib/modules nor /boot is there"}),
             seen("/lib/modules, /boot"));
}

void add_headers(Survey& survey) {
  if (!survey.wants("kernel.headers") && !survey.wants("kernel.headers.compiler")) {
    return;
  }
  const host::Host& host = survey.host();
  const Result<std::string> release = kernel_release(host).text;
  if (!release) {
    survey.add("kernel.headers", Unknown::from(release.error()), seen("uname"));
    survey.add("kernel.headers.compiler", Unknown::from(release.error()), seen("uname"));
    return;
  }
  const std::string generated = "/lib/modules/" + *release + "/build/include/generated/";
  const auto read = [&](const std::string& file, std::string_view name) -> Reading {
    const Result<std::string> text = host.read_file(generated + file, 64u << 10);
    if (!text) {
      // A `build` link that leads nowhere is what a removed headers package leaves.
      return text.error().code == Errc::absent ? Reading(Absent{"headers not installed"})
                                               : Reading(Unknown::from(text.error()));
    }
    const std::string_view value = quoted_definition(*text, name);
    return value.empty() ? Reading(Unknown{Why::unreadable,
                                           file + " does not define " + std::string(name), ""})
                         : Reading(Value::scalar(std::string(value)));
  };
  survey.add("kernel.headers", read("utsrelease.h", "UTS_RELEASE"),
             seen(generated + "utsrelease.h"));
  Reading compiler = read("compile.h", "LINUX_COMPILER");
  if (auto* value = std::get_if<Value>(&compiler)) {
    std::string name = compiler_name(value->text);
    compiler = name.empty() ? Reading(Unknown{Why::not_stated, "no compiler is named", ""})
                            : Reading(Value::scalar(std::move(name)));
  }
  survey.add("kernel.headers.compiler", std::move(compiler), seen(generated + "compile.h"));
}

void add_package(Survey& survey) {
  if (!survey.wants("kernel.package")) {
    return;
  }
  const host::Host& host = survey.host();
  const Result<std::string> release = kernel_release(host).text;
  const Result<DpkgStatus>& status = dpkg_status(survey);
  const facts::Evidence evidence = seen(status ? status->from : "/var/lib/dpkg/status");
  if (!release) {
    survey.add("kernel.package", Unknown::from(release.error()), seen("uname"));
    return;
  }
  if (!status) {
    Reading reading = facts::unread(status.error());
    for (const std::string_view rpm : {"/var/lib/rpm", "/usr/lib/sysimage/rpm"}) {
      const auto there = is_there(host, rpm);
      if (std::holds_alternative<Absent>(reading) && !there) {
        reading = Unknown::from(there.error());
      } else if (std::holds_alternative<Absent>(reading) && *there) {
        reading = Unknown{Why::unsupported, "rpm's database is not read", ""};
      }
    }
    survey.add("kernel.package", std::move(reading), evidence);
    return;
  }
  for (const DpkgPackage& package : status->packages) {
    if (!package.is_installed() || !package.name.ends_with(*release)) {
      continue;
    }
    const std::string_view start = package.name.substr(0, package.name.size() - release->size());
    if (start == "linux-image-" || start == "linux-image-unsigned-" || start == "proxmox-kernel-" ||
        start == "pve-kernel-") {
      facts::Evidence found = seen(status->from, std::string(package.name));
      found.line = package.line;
      survey.add("kernel.package", Value::scalar(std::string(package.version)), std::move(found));
      return;
    }
  }
  // A container's list does not hold the host's kernel and says nothing of it.
  Reading reading = Unknown{Why::not_stated, "the running kernel was not installed here", ""};
  for (const std::string& path : {"/lib/modules/" + *release, "/boot/vmlinuz-" + *release}) {
    const auto ours = is_there(host, path);
    if (ours && *ours) {
      reading = Absent{"no package of this release"};
      break;
    }
    if (!ours) {
      reading = Unknown::from(ours.error());
    }
  }
  survey.add("kernel.package", std::move(reading), evidence);
}

void run(Survey& survey) {
  add_names(survey);
  add_compiler(survey);
  add_cmdline(survey);
  add_taint(survey);
  add_lockdown(survey);
  add_installed(survey);
  add_headers(survey);
  add_package(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "kernel",
    "kernel.upstream",
    "kernel.build",
    "kernel.compiler",
    "kernel.cmdline",
    "kernel.taint",
    "kernel.lockdown",
    "kernel.installed",
    "kernel.headers",
    "kernel.headers.compiler",
    "kernel.package",
});

}  // namespace

extern const Probe kernel{.name = "kernel", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
