#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "launch/format.h"
#include "privileged/privileged.h"
#include "privileged/script_parts.h"

namespace goldenv::privileged {
namespace {

using Kind = Step::Kind;

std::string quoted(std::string_view text) { return launch::shell_quoted(text); }

/// A text as one line of a comment.
std::string comment(std::string_view text) {
  std::string line;
  for (const char c : text) {
    line += c >= ' ' && c <= '~' ? c : '?';
  }
  return "# " + line + "\n";
}

/// A name as a part of a file's name: one byte that is more than a letter, digit, '.', '_' or '-'
/// becomes =XX.
std::string file_part(std::string_view name) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string part;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (is_plain) {
      part += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    part += '=';
    part += kHex[byte >> 4];
    part += kHex[byte & 15];
  }
  return part;
}

/// The file below /proc/sys: dots part folders, slashes are dots. Source: sysctl(8).
std::string sysctl_file(std::string_view name) {
  std::string path(name);
  for (char& c : path) {
    c = c == '.' ? '/' : c == '/' ? '.' : c;
  }
  return "/proc/sys/" + path;
}

/// The file that makes a step last; "" where none does.
std::string lasting_file(const Step& step) {
  switch (step.kind) {
    case Kind::sysctl:
      return step.lasting ? "/etc/sysctl.d/90-goldenv-" + file_part(step.name) + ".conf" : "";
    case Kind::module_parameter: {
      std::string name = file_part(step.name);
      name.replace(name.find("=20"), 3, "-");
      return "/etc/modprobe.d/90-goldenv-" + name + ".conf";
    }
    case Kind::boot_parameter:
      return "/etc/default/grub.d/90-goldenv-" + file_part(step.name) + ".cfg";
    default:
      return "";
  }
}

/// A part of grub-mkconfig's settings, which it reads as shell: every word of the name is taken out
/// of what other files set, then the wanted ones follow.
std::string grub_text(const Step& step) {
  std::string pattern;
  for (const char c : step.name) {
    pattern += c == '_' ? "[-_]" : std::string(1, c);
  }
  std::string words;
  for (const std::string& word : step.words) {
    words += " " + word;
  }
  return "goldenv_without() {\n"
         "  goldenv_kept=\n"
         "  set -f\n"
         "  for goldenv_word in $1; do\n"
         "    case $goldenv_word in\n"
         "      " +
         pattern + " | " + pattern +
         "=*) ;;\n"
         "      *) goldenv_kept=\"$goldenv_kept $goldenv_word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  set +f\n"
         "}\n"
         "goldenv_without \"${GRUB_CMDLINE_LINUX_DEFAULT:-}\"\n"
         "GRUB_CMDLINE_LINUX_DEFAULT=${goldenv_kept# }\n"
         "goldenv_without \"${GRUB_CMDLINE_LINUX:-}\"\n"
         "GRUB_CMDLINE_LINUX=\"${goldenv_kept# }" +
         words + "\"";
}

std::string lasting_text(const Step& step, const ScriptOptions& options) {
  const std::string title = comment("goldenv, manifest " + options.manifest);
  switch (step.kind) {
    case Kind::sysctl:
      return title + step.name + " = " + step.want;
    case Kind::module_parameter: {
      const std::size_t blank = step.name.find(' ');
      const bool is_quoted = step.want.empty() || step.want.find(' ') != std::string::npos;
      return title + "options " + step.name.substr(0, blank) + " " + step.name.substr(blank + 1) +
             "=" + (is_quoted ? "\"" + step.want + "\"" : step.want);
    }
    default:
      return title + grub_text(step);
  }
}

/// What a script is made of for one step: what is kept first, the change, the way back.
struct Lines {
  std::string keep;
  std::string change;
  std::string undo;
};

class Writer {
 public:
  Writer(std::span<const Step> steps, const ScriptOptions& options)
      : steps_(steps), options_(options) {}

