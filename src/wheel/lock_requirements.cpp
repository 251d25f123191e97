#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/url.h"
#include "version/number.h"
#include "wheel/lock.h"
#include "wheel/lock_builder.h"
#include "wheel/name.h"
#include "wheel/requirement.h"
#include "wheel/url.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

/// A line with those that continue it.
struct LogicalLine {
  std::string text;
  std::size_t number = 0;  ///< of its first line
};

/// Without " # ...": a '#' inside a word is part of a URL.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

/// A final backslash joins the next line on; a line of comment ends that, as in pip.
std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> found;
  bool open = false;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const bool comment = trim(line).starts_with('#');
    const bool goes_on = line.ends_with('\\') && !comment;
    std::string_view piece = without_comment(line);
    if (goes_on && piece.ends_with('\\')) piece.remove_suffix(1);
    if (open) {
      found.back().text += piece;
    } else {
      found.push_back({std::string(piece), number});
    }
    open = goes_on;
  }
  return found;
}

/// The name of a variable in "${NAME}"; empty where there is none.
std::string variable_in(std::string_view text) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos;
       at = text.find("${", at + 2)) {
    const std::size_t close = text.find('}', at);
    if (close == std::string_view::npos) break;
    const std::string_view name = text.substr(at + 2, close - at - 2);
    const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'A' && c <= 'Z') || version::is_digit(c) || c == '_';
    });
    if (plain) return std::string(name);
  }
  return "";
}

class RequirementsReader {
 public:
  RequirementsReader(std::string_view name, const MarkerEnvironment& environment)
      : builder_(name, environment) {}

  Result<LockedSet> read(std::string_view text) {
    for (const LogicalLine& line : logical_lines(text)) {
      number_ = line.number;
      const std::string_view shown = trim(line.text);
      if (shown.empty()) continue;
      if (!is_utf8(shown)) return fault("bytes that are no UTF-8");
      if (const std::string variable = variable_in(shown); !variable.empty()) {
        return fault("the variable ${" + variable + "} is not expanded: write what it stands for");
      }
      const auto read = shown.starts_with('-') ? read_option(shown) : read_package(shown);
      if (!read) return read.error();
    }
    return builder_.finish();
  }

 private:
  [[nodiscard]] Error fault(const std::string& what) const { return builder_.fault(number_, what); }

  /// A line of options about the whole file.
  Result<void> read_option(std::string_view line) {
    const std::size_t end = std::min(line.find_first_of(" \t="), line.size());
    std::string_view option = line.substr(0, end);
    std::string_view value = end < line.size() ? trim(line.substr(end + 1)) : "";
    if (option.size() > 2 && option[1] != '-') {  // -fURL
      value = line.substr(2);
      option = line.substr(0, 2);
    }
    constexpr std::array<std::string_view, 5> kNothingHere{
        "--require-hashes", "--prefer-binary", "--pre", "--only-binary", "--use-feature"};
    LockedSources& sources = builder_.set.sources;
    if (option == "--no-index") {
      sources.no_index = true;
      return {};
    }
    if (std::ranges::find(kNothingHere, option) != kNothingHere.end()) return {};
    const std::string shown = version::quoted(mask_users(option));
    if (option == "--trusted-host") {
      return fault(shown + ": which hosts need no certificate is not for a lock to say");
    }
    if (option == "-e" || option == "--editable") {
      return fault(shown + ": an editable project is no exact version");
    }
    if (option == "-r" || option == "--requirement" || option == "-c" || option == "--constraint") {
      return fault(shown + ": other files are not read: put all of it into one");
    }
    const bool index = option == "-i" || option == "--index-url";
    const bool extra = option == "--extra-index-url";
    const bool links = option == "-f" || option == "--find-links";
    if (!index && !extra && !links) return fault("option " + shown + " is not known here");
    if (value.empty() || words(value).size() != 1) return fault(shown + " takes one address");
    if (index) {
      sources.index_url = std::string(value);
    } else {
      (extra ? sources.extra_index_urls : sources.find_links).emplace_back(value);
    }
    return {};
  }

