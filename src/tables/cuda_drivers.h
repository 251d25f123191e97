#pragma once

#include <string_view>

#include "tables/confidence.h"

namespace goldenv::tables {

/// What a CUDA release asks of the Linux driver.
struct CudaDriver {
  std::string_view release;  ///< "12.1.1"
  std::string_view least;    ///< driver that the release notes pair with it; "" where none is given
  std::string_view bundled;  ///< driver in its run file; "" where there is none
};

/// The row of a release as NVIDIA labels it, or the first one that begins with two numbers
/// ("12.1" gives 12.1.0); nullptr where the table has none.
const CudaDriver* cuda_driver(std::string_view release);

/// The least driver under which programs of any release of a CUDA major run (minor-version
/// compatibility): "525.60.13" of "12"; "" where the table has none (before 11 there was no such
/// promise).
std::string_view least_driver_of_major(std::string_view major);

/// Of both tables.
inline constexpr std::string_view kCudaDriverSource =
    "CUDA Toolkit release notes 13.2 Update 2, tables 2 and 3";
inline constexpr std::string_view kCudaDriverDate = "2026-09-16";

}  // namespace goldenv::tables