  std::string text() {
    std::string keep;
    std::string change;
    std::string undo;
    const bool has_packages = has(Kind::package);
    const std::size_t count = static_cast<std::size_t>(std::ranges::count_if(
                                  steps_, [](const Step& s) { return s.kind != Kind::package; })) +
                              (has_packages ? 1 : 0) + (has(Kind::module_parameter) ? 1 : 0) +
                              (has(Kind::boot_parameter) ? 1 : 0);
    std::size_t at = 0;
    const auto put = [&](const std::string& comments, const std::string& what, const Lines& lines) {
      ++at;
      if (!lines.keep.empty()) {
        keep += "step=" + quoted("keeping what is there now, before " + what) + "\n" + lines.keep;
      }
      change += "\n" + comments + "step=" +
                quoted(std::to_string(at) + " of " + std::to_string(count) + ": " + what) +
                "\nsay \"$step\"\n" + lines.change;
      undo = lines.undo + undo;
    };
    if (has_packages) {
      put(comments_of(Kind::package), package_title(), package_lines());
    }
    for (const Step& step : steps_) {
      if (step.kind != Kind::package) {
        put(comments_of(step), join(step.keys, ", ") + " " + step.want, lines_of(step, at + 1));
      }
    }
    // They read the files of the steps above, so the way back has them last.
    std::string boot;
    for (const auto& [kind, word, title] :
         {std::tuple(Kind::module_parameter, "initramfs",
                     "the initial RAM disk, where there is one"),
          std::tuple(Kind::boot_parameter, "grub", "the boot loader's menu")}) {
      if (has(kind)) {
        const std::string call = std::string("make_boot_files ") + word + "\n";
        put("", title, {"", call, ""});
        boot += "undo " + quoted(title) + " " + call;
      }
    }
    return begin() + keep + way_back(undo + boot) + change + std::string(kEnd);
  }

 private:
  [[nodiscard]] bool has(Kind kind) const {
    return std::ranges::any_of(steps_, [&](const Step& step) { return step.kind == kind; });
  }
  [[nodiscard]] bool has_files() const {
    return std::ranges::any_of(steps_,
                               [](const Step& step) { return !lasting_file(step).empty(); });
  }
  [[nodiscard]] bool has_values() const {
    return has(Kind::governor) || has(Kind::huge_pages) ||
           std::ranges::any_of(steps_,
                               [](const Step& s) { return s.kind == Kind::sysctl && s.now; });
  }
  [[nodiscard]] bool has_boot() const {
    return has(Kind::module_parameter) || has(Kind::boot_parameter);
  }
  [[nodiscard]] std::string at_root(std::string_view path) const {
    return options_.root + std::string(path);
  }
  [[nodiscard]] std::string file(std::string_view path) const { return quoted(at_root(path)); }

  [[nodiscard]] std::string setting() const {
    std::string text = "umask 022\nPATH=" + quoted(options_.path) +
                       "\nLC_ALL=C\nDEBIAN_FRONTEND=noninteractive\nexport PATH LC_ALL "
                       "DEBIAN_FRONTEND\n";
    if (options_.root.empty()) {
      text +=
          "if [ \"$(id -u)\" != 0 ]; then\n  printf 'goldenv: this takes root: sudo sh %s\\n' "
          "\"$0\" >&2\n  exit 2\nfi\n";
    }
    return text;
  }

  [[nodiscard]] std::string begin() const {
    std::string text = "#!/bin/sh\n" +
                       comment("What the manifest " + options_.manifest + " wants of " +
                               options_.host + " and takes root, made by goldenv provision.") +
                       comment("What is there now is kept first, in a folder of its own below " +
                               at_root(kFolder) + ", with its way") +
                       comment("back: goldenv provision --rollback, or sh " + at_root(kFolder) +
                               "/NUMBER/undo. Then one step follows") +
                       comment("the other; the first that fails is the last.") + "set -eu\n" +
                       setting() + "base=" + file(kFolder) + "\n" + std::string(kBegin);
    const auto add = [&text](bool needed, std::string_view part) {
      if (needed) {
        text += part;
      }
    };
    add(has_files(), kKeepFiles);
    add(has_values(), kKeepValues);
    add(has(Kind::huge_pages), kKeepChoice);
    add(has(Kind::governor), kKeepGovernors);
    add(has(Kind::link), kKeepLink);
    add(has(Kind::package), kApt);
    add(has(Kind::package), kKeepPackages);
    add(has_boot(), kBoot);
    return text + "\n# What is there now.\n";
  }

  /// What writes the undo script and marks that the way back is there.
  [[nodiscard]] std::string way_back(const std::string& undo) const {
    std::string text = "#!/bin/sh\n" +
                       comment("Puts back what an apply of the manifest " + options_.manifest +
                               " changed. It may be run again.") +
                       "set -u\n" + setting() + std::string(kUndoBegin);
    const auto add = [&text](bool needed, std::string_view part) {
      if (needed) {
        text += part;
      }
    };
    add(has_files(), kUndoFiles);
    add(has_values(), kUndoValues);
    add(has(Kind::link), kUndoLink);
    add(has(Kind::package), kApt);
    add(has(Kind::package), kUndoPackages);
    add(has_boot(), kBoot);
    text += "\n" + undo + std::string(kUndoEnd);
    // Nothing that a manifest says can end the text: its line ends come from printf or are refused.
    return "\n# The way back.\ncat >\"$state/undo\" <<'GOLDENV_UNDO'\n" + text +
           "GOLDENV_UNDO\nchmod 700 \"$state/undo\"\nsync -f \"$state\"\n: >\"$state/ready\"\n"
           "sync -f \"$state\"\n";
  }

