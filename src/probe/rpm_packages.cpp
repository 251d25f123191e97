#include "probe/rpm_packages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

/// Where distributions keep the database: Fedora and SUSE moved it, ostree keeps it with the image.
constexpr auto kFolders =
    std::to_array<std::string_view>({"/var/lib/rpm", "/usr/lib/sysimage/rpm", "/usr/share/rpm"});
/// The newest form first: a converted database can leave the old file behind.
constexpr auto kFiles =
    std::to_array<std::string_view>({"rpmdb.sqlite", "Packages.db", "Packages"});
constexpr std::string_view kQuestion = "rpm packages 1";

/// One package a line: name, version and architecture with tabs between.
std::string written(const std::vector<RpmPackage>& packages) {
  std::string text;
  for (const RpmPackage& package : packages) {
    text += package.name + '\t' + package.version + '\t' + package.architecture + '\n';
  }
  return text;
}

std::vector<RpmPackage> parse_written(std::string_view text) {
  std::vector<RpmPackage> packages;
  for (const std::string_view line : lines(text)) {
    const auto fields = split(line, '\t');
    if (fields.size() == 3) {
      packages.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2])});
    }
  }
  return packages;
}

Result<std::string> look_into(int fd) {
  const ReadAt read_at = [fd](std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got =
          ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
      if (got <= 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  };
  GOLDENV_TRY(const std::vector<RpmPackage> packages, parse_rpm_database(read_at));
  return written(packages);
}

Result<RpmPackages> read_database(const host::Host& host) {
  std::optional<Error> unseen;
  for (const std::string_view folder : kFolders) {
    const auto entries = host.list(folder);
    if (!entries) {
      if (entries.error().code != Errc::absent && !unseen) {
        unseen = entries.error();
      }
      continue;
    }
    for (const std::string_view file : kFiles) {
      if (std::ranges::find(*entries, file, &host::DirEntry::name) == entries->end()) {
        continue;
      }
      RpmPackages database;
      database.path = std::string(folder) + "/" + std::string(file);
      // What stands in the log alone is not in the file yet; rpm empties it when it is done.
      const std::string log = database.path + "-wal";
      const auto status = host.status(log);
      if (status && status->size_bytes != 0) {
        return Error{Errc::unreadable, log + ": rpm has not finished writing", {}};
      }
      Result<std::string> text = host.ask(database.path, kQuestion, look_into);
      if (!text) {
        return Error{text.error().code, database.path + ": " + text.error().message, {}};
      }
      database.packages = parse_written(*text);
      return database;
    }
  }
  return unseen ? *unseen : Error{Errc::absent, "no rpm database", {}};
}

}  // namespace

const Result<RpmPackages>& rpm_packages(Survey& survey) {
  return survey.shared<Result<RpmPackages>>([&] { return read_database(survey.host()); });
}

}  // namespace goldenv::probe
