#include "probe/dpkg_status.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kLimitBytes = 64u << 20;
constexpr std::string_view kStatus = "/var/lib/dpkg/status";
constexpr std::string_view kStatusFolder = "/var/lib/dpkg/status.d";

/// Images without dpkg (distroless) keep one file a package, without a Status field.
Result<std::string> read_status_folder(const host::Host& host) {
  GOLDENV_TRY(const auto entries, host.list(kStatusFolder));
  std::string text;
  for (const host::DirEntry& entry : entries) {
    if (entry.kind == host::FileStatus::Kind::folder || entry.name.ends_with(".md5sums")) {
      continue;
    }
    GOLDENV_TRY(const std::string one,
                host.read_file(std::string(kStatusFolder) + "/" + entry.name, 1u << 20));
    if (text.size() + one.size() > kLimitBytes) {
      return Error{Errc::too_large, std::string(kStatusFolder) + ": too much text", {}};
    }
    text += trim(one);
    text += "\nStatus: install ok installed\n\n";
  }
  return text;
}

Result<DpkgStatus> read_status(const host::Host& host) {
  DpkgStatus status;
  Result<std::string> text = host.read_file(kStatus, kLimitBytes);
  status.from = kStatus;
  if (!text && text.error().code == Errc::absent) {
    Result<std::string> folder = read_status_folder(host);
    if (folder || folder.error().code != Errc::absent) {
      text = std::move(folder);
      status.from = kStatusFolder;
    }
  }
  if (!text) {
    return std::move(text).error();
  }
  status.text = *std::move(text);
  return status;
}

/// One stanza while it is read.
class Stanza {
 public:
  void field(std::string_view line, std::uint32_t number) {
    switch (line.front()) {
      case 'P':
        if (take(line, "Package:", package_.name)) {
          package_.line = number;
        }
        break;
      case 'V':
        take(line, "Version:", package_.version);
        break;
      case 'A':
        take(line, "Architecture:", package_.architecture);
        break;
      case 'S':
        if (std::string_view status; take(line, "Status:", status)) {
          set_status(status);
        }
        break;
      default:
        break;
    }
  }

  void close(std::vector<DpkgPackage>& packages) {
    if (!package_.name.empty() && !package_.state.empty()) {
      packages.push_back(package_);
    }
    package_ = {};
  }

 private:
  void set_status(std::string_view status) {
    constexpr std::string_view kMostly = "install ok installed";
    if (status == kMostly) {
      package_.want = kMostly.substr(0, 7);
      package_.state = kMostly.substr(11);
      return;
    }
    const auto parts = words(status);
    if (parts.size() == 3) {
      package_.want = parts[0];
      package_.state = parts[2];
    }
  }
  static bool take(std::string_view line, std::string_view name, std::string_view& value) {
    if (!line.starts_with(name)) {
      return false;
    }
    value = trim(line.substr(name.size()));
    return true;
  }
  DpkgPackage package_;
};

}  // namespace

std::vector<DpkgPackage> parse_dpkg_status(std::string_view text) {
  std::vector<DpkgPackage> packages;
  Stanza stanza;
  std::uint32_t number = 0;
  // By hand and not by lines(): the file has a hundred thousand lines.
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    std::size_t end = text.find('\n', at);
    end = end == std::string_view::npos ? text.size() : end;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line == "\r") {
      stanza.close(packages);
    } else {
      stanza.field(line, number);
    }
  }
  stanza.close(packages);
  return packages;
}

bool DpkgStatus::is_foreign(const DpkgPackage& package) const {
  return !native.empty() && package.architecture != native && package.architecture != "all" &&
         !package.architecture.empty();
}

std::string DpkgStatus::name_of(const DpkgPackage& package) const {
  std::string name(package.name);
  if (is_foreign(package)) {
    name += ':';
    name += package.architecture;
  }
  return name;
}

const Result<DpkgStatus>& dpkg_status(Survey& survey) {
  // In a box of its own: the views must not move with the text.
  struct Box {
    Result<DpkgStatus> status;
  };
  const auto& box = survey.shared<std::unique_ptr<Box>>([&] {
    auto made = std::make_unique<Box>(Box{read_status(survey.host())});
    if (made->status) {
      DpkgStatus& status = *made->status;
      status.packages = parse_dpkg_status(status.text);
      const auto dpkg = std::ranges::find_if(status.packages, [](const DpkgPackage& package) {
        return package.name == "dpkg" && package.is_installed();
      });
      status.native = dpkg == status.packages.end() ? std::string_view{} : dpkg->architecture;
    }
    return made;
  });
  return box->status;
}

}  // namespace goldenv::probe
