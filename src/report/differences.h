#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diff/check.h"
#include "diff/compare.h"
#include "doc/node.h"
#include "facts/snapshot.h"
#include "fleet/group.h"
#include "report/text.h"

namespace goldenv::report {

/// The two sides of a difference in words, printable: of lists, sets and maps only what differs.
struct Sides {
  std::string a;
  std::string b;
};
Sides sides(const diff::Difference& difference);

/// "patch, newer", "changed", "missing", "same version, another build", ...
std::string kind_text(const diff::Difference& difference);

struct Named {
  std::string title;   ///< the machine's name
  std::string source;  ///< as the user wrote it
};

/// A against B: the verdict, then a line a difference, then what could not be compared.
std::string comparison_text(const diff::Comparison& comparison, const Named& a, const Named& b,
                            Colour colour);
doc::Node comparison_node(const diff::Comparison& comparison, const Named& a, const Named& b);

/// "1 of 4 sources could not be reached" and the line's end; nothing where all could.
std::string unreached_text(std::size_t unreached, std::size_t sources);

/// Of a check without differences: "matches FILE (38 pins)", or how far that can be told, and the
/// line's end. `manifest` is printable.
std::string agreement_text(const diff::Check& check, const std::string& manifest, Colour colour);

/// A machine against a manifest.
std::string check_text(const diff::Check& check, const Named& machine,
                       std::string_view manifest_file, std::string_view manifest_name,
                       Colour colour);
doc::Node check_node(const diff::Check& check, const Named& machine, std::string_view manifest_file,
                     std::string_view manifest_name);

/// Three or more machines: groups of equal ones, and what sets each apart from the largest.
std::string groups_text(const std::vector<fleet::Group>& groups, const std::vector<Named>& machines,
                        Colour colour);
doc::Node groups_node(const std::vector<fleet::Group>& groups, const std::vector<Named>& machines);

}  // namespace goldenv::report
