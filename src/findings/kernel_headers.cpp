#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 2> kKeys = {"kernel", "kernel.headers"};

void look(const View& view, std::vector<Finding>& found) {
  const auto kernel = view.text("kernel");
  const auto headers = view.text("kernel.headers");
  if (kernel && headers && *kernel != *headers) {
    found.push_back({{},
                     facts::Level::should,
                     "headers of " + *headers + " for the running kernel " + *kernel,
                     "modules that are built now are refused by the running kernel",
                     "install the headers of exactly this kernel",
                     {{"kernel", ""}, {"kernel.headers", ""}}});
  }
}

}  // namespace

extern const Rule kernel_headers{"kernel-headers", kKeys, look};

}  // namespace goldenv::findings