  /// The options behind a requirement: its digests.
  Result<void> read_digests(std::string_view options, LockedPackage& package) {
    bool others = false;
    std::vector<std::string_view> pieces = words(options);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string_view piece = pieces[i];
      if (piece == "--hash" && i + 1 < pieces.size()) {
        piece = pieces[++i];
      } else if (piece.starts_with("--hash=")) {
        piece.remove_prefix(7);
      } else {
        return fault("option " + version::quoted(piece) + " of a requirement is not known here");
      }
      if (!piece.starts_with("sha256:")) {
        others = true;
        continue;
      }
      const auto digest = Sha256::parse(piece.substr(7));
      if (!digest) return fault(version::quoted(piece) + " is no digest");
      package.digests.push_back(*digest);
    }
    if (others && package.digests.empty()) {
      return fault(package.name + " has no sha256 among its digests");
    }
    return {};
  }

  Result<void> read_package(std::string_view line) {
    std::size_t options = line.find(" -");
    // A marker may hold " -": only words that begin so are options.
    while (options != std::string_view::npos && line.substr(options + 1, 2) != "--") {
      options = line.find(" -", options + 1);
    }
    const std::string_view text = trim(line.substr(0, options));
    const auto requirement = parse_requirement(text);
    if (!requirement) return fault(requirement.error().message);
    LockedPackage package;
    package.line = number_;
    package.name = normalised_name(requirement->name);
    if (requirement->marker) {
      package.marker = render(*requirement->marker);
      GOLDENV_TRY(const bool taken, builder_.holds(number_, package.marker));
      if (!taken) {
        builder_.leave(package.name, "its marker does not hold: " + package.marker);
        return {};
      }
    }
    if (options != std::string_view::npos) {
      if (const auto read = read_digests(line.substr(options), package); !read) return read;
    }
    if (!requirement->url.empty()) {
      if (const auto read = read_url(requirement->url, package); !read) return read;
    } else {
      package.version = exact_version(requirement->specifiers);
      if (package.version.empty()) {
        return fault(version::quoted(text) + " is not exact: expected " + requirement->name +
                     "==VERSION");
      }
    }
    return builder_.add(std::move(package));
  }

  /// `name @ URL` of a wheel.
  Result<void> read_url(const std::string& text, LockedPackage& package) {
    Url url = parse_url(text);
    LockedWheel wheel;
    wheel.file = file_of(url);
    const auto name = parse_wheel_name(wheel.file);
    if (!name) return fault(name.error().message);
    if (name->name != package.name) {
      return fault(package.name + " is asked for, and " + version::quoted(wheel.file) + " is " +
                   name->name);
    }
    package.version = name->version;
    const std::string digest = field_of(url.fragment, "sha256");
    if (!digest.empty()) {
      const auto parsed = Sha256::parse(digest);
      if (!parsed) return fault("the sha256 of " + version::quoted(wheel.file) + " is no digest");
      wheel.sha256 = *parsed;
    } else if (package.digests.size() == 1) {
      wheel.sha256 = package.digests.front();
    }
    url.has_fragment = false;
    url.fragment.clear();
    wheel.url = render(url);
    package.wheels.push_back(std::move(wheel));
    return {};
  }

  LockBuilder builder_;
  std::size_t number_ = 0;
};

}  // namespace

Result<LockedSet> parse_requirements(std::string_view text, std::string_view name,
                                     const MarkerEnvironment& environment) {
  if (text.size() > kMaxBytes) {
    return Error{Errc::too_large, std::string(name) + ": more than 33554432 bytes", {}};
  }
  // Editors of some systems begin with a byte order mark. Of the other encodings that pip reads
  // none is read here.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
      text.find('\0') != std::string_view::npos) {
    return Error{Errc::malformed, std::string(name) + ": in UTF-16 or UTF-32, expected UTF-8", {}};
  }
  return RequirementsReader(name, environment).read(text);
}

}  // namespace goldenv::wheel
