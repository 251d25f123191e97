#include "probe/nccl_library.h"

#include <array>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/library_copies.h"
#include "probe/library_owner.h"
#include "probe/path_text.h"

namespace goldenv::probe {
namespace {

constexpr std::array<std::string_view, 1> kWheels = {"nvidia_nccl"};
constexpr std::array<std::string_view, 1> kDebian = {"libnccl2"};
constexpr std::array<std::string_view, 1> kConda = {"nccl-"};

// "NCCL version mismatch with remote peer" stands in the same section, so a digit belongs to the
// marker.
constexpr std::array<std::string_view, 2> kMarkers = {"NCCL version 2.", "NCCL version 3."};

std::string leading_version(std::string_view text) {
  std::string_view version = text.substr(0, text.find_first_not_of("0123456789."));
  while (version.ends_with('.')) {
    version.remove_suffix(1);
  }
  return version.find('.') == std::string_view::npos ? std::string() : std::string(version);
}

}  // namespace

NcclText parse_nccl_text(std::string_view text) {
  NcclText parsed{leading_version(text), ""};
  for (const std::string_view before : {"+cuda", " compiled with CUDA "}) {
    const std::size_t at = text.find(before);
    if (!parsed.version.empty() && at != std::string_view::npos) {
      parsed.cuda = leading_version(text.substr(at + before.size()));
      break;
    }
  }
  return parsed;
}

NcclFile read_nccl(Survey& survey, const std::string& path, const std::string& real_path) {
  NcclFile file;
  file.evidence.from = survey.tilde(real_path);
  if (const auto& image = image_of(survey, real_path)) {
    file.evidence.build_id = image->build_id;
  }
  for (const std::string_view marker : kMarkers) {
    const auto found = elf::text_after(survey.host(), real_path, marker, 64);
    if (!found) {
      file.version = file.cuda = facts::Unknown::from(found.error());
      return file;
    }
    if (!*found) {
      continue;
    }
    const NcclText text = parse_nccl_text(std::string(marker.substr(marker.size() - 2)) + **found);
    if (text.version.empty()) {
      continue;
    }
    file.version = facts::Value::scalar(text.version);
    file.evidence.basis = "text in the file";
    file.cuda =
        facts::Unknown{facts::Why::not_stated, "its text was built without a CUDA version", ""};
    if (!text.cuda.empty()) {
      file.cuda = facts::Value::scalar(text.cuda);
    }
    break;
  }
  const LibraryOwners owners = library_owners(survey, path, real_path, {kWheels, kDebian, kConda});
  if (const auto* value = std::get_if<facts::Value>(&file.version)) {
    for (const LibraryOwner& owner : owners.found) {
      if (owner.version != value->text) {
        file.evidence.notes.push_back(owner.package + " says " + owner.version + " (" + owner.from +
                                      "), the file says " + value->text);
      }
    }
    return file;
  }
  // Before 2.4 there was no such text.
  file.cuda = facts::Unknown{facts::Why::not_stated, "the file holds no version text", ""};
  const std::string named = version_in_name(base_name(real_path));
  if (named.find('.') != std::string::npos) {
    file.version = facts::Value::scalar(named);
    file.evidence.basis = "file name";
  } else if (!owners.unseen.empty()) {
    file.version = facts::Unknown::from(owners.unseen.front());
  } else if (!owners.found.empty() && !owners.found.front().is_other_file) {
    file.version = facts::Value::scalar(owners.found.front().version);
    file.evidence.basis = "package " + owners.found.front().package;
    file.evidence.notes.push_back(owners.found.front().from);
  } else {
    file.version = facts::Unknown{facts::Why::not_stated, "the file holds no version text", ""};
  }
  return file;
}

}  // namespace goldenv::probe
