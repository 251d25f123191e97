#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 3> kKeys = {"gpu.count", "gpu.count.bound",
                                                   "gpu.count.usable"};

std::optional<std::uint64_t> number(const View& view, std::string_view key) {
  const auto text = view.text(key);
  std::uint64_t value = 0;
  if (!text) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(value)
                                                                    : std::nullopt;
}

std::string of(std::uint64_t missing, std::uint64_t all, std::string_view what) {
  return std::to_string(missing) + " of " + std::to_string(all) + " GPUs " + std::string(what);
}

void look(const View& view, std::vector<Finding>& found) {
  const auto all = number(view, "gpu.count");
  const auto bound = number(view, "gpu.count.bound");
  const auto usable = number(view, "gpu.count.usable");
  if (all && bound && *bound < *all) {
    found.push_back({{},
                     facts::Level::should,
                     of(*all - *bound, *all, "on the bus not held by their driver"),
                     "no program can compute on them",
                     "see gpu.bound_to: load the driver, unbind vfio-pci or nouveau, or read the "
                     "kernel's log of why the driver left them",
                     {{"gpu.count", ""}, {"gpu.count.bound", ""}}});
  }
  if (bound && usable && *usable < *bound) {
    found.push_back({{},
                     facts::Level::should,
                     of(*bound - *usable, *bound, "that the driver holds not open to this process"),
                     "CUDA sees fewer GPUs here than there are",
                     "see the modes of /dev/nvidia* (nvidia-modprobe makes missing ones) and which "
                     "groups this user is in",
                     {{"gpu.count.bound", ""}, {"gpu.count.usable", ""}}});
  }
}

}  // namespace

extern const Rule gpu_counts{"gpu-counts", kKeys, look};

}  // namespace goldenv::findings
