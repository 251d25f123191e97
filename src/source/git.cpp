#include "source/git.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/url.h"
#include "probe/redact.h"
#include "source/program.h"
#include "source/text_file.h"

namespace goldenv::source {
namespace {

constexpr std::chrono::milliseconds kDeadline{20'000};
constexpr int kUsageStatus = 2;

Error wrong(std::string_view place, const std::string& what) {
  return {Errc::usage, mask_source_user("git:" + std::string(place)) + ": " + what, {}};
}

/// What goldenv-git says, in which the words that it was given may stand. Where the source is shown
/// with a mask, the repository that it names is no more to be seen than there.
std::string without_secrets(std::string why, const GitFile& file) {
  if (mask_source_user(file.text()) != file.text()) {
    for (const std::string& word : {file.repository, file.revision}) {
      for (std::size_t at = why.find(word); at != std::string::npos;
           at = why.find(word, at + probe::kMask.size())) {
        why.replace(at, word.size(), probe::kMask);
      }
    }
  }
  return probe::redact(why);
}

}  // namespace

std::string GitFile::text() const { return "git:" + repository + "@" + revision + ":" + path; }

std::string GitFile::folder() const {
  return (std::filesystem::path(repository) / path).parent_path().lexically_normal().string();
}

Result<GitFile> parse_git(std::string_view place, const std::string& folder) {
  if (place.find("://") != std::string_view::npos) {
    return wrong(place, "is not on this machine; a clone of it can be named");
  }
  GitFile file;
  for (std::size_t at = place.find('@'); at != std::string_view::npos;
       at = place.find('@', at + 1)) {
    const std::size_t colon = place.find(':', at);
    if (at == 0 || colon == std::string_view::npos || colon == at + 1 ||
        colon + 1 == place.size()) {
      continue;
    }
    std::string repository(place.substr(0, at));
    if (!folder.empty()) {
      repository = (std::filesystem::path(folder) / repository).lexically_normal().string();
    }
    GitFile cut{std::move(repository), std::string(place.substr(at + 1, colon - at - 1)),
                std::string(place.substr(colon + 1))};
    std::error_code none;
    const bool is_there = std::filesystem::is_directory(cut.repository, none);
    if (is_there || file.repository.empty()) {
      file = std::move(cut);
    }
    if (is_there) {
      break;
    }
  }
  if (file.repository.empty()) {
    return wrong(place, "expected git:REPO@REV:PATH, as in git:/srv/envs@main:goldenv.yaml");
  }
  return file;
}

Result<std::string> read_git(const GitFile& file) {
  GOLDENV_TRY(const std::string helper, program_beside("goldenv-git"));
  Program program;
  program.words = {helper, file.repository, file.revision, file.path};
  // The caller's own configuration says which repositories of others are safe.
  for (const char* name : {"HOME", "XDG_CONFIG_HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      program.environment.push_back(std::string(name) + "=" + value);
    }
  }
  program.deadline = kDeadline;
  program.output_limit_bytes = kTextLimitBytes;
  Ended ended = run(program);
  const std::string name = mask_source_user(file.text());
  switch (ended.how) {
    case Ended::How::timed_out:
      return Error{Errc::failed,
                   name + ": no answer within " + std::to_string(kDeadline.count() / 1000) + " s",
                   {}};
    case Ended::How::too_much:
      return Error{Errc::too_large,
                   name + " is larger than " + std::to_string(kTextLimitBytes >> 20) + " MiB",
                   {}};
    case Ended::How::by_signal:
    case Ended::How::not_started:
      return Error{Errc::failed, name + ": goldenv-git died", {}};
    case Ended::How::by_itself:
      break;
  }
  if (ended.status == 0) {
    return std::move(ended.output);
  }
  const std::string why = without_secrets(last_words(ended.error), file);
  return Error{ended.status == kUsageStatus ? Errc::usage : Errc::failed,
               name + ": " + (why.empty() ? "cannot be read" : why),
               {}};
}

bool is_full_commit(std::string_view revision) {
  return (revision.size() == 40 || revision.size() == 64) &&
         std::ranges::all_of(
             revision, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace goldenv::source
