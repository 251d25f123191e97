#include "probe/boot_entries.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "probe/extlinux.h"
#include "probe/instances.h"
#include "probe/kernel_text.h"
#include "probe/presence.h"
#include "probe/redact.h"
#include "version/rpm.h"

namespace goldenv::probe {
namespace {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// Where the partition that the firmware reads, or the one of the kernels, is mounted.
constexpr auto kBootFolders = std::to_array<std::string_view>({"/boot", "/efi", "/boot/efi"});
constexpr std::string_view kLoaderGuid = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";

Error undecided(std::string why) { return Error{Errc::malformed, std::move(why), {}}; }

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// Unknown, and ambiguous where the configuration was read and does not decide.
Unknown unknown_of(const Error& error) {
  if (error.code == Errc::malformed) {
    return Unknown{Why::ambiguous, error.message, ""};
  }
  Unknown unknown = Unknown::from(error);
  if (unknown.why == Why::denied) {
    unknown.needs = "root";
  }
  return unknown;
}

NextBoot nothing(const Unknown& unknown, facts::Evidence evidence) {
  return {unknown, unknown, std::move(evidence)};
}

/// Bytes of a file where it is there, "" where it is not.
Result<std::string> read_if_there(const host::Host& host, const std::string& path) {
  Result<std::string> text = host.read_file(path);
  return !text && text.error().code == Errc::absent ? Result<std::string>(std::string()) : text;
}

/// Text of a variable of the firmware's in which systemd-boot speaks to the system; "" where it is
/// not set. 4 bytes of attributes, then UTF-16.
Result<std::string> loader_variable(const host::Host& host, std::string_view name) {
  GOLDENV_TRY(const std::string bytes,
              read_if_there(host, "/sys/firmware/efi/efivars/" + std::string(name) +
                                      std::string(kLoaderGuid)));
  std::string text;
  for (std::size_t i = 4; i + 1 < bytes.size(); i += 2) {
    if (bytes[i] == '\0' && bytes[i + 1] == '\0') {
      break;
    }
    text += bytes[i + 1] == '\0' ? bytes[i] : '?';
  }
  return text;
}

/// `options` with variables filled in; GRUB takes one that is not set for empty.
Result<std::string> filled_in(std::string_view options, const BootVariables& saved,
                              const GrubMenu& menu) {
  std::string out;
  while (!options.empty()) {
    const std::size_t dollar = std::min(options.find('$'), options.size());
    out += options.substr(0, dollar);
    options.remove_prefix(dollar);
    if (options.empty()) {
      break;
    }
    options.remove_prefix(1);
    const bool braced = options.starts_with('{');
    const std::string_view rest = braced ? options.substr(1) : options;
    const std::size_t end = std::min(
        rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
        rest.size());
    const std::string_view name = rest.substr(0, end);
    if (name.empty() || std::ranges::find(menu.doubtful, name) != menu.doubtful.end()) {
      return undecided("the boot loader computes $" + std::string(name));
    }
    for (const BootVariables* variables : {&saved, &menu.set}) {
      const auto it = variables->find(name);
      if (it != variables->end()) {
        out += it->second;
        break;
      }
    }
    options.remove_prefix(std::min(end + (braced ? 2 : 0), options.size()));
  }
  return out;
}

/// The release of an entry's kernel: in its image's name, its folder's name, the entry's own
/// `version`, or the image itself.
Reading release_of(const host::Host& host, const BootEntry& entry) {
  std::string release = release_in_name(entry.image);
  if (release.empty() && begins_with_digit(entry.version)) {
    release = entry.version;
  }
  if (!release.empty()) {
    return Value::scalar(std::move(release));
  }
  const std::string path = entry.image.substr(std::min(entry.image.find('/'), entry.image.size()));
  std::vector<std::string> places{path};
  for (const std::string_view folder : kBootFolders) {
    places.push_back(std::string(folder) + path);
  }
  std::optional<Error> error;
  for (const std::string& place : places) {
    if (const auto real = host.real_path(place)) {
      if (release = release_in_name(*real); !release.empty()) {
        return Value::scalar(std::move(release));
      }
    }
    const Result<std::string> head = host.read_head(place, 64u << 10);
    if (head) {
      release = release_in_image(*head);
      if (!release.empty()) {
        return Value::scalar(std::move(release));
      }
    } else if (head.error().code != Errc::absent && !error) {
      error = head.error();
    }
  }
  return error ? unknown_of(*error)
               : Unknown{Why::not_stated, "nothing says which release " + entry.image + " is", ""};
}

Reading cmdline_of(const Result<std::string>& text) {
  return text ? Reading(Value::list(redact_cmdline(split_cmdline(*text))))
              : Reading(unknown_of(text.error()));
}

Result<std::vector<BootEntry>> loader_entries(const host::Host& host) {
  std::vector<BootEntry> entries;
  for (const std::string_view folder : kBootFolders) {
    const std::string path = std::string(folder) + "/loader/entries";
    const auto files = host.list(path);
    if (!files) {
      if (files.error().code == Errc::absent) {
        continue;
      }
      return files.error();
    }
    for (const host::DirEntry& file : *files) {
      if (file.name.ends_with(".conf") && file.kind != host::FileStatus::Kind::folder) {
        const std::string name = path + "/" + file.name;
        GOLDENV_TRY(const std::string text, host.read_file(name, 64u << 10));
        entries.push_back(parse_loader_entry(text, name));
      }
    }
  }
  return entries;
}

/// A unified kernel image is an entry of systemd-boot's menu by being there.
bool has_unified_images(const host::Host& host) {
  return std::ranges::any_of(kBootFolders, [&](std::string_view folder) {
    const auto files = host.list(std::string(folder) + "/EFI/Linux");
    return files && std::ranges::any_of(*files, [](const host::DirEntry& file) {
             return file.name.ends_with(".efi");
           });
  });
}

struct LoaderConfig {
  std::string path;  ///< "" where there is none
  std::string default_entry;
};

Result<LoaderConfig> loader_config(const host::Host& host) {
  LoaderConfig config;
  for (const std::string_view folder : kBootFolders) {
    const std::string path = std::string(folder) + "/loader/loader.conf";
    const Result<std::string> text = host.read_file(path, 64u << 10);
    if (!text) {
      if (text.error().code == Errc::absent) {
        continue;
      }
      return text.error();
    }
    config.path = path;
    for (const std::string_view line : lines(*text)) {
      const auto parts = words(line);
      if (parts.size() > 1 && parts[0] == "default") {
        config.default_entry = std::string(trim(line.substr(line.find("default") + 7)));
      }
    }
    return config;
  }
  return config;
}

Result<BootEntry> systemd_boot_entry(const host::Host& host, const LoaderConfig& config,
                                     const std::vector<BootEntry>& entries) {
  GOLDENV_TRY(std::string wanted, loader_variable(host, "LoaderEntryOneShot"));
  if (wanted.empty()) {
    GOLDENV_TRY(wanted, loader_variable(host, "LoaderEntryDefault"));
  }
  if (wanted.empty()) {
    wanted = config.default_entry;
  }
  if (has_unified_images(host)) {
    return undecided("unified kernel images stand beside the boot loader entries");
  }
  return pick_loader_entry(entries, wanted);
}

NextBoot from_systemd_boot(const host::Host& host, const LoaderConfig& config,
                           const std::vector<BootEntry>& entries) {
  const Result<BootEntry> entry = systemd_boot_entry(host, config, entries);
  if (!entry) {
    return nothing(unknown_of(entry.error()),
                   seen(config.path.empty() ? entries.front().file : config.path));
  }
  return {release_of(host, *entry), cmdline_of(entry->options), seen(entry->file)};
}

/// GRUB's own file and what belongs to it.
struct Grub {
  std::string path;  ///< "" where there is none
  BootVariables saved;
  GrubMenu menu;
};

Result<Grub> read_grub(const host::Host& host) {
  std::vector<std::string> places{"/boot/grub2/grub.cfg", "/boot/grub/grub.cfg"};
  const auto efi = is_there(host, "/sys/firmware/efi");
  if (!efi && leaves_open(efi.error())) {
    return efi.error();
  }
  if (efi.value_or(false)) {
    places.insert(places.begin(), "/etc/grub2-efi.cfg");  // Red Hat's link to the one in use
  }
  Grub grub;
  for (const std::string& place : places) {
    const Result<std::string> text = host.read_file(place);
    if (!text) {
      if (text.error().code == Errc::absent) {
        continue;
      }
      return text.error();
    }
    const std::string path = host.real_path(place).value_or(place);
    const std::string folder = path.substr(0, path.rfind('/'));
    GOLDENV_TRY(const std::string saved, read_if_there(host, folder + "/grubenv"));
    BootVariables variables = parse_grubenv(saved);
    GrubMenu menu = parse_grub(*text, path, variables);
    if (!menu.is_menu) {
      continue;
    }
    GOLDENV_TRY(const std::string custom, read_if_there(host, folder + "/custom.cfg"));
    if (!trim(custom).empty()) {
      menu.entry = undecided(folder + "/custom.cfg may change the default");
      menu.takes_entries = false;
    }
    return Grub{path, std::move(variables), std::move(menu)};
  }
  return grub;
}

/// GRUB with Red Hat's blscfg: its menu is the boot loader entries, the newest name first.
Result<BootEntry> blscfg_entry(const Grub& grub, const std::vector<BootEntry>& entries) {
  const std::string& wanted = grub.menu.wanted;
  if (wanted.empty()) {
    return undecided("the default is set twice");
  }
  const auto named = std::ranges::find_if(
      entries, [&](const BootEntry& entry) { return entry.id == wanted || entry.title == wanted; });
  if (named != entries.end()) {
    return *named;
  }
  const auto newest = std::ranges::max_element(entries, [](const BootEntry& a, const BootEntry& b) {
    return version::rpm::compare_runs(a.id, b.id) < 0;
  });
  if (newest == entries.end()) {
    return undecided("there are no boot loader entries");
  }
  if (wanted != "0" && to_number(wanted)) {
    return undecided("the default counts entries: " + wanted);
  }
  return *newest;
}

NextBoot from_grub(const host::Host& host, const Grub& grub,
                   const Result<std::vector<BootEntry>>& entries) {
  if (grub.menu.takes_entries) {
    if (!entries) {
      return nothing(unknown_of(entries.error()), seen("/boot/loader/entries"));
    }
    const Result<BootEntry> entry = blscfg_entry(grub, *entries);
    if (!entry) {
      return nothing(unknown_of(entry.error()), seen(grub.path));
    }
    return {release_of(host, *entry), cmdline_of(filled_in(entry->options, grub.saved, grub.menu)),
            seen(entry->file)};
  }
  if (!grub.menu.entry) {
    return nothing(unknown_of(grub.menu.entry.error()), seen(grub.path));
  }
  const BootEntry& entry = *grub.menu.entry;
  Result<std::string> options = filled_in(entry.options, grub.saved, grub.menu);
  if (options) {
    options = "BOOT_IMAGE=" + entry.image + " " + *options;  // which GRUB puts before the rest
  }
  return {release_of(host, entry), cmdline_of(options), seen(entry.file, entry.line)};
}

/// Jetson's. Variables that its boot loader fills in leave the command line open; an image for Arm
/// states no release.
std::optional<NextBoot> from_extlinux(const host::Host& host) {
  const Result<std::string> text = host.read_file(kExtlinux, 64u << 10);
  if (!text) {
    return text.error().code == Errc::absent
               ? std::nullopt
               : std::optional(nothing(unknown_of(text.error()), seen(kExtlinux)));
  }
  const Result<BootEntry> entry = parse_extlinux(*text, std::string(kExtlinux));
  if (!entry) {
    return nothing(unknown_of(entry.error()), seen(kExtlinux));
  }
  const Result<std::string> options =
      entry->options.find("${") == std::string::npos
          ? Result<std::string>(entry->options)
          : undecided("the boot loader fills in variables: " + entry->options);
  return NextBoot{release_of(host, *entry), cmdline_of(options), seen(entry->file, entry->line)};
}

/// Debian keeps links to the newest kernel, also where no boot loader is installed.
NextBoot from_links(const host::Host& host) {
  for (const std::string link : {"/vmlinuz", "/boot/vmlinuz"}) {
    if (!host.read_link(link)) {
      continue;
    }
    const std::string target = host.real_path(link).value_or(host.read_link(link).value_or(""));
    if (std::string release = release_in_name(target); !release.empty()) {
      return {Value::scalar(std::move(release)),
              Unknown{Why::not_stated, "no boot loader's configuration is here", ""},
              seen(link, "leads to " + target)};
    }
  }
  return nothing(Unknown{Why::not_stated, "no boot loader's configuration is here", ""},
                 seen("/boot"));
}

NextBoot find_next_boot(const host::Host& host) {
  const Result<Grub> grub = read_grub(host);
  if (!grub) {
    return nothing(unknown_of(grub.error()), seen("/boot"));
  }
  const bool has_grub = !grub->path.empty();
  const Result<std::vector<BootEntry>> entries = loader_entries(host);
  if (has_grub && grub->menu.takes_entries) {
    return from_grub(host, *grub, entries);
  }
  const Result<LoaderConfig> config = loader_config(host);
  if (!entries || !config) {
    return nothing(unknown_of(entries ? config.error() : entries.error()), seen("/boot/loader"));
  }
  if (entries->empty() || (has_grub && config->path.empty())) {
    if (has_grub) {
      return from_grub(host, *grub, entries);
    }
    const std::optional<NextBoot> extlinux = from_extlinux(host);
    return extlinux ? *extlinux : from_links(host);
  }
  if (!has_grub) {
    return from_systemd_boot(host, *config, *entries);
  }
  // Both are installed: systemd-boot says when it was what started this system.
  const Result<std::string> loader = loader_variable(host, "LoaderInfo");
  if (!loader) {
    return nothing(unknown_of(loader.error()), seen("/boot"));
  }
  return loader->starts_with("systemd-boot") ? from_systemd_boot(host, *config, *entries)
                                             : from_grub(host, *grub, entries);
}

}  // namespace

const std::string* NextBoot::release() const {
  const auto* value = std::get_if<Value>(&kernel);
  return value == nullptr ? nullptr : &value->text;
}

const std::vector<std::string>* NextBoot::parameters() const {
  const auto* value = std::get_if<Value>(&cmdline);
  return value == nullptr ? nullptr : &value->items;
}

const NextBoot& next_boot_of(Survey& survey) {
  return survey.shared<NextBoot>([&] { return find_next_boot(survey.host()); });
}

}  // namespace goldenv::probe
