#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "recipe/recipe.h"

// What a manifest wants of a machine that takes root or a reboot, as a shell script to be read
// before it is run, with its way back. Pins and readings in, steps and text out.
//
// A script and not a program that does it: what an administrator reads is what happens, on a
// machine without goldenv, too. It writes one small file a pin (sysctl.d, modprobe.d, grub.d), so
// that a later run for other pins leaves those of an earlier one alone. An alternative was to write
// systemd units and tmpfiles.d lines for everything: containers and chroots read neither.
namespace goldenv::privileged {

/// A Debian package as apt is asked for it.
struct Package {
  std::string name;        ///< "libnccl2", "libc6:amd64"
  std::string version;     ///< "2.20.5-1+cuda12.4"; "" any
  std::string url;         ///< of the file itself; "" from apt's sources
  std::string sha256;      ///< where there is a URL
  std::string old_url;     ///< of the file of the version that is there now; "" not known
  std::string old_sha256;  ///< where there is an old URL
  friend bool operator==(const Package&, const Package&) = default;
};

/// One thing that differs and can be changed.
struct Step {
  enum class Kind {
    package,           ///< in one transaction with all other packages
    link,              ///< /usr/local/cuda
    module_parameter,  ///< name "nvidia NVreg_X"
    boot_parameter,    ///< name "iommu"
    sysctl,            ///< name "vm.swappiness"
    governor,          ///< of every cpufreq policy
    huge_pages,        ///< name "enabled" or "defrag"
  };
  Kind kind = Kind::sysctl;
  std::vector<std::string> keys;   ///< of the pins
  std::string name;                ///< of what is set; see kind
  std::string want;                ///< the value
  std::vector<std::string> words;  ///< boot_parameter: all words of that name; empty: none shall be
  std::string have;                ///< for people
  bool now = true;                 ///< changed in the running kernel
  bool lasting = true;             ///< in force at the next boot
  Package package;
  friend bool operator==(const Step&, const Step&) = default;
};

/// A pin that becomes no step, and why.
struct Left {
  std::string key;
  std::string want;  ///< as people read it
  std::string why;
  friend bool operator==(const Left&, const Left&) = default;
};

struct Plan {
  std::vector<Step> steps;  ///< in the order in which they are done
  std::vector<Left>
      waiting;  ///< set already, and waits for a reboot or for a module to be reloaded
  std::vector<Left> unknown;  ///< nobody can tell whether it differs
  std::vector<Left> cannot;   ///< differs, and no step brings it about
};

/// A package of the distribution that brings a component at a version.
struct Offered {
  std::string key;      ///< of the component: "driver"
  std::string version;  ///< "535.129.03"
  std::string package;
  std::string package_version;
};

/// What stands around the pins.
struct Around {
  bool grub = false;             ///< update-grub is there
  bool apt = false;              ///< apt-get is there
  std::vector<Offered> offered;  ///< for components whose recipe has Debian packages
  std::string unread;            ///< what of apt's lists could not be read, and why
  recipe::Values values;         ///< for recipes' placeholders: arch, hosts
};

/// The pins that concern the machine and not a user's own folders; closes nothing.
manifest::Manifest pins_of_machine(const manifest::Manifest& manifest,
                                   const recipe::Collection& recipes);

/// What a plan for these pins looks at beside the pins themselves.
std::vector<facts::FactKey> keys_beside(const manifest::Manifest& pins);

/// The recipe whose Debian packages bring what a key names, or nullptr.
const recipe::Recipe* recipe_of(const recipe::Collection& recipes, std::string_view key);

/// Only what is known to differ becomes a step, and only where the pin says one value: of several
/// that would do none is chosen.
Plan make_plan(const manifest::Manifest& pins, const facts::Snapshot& snapshot,
               const recipe::Collection& recipes, const Around& around);

/// For people: "now and at each boot", "at the next boot".
std::string_view effect_of(const Step& step);

/// Where scripts keep what was there before: one folder an apply, numbered from 1.
inline constexpr std::string_view kFolder = "/var/lib/goldenv/apply";

struct ScriptOptions {
  std::string manifest;  ///< its name
  std::string host;      ///< for whom it is
  std::string root;      ///< stands before every path and needs no root: for tests; "" the machine
  std::string path = "/usr/sbin:/usr/bin:/sbin:/bin";
};

/// The script for a plan's steps: POSIX sh, the same bytes for the same plan. Its exit status: 0
/// done, 2 it is not run by root, 4 a step failed, which it names.
///
/// Before it changes anything it makes a folder below kFolder, with mode 0700:
///   N.file, N.none     what stood at the place of file N, or that nothing did
///   N.path.M N.value.M the M-th value that step N changes, and what it was
///   old/*.deb          of packages that are replaced, the files that put them back
///   script, undo       itself, and the way back
///   ready              from here on something may have been changed
///   done               all was changed
///   undone             all was put back
/// What has `ready` and neither of the others was killed; undo is right for it, too.
std::string script_text(std::span<const Step> steps, const ScriptOptions& options);

}  // namespace goldenv::privileged
