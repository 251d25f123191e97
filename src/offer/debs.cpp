// Formats: deb-control(5) stanzas; sources.list(5), in both its forms. The names of lists follow
// from the addresses of sources: scheme and user are dropped, odd signs quoted as %xx, and '/'
// becomes '_' (apt-pkg's URItoFileName).
#include "offer/debs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "offer/apt_lists.h"
#include "version/version.h"

namespace goldenv::offer {
namespace {

constexpr std::size_t kLineLimitBytes = 64u << 10;
constexpr std::size_t kFoundLimit = 1000;
constexpr std::string_view kQuoted = "\\|{}[]<>\"^~_=!@#$%^&*";
constexpr std::string_view kSourcesFolder = "/etc/apt/sources.list.d";

std::string_view without_epoch(std::string_view version) {
  const std::size_t colon = version.find(':');
  return colon == std::string_view::npos ? version : version.substr(colon + 1);
}

bool is_version(std::string_view has, std::string_view wanted) {
  return wanted.ends_with('*') ? without_epoch(has).starts_with(wanted.substr(0, wanted.size() - 1))
                               : has == wanted || without_epoch(has) == wanted;
}

/// Gathers the stanzas of one package: "VERSION FILENAME SHA256 SIZE" lines, with "-" for what is
/// missing.
class StanzaReader {
 public:
  StanzaReader(std::string_view package, std::string_view arch) : package_(package), arch_(arch) {}

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

  std::string finish() {
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
      is_it_ = trim(line.substr(8)) == package_;
    } else if (is_it_) {
      const auto field = [line](std::string_view name, std::string& value) {
        if (line.starts_with(name)) {
          value = trim(line.substr(name.size()));
        }
      };
      field("Version:", version_);
      field("Architecture:", architecture_);
      field("Filename:", file_);
      field("SHA256:", sha256_);
      field("Size:", size_);
    }
    line_.clear();
  }

  void end_stanza() {
    const bool fits = architecture_ == arch_ || architecture_ == "all";
    if (is_it_ && fits && !version_.empty() && count_ < kFoundLimit) {
      ++count_;
      const auto word = [](const std::string& text) {
        return text.empty() || text.find(' ') != std::string::npos ? std::string("-") : text;
      };
      found_ += word(version_) + " " + word(file_) + " " + word(sha256_) + " " + word(size_) + "\n";
    }
    is_it_ = false;
    for (std::string* field : {&version_, &architecture_, &file_, &sha256_, &size_}) {
      field->clear();
    }
  }

  std::string package_;
  std::string arch_;
  std::string line_;
  bool is_it_ = false;
  std::string version_;
  std::string architecture_;
  std::string file_;
  std::string sha256_;
  std::string size_;
  std::size_t count_ = 0;
  std::string found_;
};

/// An address of sources.list in the one form that is fetched from; "" where it is of another kind
/// (cdrom, mirror lists).
std::string address(std::string_view word) {
  std::string text(word);
  if (text.starts_with("file:/") && !text.starts_with("file://")) {
    text = "file://" + text.substr(5);
  }
  while (text.ends_with('/')) {
    text.pop_back();
  }
  const bool known =
      text.starts_with("http://") || text.starts_with("https://") || text.starts_with("file:///");
  return known ? text : std::string();
}

void add_line(std::string_view line, std::vector<std::string>& all) {
  std::string text(line.substr(0, line.find('#')));
  if (const std::size_t open = text.find('['); open != std::string::npos) {
    const std::size_t close = text.find(']', open);
    text.erase(open, close == std::string::npos ? close : close - open + 1);
  }
  const std::vector<std::string_view> parts = words(text);
  if (parts.size() >= 3 && parts[0] == "deb") {
    all.push_back(address(parts[1]));
  }
}

/// deb822: the words of `URIs`, which may go on in indented lines.
void add_stanzas(std::string_view text, std::vector<std::string>& all) {
  bool inside = false;
  for (const std::string_view line : lines(text)) {
    const bool goes_on = line.starts_with(' ') || line.starts_with('\t');
    std::string_view rest = line;
    if (!goes_on) {
      inside = to_lower(line).starts_with("uris:");
      rest = inside ? line.substr(5) : std::string_view{};
    }
    if (inside) {
      for (const std::string_view word : words(rest)) {
        all.push_back(address(word));
      }
    }
  }
}

/// All addresses of a machine's sources; what cannot be read names none.
std::vector<std::string> addresses_of(const host::Host& host) {
  std::vector<std::string> all;
  const auto add_file = [&](const std::string& path) {
    const auto text = host.read_file(path);
    if (!text) {
      return;
    }
    if (path.ends_with(".sources")) {
      add_stanzas(*text, all);
      return;
    }
    for (const std::string_view line : lines(*text)) {
      add_line(line, all);
    }
  };
  add_file("/etc/apt/sources.list");
  if (const auto folder = host.list(kSourcesFolder)) {
    for (const host::DirEntry& entry : *folder) {
      if (entry.name.ends_with(".list") || entry.name.ends_with(".sources")) {
        add_file(std::string(kSourcesFolder) + "/" + entry.name);
      }
    }
  }
  std::erase(all, "");
  return all;
}

/// What the names of an address' lists begin with.
std::string list_begin(std::string_view address) {
  std::string_view rest = address.substr(address.find("://") + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (const std::size_t at = rest.substr(0, slash).rfind('@'); at != std::string_view::npos) {
    rest.remove_prefix(at + 1);
  }
  std::string name;
  for (const char c : rest) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/') {
      name += '_';
    } else if (byte <= 0x20 || byte >= 0x7f || kQuoted.find(c) != std::string_view::npos) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      name += c;
    }
  }
  return name + "_";
}

