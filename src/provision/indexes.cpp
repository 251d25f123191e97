// Which indexes are asked, and how they are reached; and what they have of a project.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "provision/packages.h"
#include "source/program.h"
#include "wheel/choice.h"
#include "wheel/url.h"

extern char** environ;

namespace goldenv::provision {
namespace {

constexpr std::string_view kDefaultIndex =
    "from pip._internal.models.index import PyPI\nprint(PyPI.simple_url)\n";
constexpr std::chrono::milliseconds kPipDeadline{60'000};

/// Runs an interpreter with the caller's variables, but for those that would lead it elsewhere.
source::Ended run_python(const Interpreter& interpreter, std::vector<std::string> words) {
  source::Program program;
  program.words = {interpreter.program};
  for (std::string& word : words) {
    program.words.push_back(std::move(word));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("PYTHON") && !text.starts_with("LD_")) {
      program.environment.emplace_back(text);
    }
  }
  program.deadline = kPipDeadline;
  program.output_limit_bytes = 1u << 20;
  return source::run(program);
}

bool went_well(const source::Ended& ended) {
  return ended.how == source::Ended::How::by_itself && ended.status == 0;
}

/// The host of a URL, without user and port, in lower case.
std::string host_of(const wheel::Url& url) {
  std::string_view authority = url.authority;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  authority = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1)
                                         : authority.substr(0, authority.find(':'));
  std::string host(authority);
  std::ranges::transform(host, host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return host;
}

/// 127.x.y.z in figures: a name may begin so, too.
bool is_loopback(const std::string& host) {
  in_addr address = {};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

/// A URL that has a user, for its origin's other URLs.
void add_credentials(const std::string& text, std::vector<std::string>& credentials) {
  const wheel::Url url = wheel::parse_url(text);
  if (url.authority.find('@') != std::string::npos) {
    credentials.push_back(text);
  }
}

}  // namespace

Result<void> check_origin(const std::string& index, const std::vector<std::string>& trusted) {
  const wheel::Url url = wheel::parse_url(index);
  if (url.scheme == "https" || url.scheme == "file") {
    return {};
  }
  const std::string host = host_of(url);
  if (url.scheme == "http") {
    const bool here = host == "localhost" || is_loopback(host) || host == "[::1]";
    const bool is_trusted = std::ranges::any_of(trusted, [&](const std::string& one) {
      return one == host || one.starts_with(host + ":");
    });
    if (here || is_trusted) {
      return {};
    }
    return Error{Errc::usage,
                 "the index on " + host +
                     " is read by http, so that anybody on the way could change it: use https, or "
                     "name the host in pip's trusted-host",
                 {}};
  }
  return Error{Errc::usage, "an index is a URL with https, http or file", {}};
}

Result<Packages> merge_packages(const PackageOptions& options, const wheel::PipSettings& settings,
                                const std::function<Result<std::string>()>& default_index) {
  if (options.no_index && (!options.index.empty() || !options.extra_indexes.empty())) {
    return Error{Errc::usage, "--no-index and an index: one of them", {}};
  }
  Packages packages;
  packages.find_links = options.is_said() ? options.find_links : settings.find_links;
  packages.network.proxy = settings.proxy;
  packages.network.cert = settings.cert;
  packages.network.client_cert = settings.client_cert;
  if (settings.timeout_s && *settings.timeout_s >= 1 && *settings.timeout_s <= 3600) {
    packages.network.timeout_s = static_cast<unsigned>(*settings.timeout_s);
  }
  if (settings.retries) {
    packages.network.retries = std::min(*settings.retries, 20u);
  }
  const bool closed = options.no_index || (settings.no_index && options.index.empty());
  if (!closed) {
    std::string index = options.index;
    packages.from = "--index";
    if (index.empty() && settings.index_url) {
      index = *settings.index_url;
      packages.from = "pip's configuration";
    }
    if (index.empty()) {
      GOLDENV_TRY(index, default_index());
      packages.from = "pip's default";
    }
    packages.indexes.push_back(std::move(index));
    const auto& extra = options.is_said() ? options.extra_indexes : settings.extra_index_urls;
    packages.indexes.insert(packages.indexes.end(), extra.begin(), extra.end());
  } else if (packages.find_links.empty()) {
    return Error{Errc::usage, "no index is to be asked, and no --find-links is named", {}};
  } else {
    packages.from = "--no-index";
  }
  std::vector<std::string> all = packages.indexes;
  std::ranges::copy_if(packages.find_links, std::back_inserter(all), [](const std::string& link) {
    return link.find("://") != std::string::npos;
  });
  for (const std::string& place : all) {
    if (const Result<void> checked = check_origin(place, settings.trusted_hosts); !checked) {
      return checked.error();
    }
    add_credentials(place, packages.network.credentials);
  }
  return packages;
}

Result<Packages> packages_of(const Interpreter& interpreter, const PackageOptions& options) {
  const source::Ended listed = run_python(interpreter, {"-m", "pip", "config", "list"});
  wheel::PipSettings settings;
  const bool has_pip = went_well(listed);
  if (has_pip) {
    GOLDENV_TRY(settings, wheel::parse_pip_settings(listed.output));
  } else if (options.index.empty() && !options.no_index) {
    return Error{Errc::usage,
                 "no index: give --index (" + interpreter.program +
                     " has no pip whose index could be taken)",
                 {}};
  }
  return merge_packages(options, settings, [&]() -> Result<std::string> {
    const source::Ended said = run_python(interpreter, {"-c", std::string(kDefaultIndex)});
    const std::string index(trim(said.output));
    if (!went_well(said) || index.empty()) {
      return Error{Errc::usage, "no index: give --index (pip does not say its own)", {}};
    }
    return index;
  });
}

Result<IndexVersions> index_versions(const std::set<std::string>& projects,
                                     const Interpreter& interpreter,
                                     const PackageOptions& options) {
  IndexVersions all;
  GOLDENV_TRY(const Packages packages, packages_of(interpreter, options));
  all.from = packages.from;
  GOLDENV_TRY(const auto offers, ask_indexes(projects, packages));
  for (const auto& [project, offer] : offers) {
    for (std::string& version : wheel::offered_versions(offer.files, project)) {
      all.versions.push_back({project, std::move(version)});
    }
    for (const Error& fault : offer.faults) {
      all.unread.push_back(project + ": " + fault.message);
    }
  }
  return all;
}

}  // namespace goldenv::provision
