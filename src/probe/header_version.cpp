#include "probe/header_version.h"

#include <utility>

#include "base/text.h"
#include "probe/cuda_folder.h"
#include "probe/instances.h"
#include "probe/triplet_folders.h"

namespace goldenv::probe {
namespace {

/// The folders that g++ searches behind the toolkit's, in its order. Of a machine whose type is not
/// known several may stand at one place.
std::vector<std::vector<std::string>> include_folders(Survey& survey, std::vector<Error>& unseen) {
  std::vector<std::vector<std::string>> places;
  const CudaChoice& toolkit = cuda_choice(survey);
  if (!toolkit.path.empty()) {
    places.push_back({toolkit.path + "/include"});
  }
  places.push_back({"/usr/local/include"});
  places.push_back(triplet_folders(survey.host(), "/usr/include", unseen));
  places.push_back({"/usr/include"});
  return places;
}

/// What one folder says, none where no header of it states a version.
struct Stated {
  facts::Reading reading;
  facts::Evidence evidence;
};

std::optional<Stated> stated_in(Survey& survey, const std::string& folder,
                                std::initializer_list<std::string_view> headers,
                                std::initializer_list<std::string_view> macros) {
  for (const std::string_view header : headers) {
    const std::string path = folder + "/" + std::string(header);
    const auto text = survey.host().read_file(path);
    if (!text && text.error().code == Errc::absent) {
      continue;
    }
    if (!text) {
      return Stated{facts::Unknown::from(text.error()), seen(survey.tilde(path))};
    }
    if (const auto version = version_in_header(*text, macros)) {
      return Stated{facts::Value::scalar(*version), seen(survey.tilde(path))};
    }
  }
  return std::nullopt;
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
  // A toolkit that could not be looked at stands before all others.
  if (const auto& error = cuda_choice(survey).error) {
    survey.add(key, facts::Unknown::from(*error), {});
    return;
  }
  std::vector<Error> unseen;
  for (const std::vector<std::string>& place : include_folders(survey, unseen)) {
    std::optional<Stated> found;
    for (const std::string& folder : place) {
      std::optional<Stated> stated = stated_in(survey, folder, headers, macros);
      if (found && stated && found->reading != stated->reading) {
        stated->reading = facts::Unknown{facts::Why::ambiguous,
                                         "headers of several machine types differ, and the source "
                                         "does not say which it is of",
                                         ""};
      }
      if (stated) {
        found = std::move(stated);
      }
    }
    if (found) {
      survey.add(key, std::move(found->reading), std::move(found->evidence));
      return;
    }
    if (!unseen.empty() && place.empty()) {
      survey.add(key, facts::Unknown::from(unseen.front()), {});
      return;
    }
  }
  survey.add(key, facts::Absent{"no such header where builds look"}, {});
}

}  // namespace goldenv::probe
