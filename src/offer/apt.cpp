// Packages that apt's lists name. Format: deb-control(5) stanzas.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "offer/apt_lists.h"
#include "offer/offer.h"
#include "recipe/recipe.h"

namespace goldenv::offer {
namespace {

constexpr std::size_t kLineLimitBytes = 64u << 10;

/// Packages beside one that are not it: symbols for debuggers, the kernel before it is signed.
bool is_beside(std::string_view name) {
  return name.ends_with("-dbg") || name.ends_with("-dbgsym") || name.ends_with("-unsigned");
}

/// What a pattern begins with before its first placeholder: most packages are told apart by it.
std::string_view plain_begin(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("{*"));
}

/// Gathers the stanzas whose package one of the sources may mean: "NAME VERSION" lines.
class StanzaReader {
 public:
  explicit StanzaReader(const std::vector<std::string_view>& begins) : begins_(begins) {}

  void take(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      if (line_.size() < kLineLimitBytes) {
        line_ += piece.substr(0, std::min(end, kLineLimitBytes));
      }
      if (end == std::string_view::npos) {
        return;
      }
      take_line();
      piece.remove_prefix(end + 1);
    }
  }

  std::string finish() && {
    take_line();
    end_stanza();
    return std::move(found_);
  }

 private:
  void take_line() {
    const std::string_view line = trim(line_);
    if (line.empty()) {
      end_stanza();
    } else if (line.starts_with("Package:")) {
      end_stanza();
      const std::string_view name = trim(line.substr(8));
      const auto begins = [name](std::string_view begin) { return name.starts_with(begin); };
      if (std::ranges::any_of(begins_, begins) && !is_beside(name)) {
        name_ = name;
      }
    } else if (!name_.empty() && line.starts_with("Version:")) {
      version_ = trim(line.substr(8));
    }
    line_.clear();
  }

  void end_stanza() {
    if (!name_.empty() && !version_.empty()) {
      found_ += name_ + " " + version_ + "\n";
    }
    name_.clear();
    version_.clear();
  }

  const std::vector<std::string_view>& begins_;
  std::string line_;
  std::string name_;
  std::string version_;
  std::string found_;
};

/// Whether a part that was read off a name or a number agrees with the version.
bool agrees(const recipe::Values& parts, const std::string& version) {
  return std::ranges::all_of(parts, [&](const auto& part) {
    if (!part.first.starts_with("version.")) {
      return true;
    }
    const Result<std::string> filled = recipe::fill("{" + part.first + "}", {{"version", version}});
    return filled && *filled == part.second;
  });
}

/// The component's version in a package, or "".
std::string version_in(const recipe::Source& source, version::Scheme scheme, std::string_view name,
                       std::string_view number) {
  // The epoch orders packages and is no part of what is packaged.
  const std::size_t colon = number.find(':');
  const std::string_view bare = colon == std::string_view::npos ? number : number.substr(colon + 1);
  auto in_name = recipe::match(source.name, name);
  auto in_number = recipe::match(source.version, bare);
  if (!in_name || !in_number) {
    return {};
  }
  const auto named = in_name->find("version");
  const auto numbered = in_number->find("version");
  const std::string version = named != in_name->end()        ? named->second
                              : numbered != in_number->end() ? numbered->second
                                                             : std::string();
  const bool is_one = !version.empty() && version.front() >= '0' && version.front() <= '9' &&
                      version::parse(scheme, version).has_value();
  return is_one && agrees(*in_name, version) && agrees(*in_number, version) ? version
                                                                            : std::string();
}

void add(const recipe::Recipe& recipe, std::string_view list, std::set<std::string>& seen,
         Offers& offers) {
  for (const std::string_view line : lines(list)) {
    const std::size_t blank = line.find(' ');
    const std::string_view name = line.substr(0, blank);
    const std::string_view number = line.substr(blank + 1);
    for (const recipe::Source& source : recipe.sources) {
      if (source.kind != recipe::Kind::deb) {
        continue;
      }
      const std::string version = version_in(source, recipe.versions, name, number);
      if (!version.empty()) {
        if (seen.emplace(line).second) {
          offers.offers.push_back({version, "distribution", std::string(line), ""});
        }
        break;
      }
    }
  }
}

}  // namespace

Offers from_distribution(const host::Host& host, const recipe::Recipe& recipe) {
  Offers offers;
  std::vector<std::string_view> begins;
  for (const recipe::Source& source : recipe.sources) {
    if (source.kind == recipe::Kind::deb) {
      begins.push_back(plain_begin(source.name));
    }
  }
  if (begins.empty()) {
    return offers;
  }
  const auto lists = apt_lists(host);
  if (!lists) {
    offers.unread.push_back(lists.error().message);
    return offers;
  }
  if (!lists->any) {
    // Images are shipped without them; a machine that has no dpkg has no use for them either.
    if (host.exists("/var/lib/dpkg/status")) {
      offers.unread.push_back(std::string(kListsFolder) +
                              ": no lists; apt-get update fetches what the distribution offers");
    }
    return offers;
  }
  std::set<std::string> seen;
  for (const std::string& name : lists->names) {
    StanzaReader reader(begins);
    const auto found = read_list(
        host, name, [&](std::string_view piece) { reader.take(piece); },
        [&] { return std::move(reader).finish(); });
    if (!found) {
      offers.unread.push_back(found.error().message);
      continue;
    }
    add(recipe, *found, seen, offers);
  }
  for (const auto& [ending, count] : lists->other) {
    offers.unread.push_back(std::string(kListsFolder) + ": " + std::to_string(count) +
                            " in the form " + shortened(ending, 20) +
                            ", which goldenv does not read; apt-get update with "
                            "-o Acquire::GzipIndexes=false writes them plain");
  }
  return offers;
}

}  // namespace goldenv::offer
