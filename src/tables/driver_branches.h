#pragma once

#include <string>
#include <string_view>

namespace goldenv::tables {

/// The highest CUDA version that a Linux driver of this version serves by its branch: "12.2" of
/// "535.129.03". "" where the table has no such branch, or it is none of Linux's numbering.
std::string cuda_of_driver(std::string_view driver);

}  // namespace goldenv::tables
