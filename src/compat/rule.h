#pragma once

#include <compare>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/compat.h"

// How a rule is written. Adding one: a file with its definition and a line in registry.cpp.
namespace goldenv::compat {

struct Rule {
  std::string_view name;
  void (*judge)(const Set& versions, std::vector<Answer>& answers);
};

std::span<const Rule* const> rules();

/// The order of two dotted versions; nothing where one is none.
std::optional<std::strong_ordering> order(std::string_view a, std::string_view b);
/// Whether a is older than b; false where they have no order.
bool older(std::string_view a, std::string_view b);

/// The first numbers of a version: major_of("12.1.1") is "12", minor_of "12.1".
std::string_view major_of(std::string_view version);
std::string_view minor_of(std::string_view version);

/// Of some keys the first that has one version in the set.
std::optional<Choice> first_of(const Set& versions, std::initializer_list<std::string_view> keys);

/// NCCL and cuDNN by their own keys, else by the wheels that hold them.
std::optional<Choice> nccl_of(const Set& versions);
std::optional<Choice> cudnn_of(const Set& versions);
/// torch by its own key.
std::optional<Choice> torch_of(const Set& versions);

}  // namespace goldenv::compat
