#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 1> kKeys = {"python.extensions"};

/// Code that was compiled against other libraries than those that its process would hold.
void look(const View& view, std::vector<Finding>& found) {
  const facts::Value* value = view.value("python.extensions");
  for (const std::string& item : value == nullptr ? std::vector<std::string>{} : value->items) {
    found.push_back({{},
                     facts::Level::should,
                     "compiled extension " + item,
                     "its import fails, or it crashes where it calls what has changed",
                     "build or install it again for the torch and the libraries in force",
                     {{"python.extensions", ""}}});
  }
}

}  // namespace

extern const Rule python_extensions{"python-extensions", kKeys, look};

}  // namespace goldenv::findings
