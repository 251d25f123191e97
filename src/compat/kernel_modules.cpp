// The running kernel, the headers that modules are built from, and what modules were built for.
#include <string>

#include "compat/rule.h"

namespace goldenv::compat {
namespace {

void judge_one(const Set& versions, std::string_view key, std::string_view differs,
               std::vector<Answer>& answers) {
  const auto kernel = versions.one("kernel");
  const auto other = versions.one(key);
  if (!kernel || !other) {
    return;
  }
  Answer answer;
  answer.of = {{std::string(key), std::string(*other)}, {"kernel", std::string(*kernel)}};
  answer.source = "kernel.org, Building External Modules: a module is for one release";
  answer.as_of = "2026-09-16";
  const bool same = *kernel == *other;
  answer.verdict = same ? Verdict::compatible : Verdict::incompatible;
  answer.reason = same ? std::string(key) + " " + std::string(*other) + " is the kernel's release"
                       : std::string(key) + " " + std::string(*other) +
                             " is another release than kernel " + std::string(*kernel) + ": " +
                             std::string(differs);
  answers.push_back(std::move(answer));
}

void judge(const Set& versions, std::vector<Answer>& answers) {
  judge_one(versions, "kernel.headers", "DKMS builds no module for the kernel that runs", answers);
  judge_one(versions, "module.nvidia.on_disk.built_for", "nvidia.ko does not load there", answers);
}

}  // namespace

extern const Rule kernel_modules{"kernel-modules", judge};

}  // namespace goldenv::compat