  [[nodiscard]] static std::string comments_of(const Step& step) {
    std::string text;
    for (const std::string& key : step.keys) {
      text += comment(key + ": " + (step.want.empty() ? "absent" : step.want) + " is wanted, " +
                      step.have + " is there; in force " + std::string(effect_of(step)));
    }
    return text;
  }
  [[nodiscard]] std::string comments_of(Kind kind) const {
    std::string text;
    for (const Step& step : steps_) {
      text += step.kind == kind ? comments_of(step) : "";
    }
    return text;
  }

  [[nodiscard]] std::string package_title() const {
    std::vector<std::string> names;
    for (const Step& step : steps_) {
      if (step.kind == Kind::package) {
        names.push_back(step.package.name +
                        (step.package.version.empty() ? "" : " " + step.package.version));
      }
    }
    return "packages " + join(names, ", ");
  }

  [[nodiscard]] Lines package_lines() const {
    Lines lines;
    std::string words;
    std::size_t files = 0;
    lines.keep = "mkdir -- \"$state/old\"\n";
    for (const Step& step : steps_) {
      if (step.kind != Kind::package) {
        continue;
      }
      const Package& package = step.package;
      const std::string number = std::to_string(++files);
      if (!package.old_url.empty()) {
        lines.keep += "fetch \"$state/old/" + number + ".deb\" " + quoted(package.old_url) + " " +
                      package.old_sha256 + "\n";
      }
      if (package.url.empty()) {
        words +=
            " " + quoted(package.name + (package.version.empty() ? "" : "=" + package.version));
        continue;
      }
      lines.keep += "fetch \"$state/new." + number + ".deb\" " + quoted(package.url) + " " +
                    package.sha256 + "\n";
      words += " \"$state/new." + number + ".deb\"";
    }
    lines.keep += "keep_packages" + words + "\n";
    lines.change = "apt_get -y install" + words + "\n";
    lines.undo = "undo packages packages_back\n";
    return lines;
  }

  [[nodiscard]] Lines lines_of(const Step& step, std::size_t number) const {
    Lines lines;
    const std::string at = std::to_string(number);
    const std::string what = quoted(join(step.keys, ", "));
    if (const std::string path = lasting_file(step); !path.empty()) {
      lines.keep += "keep " + at + " " + file(path) + "\n";
      lines.change += "put " + file(path) + " " + quoted(lasting_text(step, options_)) + "\n";
      lines.undo += "undo " + quoted(path) + " put_back " + at + " " + file(path) + "\n";
    }
    const std::string back = "undo " + what + " set_back " + at + "\n";
    switch (step.kind) {
      case Kind::sysctl:
        if (step.now) {
          const std::string path = file(sysctl_file(step.name));
          lines.keep += "keep_values " + at + " " + path + "\n";
          lines.change += "set_value " + path + " " + quoted(step.want) + "\n";
          lines.undo += back;
        }
        break;
      case Kind::governor: {
        const std::string paths =
            file("/sys/devices/system/cpu/cpufreq/") + "policy*/scaling_governor";
        lines.keep = "check_governor " + quoted(step.want) + " " + paths + "\nkeep_values " + at +
                     " " + paths + "\n";
        lines.change = "set_governor " + quoted(step.want) + " " + paths + "\n";
        lines.undo = back;
        break;
      }
      case Kind::huge_pages: {
        const std::string path = file("/sys/kernel/mm/transparent_hugepage/" + step.name);
        lines.keep = "keep_choice " + at + " " + path + " " + quoted(step.want) + "\n";
        lines.change = "set_value " + path + " " + quoted(step.want) + "\n";
        lines.undo = back;
        break;
      }
      case Kind::link: {
        const std::string words = at + " " + file(step.name);
        lines.keep = "keep_link " + words + " " + file(step.want) + "\n";
        lines.change = "set_link " + words + " " + file(step.want) + "\n";
        lines.undo = "undo " + what + " link_back " + words + "\n";
        break;
      }
      default:
        break;
    }
    return lines;
  }

  std::span<const Step> steps_;
  const ScriptOptions& options_;
};

}  // namespace

std::string script_text(std::span<const Step> steps, const ScriptOptions& options) {
  return Writer(steps, options).text();
}

}  // namespace goldenv::privileged
