#include "provision/packages.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "provision/remembered.h"
#include "store/descriptor.h"
#include "tables/torch_variants.h"
#include "wheel/choice.h"
#include "wheel/name.h"
#include "wheel/page.h"
#include "wheel/url.h"

namespace goldenv::provision {
namespace {

constexpr std::string_view kAccept =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.1";

}  // namespace

std::string file_url(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string url = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      url += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      url += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return url;
}

namespace {

/// Wheels of a folder that --find-links names. Nobody else gives their digests: they are the
/// user's own files, taken as they are, and the digest makes sure that it is these.
void add_folder(const std::string& folder, std::string_view project, Offers& offers) {
  std::error_code none;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    const auto wheel =
        name.ends_with(".whl") ? wheel::parse_wheel_name(name) : Result<wheel::WheelName>(Error{});
    if (!wheel || wheel->name != project) {
      continue;
    }
    const store::Descriptor file(
        open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status;
    const bool is_file = file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    const auto digest = is_file ? Sha256::of_file(file.get()) : Result<Sha256>(Error{});
    if (!digest) {
      offers.faults.push_back({Errc::failed, "cannot read " + entry.path().string(), {}});
      continue;
    }
    wheel::PageFile found;
    found.file = name;
    found.url = file_url(std::filesystem::absolute(entry.path(), none).string());
    found.sha256 = *digest;
    found.size_bytes = static_cast<std::uint64_t>(status.st_size);
    offers.files.push_back(std::move(found));
  }
  if (failure) {
    offers.faults.push_back({Errc::failed, folder + ": " + failure.message(), {}});
  }
}

/// What was found on indexes that a user named is no answer for those that pip is set to.
std::string places_of(const PackageOptions& options) {
  std::string places;
  if (options.is_said()) {
    places += "\nindex " + options.index + (options.no_index ? " none" : "");
    for (const std::string& index : options.extra_indexes) {
      places += "\nextra " + index;
    }
    for (const std::string& link : options.find_links) {
      places += "\nlinks " + link;
    }
  }
  return places;
}

std::string question_of(const PackageWish& wish, const Interpreter& interpreter,
                        const PackageOptions& options) {
  const wheel::Target& target = interpreter.target;
  std::string digests = places_of(options);
  for (const Sha256& digest : wish.digests) {
    digests += "\n" + digest.hex();
  }
  for (const wheel::PageFile& file : wish.files) {
    digests += "\n" + file.file + " " + (file.sha256 ? file.sha256->hex() : "");
  }
  return "wheel 1\n" + wish.project + "\n" + wish.version + "\n" + interpreter.version + "\n" +
         wheel::abi_tag(target) + "\n" + target.machine + " glibc " +
         std::to_string(target.glibc_major) + "." + std::to_string(target.glibc_minor) + digests;
}

doc::Node answer_of(const PackageFile& file) {
  doc::Node node;
  put(node, "project", text_node(file.project));
  put(node, "version", text_node(file.version));
  put(node, "file", text_node(file.file));
  put(node, "url", text_node(file.url));
  put(node, "sha256", text_node(file.sha256));
  if (file.size_bytes) {
    put(node, "size_bytes", number_node(*file.size_bytes));
  }
  return node;
}

/// What is remembered; files in folders change, so that one there is looked for anew unless the
/// network, and with it everything else, is not to be asked.
std::optional<PackageFile> remembered(const PackageWish& wish, const Interpreter& interpreter,
                                      const PackageOptions& options, const PackageSearch& search,
                                      const store::Store& store) {
  const auto node = recall(store, question_of(wish, interpreter, options));
  if (!node) {
    return std::nullopt;
  }
  PackageFile file{text_at(*node, "project"),
                   text_at(*node, "version"),
                   text_at(*node, "file"),
                   text_at(*node, "url"),
                   text_at(*node, "sha256"),
                   {},
                   {}};
  file.size_bytes = number_at(*node, "size_bytes");
  const bool whole = file.project == wish.project && !file.file.empty() && !file.url.empty() &&
                     Sha256::parse(file.sha256).has_value() &&
                     (search.offline || !file.url.starts_with("file:"));
  return whole ? std::optional(std::move(file)) : std::nullopt;
}

/// Reads one page into what is offered. A page that is not there says nothing.
void add_page(const Got& got, Offers& offers) {
  if (got.status == 404 || got.status == 410) {
    return;
  }
  if (got.status >= 400) {
    offers.faults.push_back(
        {Errc::failed, "the index answers with status " + std::to_string(got.status), {}});
    return;
  }
  auto page = wheel::parse_page(got.body, got.type, got.url);
  if (!page) {
    offers.faults.push_back(page.error());
    return;
  }
  std::ranges::move(page->files, std::back_inserter(offers.files));
}

}  // namespace

Result<std::map<std::string, Offers>> ask_indexes(const std::set<std::string>& projects,
                                                  const Packages& packages) {
  std::map<std::string, Offers> offers;
  RealiseRequest request;
  request.network = packages.network;
  std::vector<std::string> asked;  // by a request's id: the project, "" for all
  const auto add_get = [&](std::string url, const std::string& project) {
    request.get.push_back({std::to_string(asked.size()), std::move(url), std::string(kAccept)});
    asked.push_back(project);
  };
  for (const std::string& project : projects) {
    offers[project];
    for (const std::string& index : packages.indexes) {
      add_get(wheel::project_url(index, project), project);
    }
  }
  for (const std::string& link : packages.find_links) {
    const wheel::Url url = wheel::parse_url(link);
    if (url.scheme == "http" || url.scheme == "https") {
      add_get(link, "");
      continue;
    }
    const std::string folder = url.scheme == "file" ? wheel::percent_decoded(url.path) : link;
    for (auto& [project, all] : offers) {
      add_folder(folder, project, all);
    }
  }
  if (request.get.empty()) {
    return offers;
  }
  GOLDENV_TRY(const RealiseReply reply, realise(request, {}));
  /// Whether an answer is about a project; one without id is about everything.
  const auto is_for = [&asked](const std::string& id, const std::string& project) {
    const auto place = to_number(id);
    return !place || *place >= asked.size() || asked[*place].empty() || asked[*place] == project;
  };
  for (auto& [project, all] : offers) {
    for (const Got& got : reply.got) {
      if (is_for(got.id, project)) {
        add_page(got, all);
      }
    }
    for (const Refused& refused : reply.refused) {
      if (is_for(refused.id, project)) {
        all.faults.push_back(refused.error);
      }
    }
  }
  return offers;
}

namespace {

Result<PackageFile> choose(const PackageWish& wish, const Offers& offers,
                           const Interpreter& interpreter, const wheel::TagRanks& ranks) {
  if (offers.files.empty()) {
    // That an index could not be asked is another thing than that it has nothing.
    return offers.faults.empty() ? Error{Errc::absent, "no index has a package " + wish.project, {}}
                                 : offers.faults.front();
  }
  wheel::Wanted wanted{wish.project, wish.version, false, interpreter.version, wish.digests};
  if (wish.project == "torch") {
    const std::string plain = wish.version.substr(0, wish.version.find('+'));
    wanted.plain_serves = plain != wish.version && tables::serves(plain, wish.version);
  }
  auto choice = wheel::choose(offers.files, wanted, interpreter.target, ranks);
  if (!choice) {
    Error error = choice.error();
    if (!offers.faults.empty()) {
      error.message += " (and " + offers.faults.front().message + ")";
    } else if (wish.version.find('+') != std::string::npos && error.code == Errc::absent) {
      error.message += "; builds with a label like " + wish.version.substr(wish.version.find('+')) +
                       " are on an index of their own: name it with --extra-index";
    }
    return error;
  }
  PackageFile file;
  file.project = wish.project;
  file.version = choice->wheel.version;
  file.file = choice->file.file;
  file.url = choice->file.url;
  file.sha256 = choice->file.sha256->hex();
  file.size_bytes = choice->file.size_bytes;
  file.remarks = std::move(choice->remarks);
  return file;
}

}  // namespace

Result<PackageAnswers> find_packages(const std::vector<PackageWish>& wishes,
                                     const Interpreter& interpreter, const PackageOptions& options,
                                     const PackageSearch& search, const store::Store& store) {
  std::vector<std::optional<PackageFile>> known(wishes.size());
  std::set<std::string> projects;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (!search.refresh) {
      known[i] = remembered(wishes[i], interpreter, options, search, store);
    }
    if (!known[i] && wishes[i].files.empty() && wheel::is_name(wishes[i].project)) {
      projects.insert(wishes[i].project);
    }
  }
  std::map<std::string, Offers> offers;
  if (!projects.empty() && !search.offline) {
    GOLDENV_TRY(const Packages packages, packages_of(interpreter, options));
    GOLDENV_TRY(offers, ask_indexes(projects, packages));
  }
  const bool all_known =
      std::ranges::all_of(known, [](const auto& one) { return one.has_value(); });
  const wheel::TagRanks ranks(all_known ? std::vector<wheel::Tag>{}
                                        : wheel::supported_tags(interpreter.target));
  PackageAnswers answers;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const PackageWish& wish = wishes[i];
    if (known[i]) {
      answers.emplace_back(*std::move(known[i]));
      continue;
    }
    if (!wheel::is_name(wish.project)) {
      answers.emplace_back(
          Error{Errc::usage, wish.project + " is no name of a Python package", {}});
      continue;
    }
    if (search.offline && wish.files.empty()) {
      answers.emplace_back(
          Error{Errc::failed,
                wish.project + " " + wish.version +
                    ": no index is asked with --offline, and its file is not remembered",
                {}});
      continue;
    }
    answers.push_back(choose(wish,
                             wish.files.empty() ? offers[wish.project] : Offers{wish.files, {}},
                             interpreter, ranks));
    if (const auto& answer = answers.back(); answer) {
      remember(store, question_of(wish, interpreter, options), answer_of(*answer));
    }
  }
  return answers;
}

}  // namespace goldenv::provision
