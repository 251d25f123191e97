#include "cli/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace goldenv::cli {

void prepare_heap() {
#if defined(__GLIBC__) && defined(MADV_POPULATE_WRITE)
  constexpr std::size_t kFirstBytes = 512u << 10;  // what a check of 40 pins comes to need
  constexpr int kLargeBytes = 64 << 20;
  constexpr std::uintptr_t kPage = 4096;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_TOP_PAD, static_cast<int>(kFirstBytes));
  // Grows the heap by that much and gives it back to the allocator, not to the kernel.
  void* const grown = std::malloc(kFirstBytes / 4);
  const auto start = (reinterpret_cast<std::uintptr_t>(grown) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kPage * kPage;
  if (grown != nullptr && end > start && end - start <= 4 * kFirstBytes) {
    // Kernels before 5.14 refuse, and pages come one by one as ever.
    static_cast<void>(madvise(reinterpret_cast<void*>(start), end - start, MADV_POPULATE_WRITE));
  }
  std::free(grown);
#endif
}

}  // namespace goldenv::cli