/// The address that a list is of: that with the longest beginning of its name. "" for none.
std::string address_of(const std::string& list, const std::vector<std::string>& addresses) {
  std::string best;
  std::size_t longest = 0;
  for (const std::string& one : addresses) {
    const std::string begin = list_begin(one);
    if (list.starts_with(begin) && begin.size() > longest) {
      best = one;
      longest = begin.size();
    }
  }
  return best;
}

/// A path below an address, without "./" before it; "" where it leads elsewhere.
std::string plain_path(std::string_view path) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  for (const std::string_view part : split(path, '/')) {
    const bool odd = std::ranges::any_of(part, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte <= 0x20 || byte >= 0x7f || c == '\\' || c == '?' || c == '#';
    });
    if (part.empty() || part == "." || part == ".." || odd) {
      return {};
    }
  }
  return std::string(path);
}

bool is_newer(const std::string& a, const std::string& b) {
  const auto left = version::parse(version::Scheme::debian, a);
  const auto right = version::parse(version::Scheme::debian, b);
  return left && (!right || version::order(*left, *right) > 0);
}

}  // namespace

Result<Deb> find_deb(const host::Host& host, std::string_view package, std::string_view version,
                     std::string_view arch) {
  GOLDENV_TRY(const AptLists lists, apt_lists(host));
  const std::vector<std::string> addresses =
      lists.names.empty() ? std::vector<std::string>{} : addresses_of(host);
  std::optional<Deb> best;
  std::optional<Error> unread;
  std::string homeless;  // a list that no source is of
  std::vector<std::string> others;
  for (const std::string& name : lists.names) {
    StanzaReader reader(package, arch);
    const auto found = read_list(
        host, name, [&](std::string_view piece) { reader.take(piece); },
        [&] { return reader.finish(); });
    if (!found) {
      unread = Error{Errc::failed, found.error().message, {}};
      continue;
    }
    for (const std::string_view line : lines(*found)) {
      const std::vector<std::string_view> parts = words(line);
      if (parts.size() != 4) {
        continue;
      }
      if (!is_version(parts[0], version)) {
        others.emplace_back(parts[0]);
        continue;
      }
      const std::string place = address_of(name, addresses);
      const std::string path = plain_path(parts[1]);
      const auto digest = Sha256::parse(parts[2]);
      if (place.empty() || path.empty() || !digest) {
        homeless = name;
        continue;
      }
      Deb deb{std::string(package), std::string(parts[0]), place + "/" + path, digest->hex(),
              to_number(parts[3])};
      if (!best || is_newer(deb.version, best->version)) {
        best = std::move(deb);
      }
    }
  }
  if (best) {
    return *std::move(best);
  }
  const std::string asked = std::string(package) + " " + std::string(version);
  if (!homeless.empty()) {
    return Error{Errc::absent,
                 asked + " is in apt's list " + shortened(homeless) +
                     ", of which sources.list names no mirror that can be asked",
                 {}};
  }
  if (unread) {
    return *std::move(unread);
  }
  std::ranges::sort(others, is_newer);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  others.resize(std::min<std::size_t>(others.size(), 5));
  return Error{Errc::absent,
               "apt's lists have no " + asked +
                   (others.empty() ? "" : " (there is " + join(others, ", ") + ")"),
               {}};
}

}  // namespace goldenv::offer
