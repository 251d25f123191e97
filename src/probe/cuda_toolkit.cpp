#include <algorithm>
#include <optional>

#include "base/text.h"
#include "probe/cuda_folder.h"
#include "probe/instances.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/unit_files.h"

namespace goldenv::probe {
namespace {

constexpr int kHopLimit = 40;  // as the kernel's MAXSYMLINKS

facts::Evidence with_choice(facts::Evidence evidence, const CudaChoice& choice) {
  std::vector<std::string> notes;
  if (!choice.why.empty()) {
    notes.push_back("chosen by " + choice.why);
  }
  notes.insert(notes.end(), choice.notes.begin(), choice.notes.end());
  evidence.notes.insert(evidence.notes.begin(), notes.begin(), notes.end());
  return evidence;
}

void add_chosen(Survey& survey) {
  const CudaChoice& choice = cuda_choice(survey);
  if (choice.path.empty()) {
    for (const std::string_view key : {"cuda.toolkit", "cuda.toolkit.nvcc", "cuda.toolkit.path"}) {
      survey.add(key, choice.otherwise, with_choice({}, choice));
    }
    return;
  }
  if (survey.wants("cuda.toolkit")) {
    const CudaFolder& folder = cuda_folder(survey, choice.path);
    survey.add("cuda.toolkit", folder.release, with_choice(folder.release_evidence, choice));
  }
  if (survey.wants("cuda.toolkit.nvcc")) {
    const CudaNvcc& nvcc = cuda_nvcc(survey, choice.path);
    survey.add("cuda.toolkit.nvcc", nvcc.version, with_choice(nvcc.evidence, choice));
  }
  survey.add("cuda.toolkit.path", facts::Value::scalar(choice.path),
             with_choice(seen(survey.tilde(choice.path)), choice));
}

/// Where a link ends that leads nowhere: Host::hops follows only those that lead somewhere.
std::optional<std::string> dangling_end(const host::Host& host, std::string path,
                                        std::vector<std::string>& hops) {
  for (int hop = 0; hop < kHopLimit; ++hop) {
    const auto target = host.read_link(path);
    if (!target) {
      return hop == 0 ? std::nullopt : std::optional(path);
    }
    path = target->starts_with('/') ? without_dots(*target)
                                    : without_dots(std::string(folder_of(path)) + "/" + *target);
    hops.push_back(path);
  }
  return std::nullopt;
}

void add_link(Survey& survey) {
  const std::string link = "/usr/local/cuda";
  const host::Host& host = survey.host();
  const auto hops = host.hops(link);
  facts::Evidence evidence = seen(link);
  if (hops) {
    evidence.notes = *hops;
    if (hops->size() == 1) {
      evidence.notes = {"a folder, no link"};
    }
    survey.add("cuda.toolkit.link", facts::Value::scalar(hops->back()), evidence);
    return;
  }
  if (hops.error().code == Errc::absent) {
    evidence.notes = {link};
    if (const auto end = dangling_end(host, link, evidence.notes)) {
      evidence.notes.emplace_back("nothing is there");
      survey.add("cuda.toolkit.link", facts::Value::scalar(*end), evidence);
      return;
    }
    survey.add("cuda.toolkit.link", facts::Absent{"no such link"}, seen(link));
    return;
  }
  survey.add("cuda.toolkit.link", facts::Unknown::from(hops.error()), seen(link));
}

void add_installed(Survey& survey) {
  std::vector<facts::Reading> versions;
  facts::Evidence all;
  all.basis = "folders where toolkits are installed";
  for (const std::string& path : cuda_folders(survey)) {
    const CudaFolder& folder = cuda_folder(survey, path);
    const std::string label = "@" + survey.tilde(path);
    survey.add("cuda.toolkit" + label, folder.release, folder.release_evidence);
    if (survey.wants("cuda.toolkit.nvcc")) {
      const CudaNvcc& nvcc = cuda_nvcc(survey, path);
      survey.add("cuda.toolkit.nvcc" + label, nvcc.version, nvcc.evidence);
    }
    versions.push_back(folder.release);
    all.notes.push_back(version_text(folder.release) + " " + survey.tilde(path));
  }
  survey.add("cuda.toolkit.copies", copies_reading(versions, unseen_cuda_folders(survey)), all);
}

/// Paths of CUDA folders with a release in their name that a text writes out:
/// "/usr/local/cuda-12.1/lib64" of "export PATH=/usr/local/cuda-12.1/lib64:$PATH".
std::vector<std::string> cuda_paths_in(std::string_view text) {
  constexpr std::string_view kBefore = "/cuda-";
  std::vector<std::string> found;
  for (std::size_t at = text.find(kBefore); at != std::string_view::npos;
       at = text.find(kBefore, at + kBefore.size())) {
    const std::size_t digit = at + kBefore.size();
    if (digit >= text.size() || text[digit] < '0' || text[digit] > '9') {
      continue;
    }
    constexpr std::string_view kEnds = " \t\r\n:;\"'`=,()<>|&$*?[]{}\\";
    const std::size_t start = text.find_last_of(kEnds, at);
    const std::size_t first = start == std::string_view::npos ? 0 : start + 1;
    const std::size_t last = text.find_first_of(kEnds, at);
    std::string path(text.substr(first, last == std::string_view::npos ? last : last - first));
    while (path.size() > 1 && path.ends_with('/')) {
      path.pop_back();
    }
    if (path.starts_with('/') && std::ranges::find(found, path) == found.end()) {
      found.push_back(std::move(path));
    }
  }
  return found;
}

/// Files that put folders before every user's programs, and those of services.
std::vector<std::string> startup_files(Survey& survey, std::vector<Error>& unseen) {
  const host::Host& host = survey.host();
  std::vector<std::string> files = {"/etc/environment", "/etc/profile", "/etc/bash.bashrc",
                                    "/etc/bashrc",      "/etc/zshenv",  "/etc/ld.so.conf"};
  for (const std::string_view folder :
       {"/etc/profile.d", "/etc/ld.so.conf.d", "/etc/environment.d"}) {
    for (const host::DirEntry& entry : entries_or_none(host, folder, unseen)) {
      files.push_back(std::string(folder) + "/" + entry.name);
    }
  }
  const std::string home = host.variable("HOME").value_or("");
  if (home.starts_with('/')) {
    for (const std::string_view name :
         {".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv"}) {
      files.push_back(home + "/" + std::string(name));
    }
    const std::string folder = home + "/.config/environment.d";
    for (const host::DirEntry& entry : entries_or_none(host, folder, unseen)) {
      files.push_back(folder + "/" + entry.name);
    }
  }
  const std::vector<std::string> units = local_unit_files(host, home, unseen);
  files.insert(files.end(), units.begin(), units.end());
  return files;
}

/// A written-out folder goes round the link: after a switch it is gone, or quietly the old one.
void add_hardcoded(Survey& survey) {
  if (!survey.wants("cuda.hardcoded")) {
    return;
  }
  const host::Host& host = survey.host();
  std::vector<Error> unseen;
  const auto link = host.real_path("/usr/local/cuda");
  if (!link) {
    note_unseen(link.error(), unseen);
  }
  const std::string linked = link ? *link : "";
  if (const auto known = variables_known(host); !known) {
    unseen.push_back(known.error());
  }
  std::vector<std::string> items;
  facts::Evidence evidence;
  evidence.basis = "environment, ld.so.conf, start-up files of shells, units";
  const auto consider = [&](const std::string& where, std::string_view text) {
    for (const std::string& path : cuda_paths_in(text)) {
      const auto real = host.real_path(path);
      if (!real) {
        note_unseen(real.error(), unseen);
      }
      const bool is_gone = !real && real.error().code == Errc::absent;
      const bool is_elsewhere = real && !linked.empty() && !is_below(*real, linked);
      if (is_gone || is_elsewhere) {
        items.push_back(where + ": " + survey.tilde(path));
        evidence.notes.push_back(items.back() +
                                 (is_gone ? ", which is gone" : ", not where the link ends"));
      }
    }
  };
  for (const std::string_view name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PATH"}) {
    if (const auto value = host.variable(name)) {
      consider("$" + std::string(name), *value);
    }
  }
  for (const std::string& file : startup_files(survey, unseen)) {
    const auto text = host.read_file(file, 1u << 20);
    if (text) {
      // A comment sets nothing.
      for (const std::string_view line : lines(*text)) {
        if (!trim(line).starts_with('#')) {
          consider(survey.tilde(file), line);
        }
      }
    } else if (text.error().code == Errc::denied || text.error().code == Errc::timed_out) {
      unseen.push_back(text.error());  // others are no files at all
    }
  }
  if (!unseen.empty()) {
    survey.add("cuda.hardcoded", facts::Unknown::from(unseen.front()), evidence);
    return;
  }
  survey.add("cuda.hardcoded",
             items.empty() ? facts::Reading(facts::Absent{"none is written out wrongly"})
                           : facts::Value::set(std::move(items)),
             evidence);
}

void run(Survey& survey) {
  add_chosen(survey);
  if (survey.wants("cuda.toolkit.link")) {
    add_link(survey);
  }
  if (wants_copies(survey, {"cuda.toolkit", "cuda.toolkit.nvcc"}, "cuda.toolkit.copies")) {
    add_installed(survey);
  }
  add_hardcoded(survey);
}

constexpr std::string_view kKeys[] = {"cuda.hardcoded",      "cuda.toolkit",
                                      "cuda.toolkit.copies", "cuda.toolkit.link",
                                      "cuda.toolkit.nvcc",   "cuda.toolkit.path"};

}  // namespace

extern const Probe cuda_toolkit{.name = "cuda_toolkit", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
