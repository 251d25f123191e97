// docs/FACTS.md: the rules by which keys are named, and the catalogue as tables.
#include <string>
#include <vector>

#include "base/text.h"
#include "facts/catalogue.h"

namespace goldenv::facts {
namespace {

constexpr std::string_view kIntroduction = R"(# Facts

A fact is one observed thing: a key, a reading and the evidence for it. This page lists the keys. It
is made from the program's own table (`GOLDENV_ACCEPT=1` and the tests of `facts` rewrite it);
[facts.yaml](facts.yaml) is the same as data.

## How a key is spelled

- A key is `thing.attribute`, from wide to narrow, in lower case and singular. Names that others gave
  keep their spelling: `sysctl.kernel.watchdog_thresh`, `env.NCCL_DEBUG`,
  `module.nvidia.param.EnableGpuFirmware`.
- The bare name of a thing is its version: `driver`, `nccl`, `python.package.numpy`. A `.version`
  behind such a key is read and dropped.
- Some keys have further spellings, listed below as *also*: `os` is `os.name`, `arch` is `cpu.arch`,
  `cmdline` is `kernel.cmdline`, `pip.numpy` is `python.package.numpy`. One spelling is printed.
- `<x>` in the tables is filled in. Where a key can go on behind it, the text holds no dots. Python
  packages are named as in PEP 503 (`flash-attn`), modules with `_` (`nvidia_uvm`), build options
  without `CONFIG_`. `python.package.torch` is `torch`.
- Dots part the name of a sysctl, a dot inside a part is written `/`, as sysctl(8) does:
  `sysctl.net.ipv4.conf.eth0/100.mtu`. A name that is one slip away from a real one is refused; the
  path under /proc/sys is taken as it stands: `sysctl.kernel/new_knob`.
- An unknown key is an error that names the nearest known one.

## Which one is meant

What stands behind `@` says which: `gpu.vbios@3`, `nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2`,
`env.CUDA_VISIBLE_DEVICES@user-unit:jupyter`. It runs to the end of the key and may hold dots, slashes,
colons and blanks. Home folders in it are written `~`. A key without `@` is bare:

| many | the bare key is | `key@label` is |
| --- | --- | --- |
| one | the only one | refused |
| in-force | the one of several that wins | each one that exists |
| all | the value that all have in common, else a tally: how many have which value | each one |
| only-named | refused | for labels that a pin or an option names |

Only bare keys are compared and locked unless instances are asked for.

## What a reading can be

- a *value*: text, or by the key's type a list (in order), a set or a map;
- a *prefix*: the beginning of the true value, `570.124` of 570.124.06. One that agrees with what is
  wanted as far as it goes leaves the answer unknown, one that does not differs;
- *one_of* several values, where nothing says which: a want that any of them meets is met;
- a *tally*, where instances that count at once disagree: `{92.00.45.00.03: 7, 92.00.45.00.05: 1}`.
  A want is met if every one of them meets it;
- *absent*: it was looked for and is not there;
- *unknown*, with the reason: denied, unreadable, timed-out, not-collected, not-stated, ambiguous,
  not-live, not-probed, unsupported.

A key that a snapshot does not hold is unknown. Only in families that the snapshot names as *listed*
(`env`, `python.package`) a missing member is absent.

## What is compared

*identity* facts (serials, addresses, host names) and *volatile* ones (temperatures, uptimes) are
never locked, and are no differences unless asked for. The *level* is what a generated lock gives a key:
must, should or info; omit keys are pinned by hand only. A fact that *moves with* another is told
inside its row when both differ. A *view* is computed from another fact when it is asked for.

## Choosing keys

`--only` and `closed` take patterns. A key names itself and everything below it (`driver`, `gpu`,
`next_boot`). `*` stays within a dot, `**` does not; `layer:tuning` takes a layer; `!` takes away. A
pattern without `@` takes no instances; `gpu@5` takes all of GPU 5, `nccl@*` every copy.
)";

/// A cell must not end its row, nor have its text taken for markup.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string code(std::string_view text) {
  std::string escaped = "`";
  for (const char c : text) {
    escaped += c == '|' ? "\\|" : std::string(1, c);
  }
  return escaped + "`";
}

std::string type_cell(const Entry& entry) {
  std::string text(name(entry.type));
  if (entry.type == Type::version) {
    text += " (" + std::string(version::name(entry.scheme)) + ")";
  }
  if (!entry.unit.empty()) {
    text += ", " + std::string(entry.unit);
  }
  if (!entry.values.empty()) {
    std::vector<std::string> values;
    for (const std::string_view value : split(entry.values, '|')) {
      values.emplace_back(value);
    }
    text += ": " + join(values, ", ");
  }
  constexpr std::string_view kTolerance = "numeric-tolerance:";
  if (entry.compare.starts_with(kTolerance)) {
    text += ", equal within " + std::string(entry.compare.substr(kTolerance.size()));
  }
  return cell(text);
}

/// Everything about an entry that most entries have not.
std::string notes(const Entry& entry) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view before, std::string_view what) {
    if (!what.empty()) {
      parts.push_back(std::string(before) + std::string(what));
    }
  };
  if (entry.klass != Class::golden) {
    add("", name(entry.klass));
  }
  if (entry.scope != Scope::host) {
    add("of the ", name(entry.scope));
  }
  add("needs ", entry.needs);
  if (entry.many != Many::one) {
    add(name(entry.many), ", @" + cell(entry.label));
  }
  if (!entry.also.empty()) {
    std::vector<std::string> spellings;
    for (const std::string_view also : words(entry.also)) {
      spellings.push_back(code(also));
    }
    add("also ", join(spellings, ", "));
  }
  if (!entry.with.empty()) {
    add("moves with ", code(entry.with));
  }
  for (const Companion& companion : entry.with_names) {
    parts.push_back(code(companion.pattern) + " moves with " + code(companion.headline));
  }
  if (!entry.identity_names.empty()) {
    add("identity: ", code(entry.identity_names));
  }
  if (!entry.volatile_names.empty()) {
    add("volatile: ", code(entry.volatile_names));
  }
  if (!entry.view.empty()) {
    add("view of ", code(entry.view));
  }
  return join(parts, "; ");
}

}  // namespace

std::string catalogue_markdown() {
  std::string text(kIntroduction);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Layer::events); ++i) {
    const auto layer = static_cast<Layer>(i);
    std::string rows;
    for (const Entry& entry : catalogue()) {
      if (entry.layer == layer) {
        rows += "| " + code(entry.key) + " | " + type_cell(entry) + " | " +
                std::string(name(entry.level)) + " | " + cell(entry.meaning) + " | " +
                notes(entry) + " |\n";
      }
    }
    text += "\n## Layer: " + std::string(name(layer)) +
            "\n\n| key | type | level | meaning | notes |\n| --- | --- | --- | --- | --- |\n" +
            rows;
  }
  return text;
}

}  // namespace goldenv::facts
