#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/record.h"

// A text is a record or an error with its position; what it answers holds below, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto record = goldenv::host::Record::parse(text, "fuzz");
  if (!record) {
    if (!record.error().message.starts_with("fuzz:")) {
      std::abort();
    }
    return 0;
  }
  for (const auto& [path, code] : record->answers) {
    const std::string below = path == "/" ? "/below" : path + "/below";
    if (record->answer(path) != code || !record->answer(below)) {
      std::abort();
    }
  }
  for (const std::string& folder : record->complete_below) {
    if (!record->is_complete(folder)) {
      std::abort();
    }
  }
  for (const auto& [path, space] : record->spaces) {
    if (!record->space(path)) {
      std::abort();
    }
  }
  return 0;
}
