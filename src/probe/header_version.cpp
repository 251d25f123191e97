#include "probe/header_version.h"

#include "base/text.h"
#include "probe/cuda_folder.h"

namespace goldenv::probe {
namespace {

/// Folders that g++ searches behind the toolkit's, in its order.
std::vector<std::string> include_folders(Survey& survey) {
  std::vector<std::string> folders;
  const CudaChoice& toolkit = cuda_choice(survey);
  if (!toolkit.path.empty()) {
    folders.push_back(toolkit.path + "/include");
  }
  folders.emplace_back("/usr/local/include");
  if (const auto system = survey.host().system_name()) {
    folders.push_back("/usr/include/" + system->machine + "-linux-gnu");
  }
  folders.emplace_back("/usr/include");
  return folders;
}

}  // namespace

std::optional<std::string> version_in_header(std::string_view text,
                                             std::initializer_list<std::string_view> macros) {
  std::string version;
  for (const std::string_view macro : macros) {
    std::string_view number;
    for (std::size_t at = text.find(macro); at != std::string_view::npos;
         at = text.find(macro, at + macro.size())) {
      const std::size_t begin = text.rfind('\n', at) + 1;  // also 0 where there is none
      const std::vector<std::string_view> parts =
          words(text.substr(begin, text.find('\n', at) - begin));
      if (parts.size() >= 3 && parts[0] == "#define" && parts[1] == macro) {
        number = parts[2];
        break;
      }
    }
    if (!to_number(number)) {
      return std::nullopt;
    }
    version += version.empty() ? "" : ".";
    version += number;
  }
  return version;
}

void add_header_version(Survey& survey, std::string_view key,
                        std::initializer_list<std::string_view> headers,
                        std::initializer_list<std::string_view> macros) {
  if (!survey.wants(key)) {
    return;
  }
  for (const std::string& folder : include_folders(survey)) {
    for (const std::string_view header : headers) {
      const std::string path = folder + "/" + std::string(header);
      const auto text = survey.host().read_file(path);
      if (!text && text.error().code == Errc::absent) {
        continue;
      }
      const facts::Evidence evidence{survey.tilde(path), 0, "read", "", {}};
      if (!text) {
        survey.add(key, facts::Unknown::from(text.error()), evidence);
        return;
      }
      if (const auto version = version_in_header(*text, macros)) {
        survey.add(key, facts::Value::scalar(*version), evidence);
        return;
      }
    }
  }
  survey.add(key, facts::Absent{"no such header where builds look"}, {});
}

}  // namespace goldenv::probe
