#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "archive/tar.h"
#include "base/text.h"
#include "unpack/contents.h"
#include "unpack/placing.h"
#include "unpack/zip.h"

namespace goldenv::unpack {
namespace {

constexpr std::size_t kArHeaderBytes = 60;
// Unpacked: at most; whatever the ratio; and beyond that as a multiple of what is packed. As of
// zip.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;
constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kRatio = 200;

class Archive {
 public:
  Archive(const Job& job, int tree, Crew& crew)
      : job_(job),
        crew_(crew),
        tree_(tree, job.artifact.file, Tree::Case::counts),
        placing_(job.strip, job.place) {}

  Result<void> read_tar(archive::Part part) {
    packed_bytes_ = part.size_bytes;
    archive::TarBudget budget;
    budget.members = 500'000;
    budget.bytes = kMostBytes;
    budget.free_bytes = kFreeBytes;
    budget.ratio = kRatio;
    archive::Tar tar(part, job_.artifact.file, budget);
    while (true) {
      GOLDENV_TRY(const std::optional<archive::Member> member, tar.next());
      if (!member) {
        break;
      }
      if (Result<void> done = take(tar, *member); !done) {
        return done;
      }
    }
    return make_links();
  }

  Result<void> read_zip(const Zip& zip) {
    std::vector<std::pair<const ZipMember*, std::string>> plan;
    for (const ZipMember& member : zip.members()) {
      const Result<std::string> path = Placing::cleaned(member.name);
      if (!path) {
        return tree_.refuse(member.name, path.error().message);
      }
      if (member.kind == ZipMember::Kind::other) {
        return tree_.refuse(member.name, "is a device or the like");
      }
      const auto target = placing_.target(*path);
      if (member.kind == ZipMember::Kind::folder || !target) {
        continue;
      }
      if (member.kind == ZipMember::Kind::file) {
        if (Result<void> done = tree_.claim(*target, member.name); !done) {
          return done;
        }
        plan.emplace_back(&member, *target);
        continue;
      }
      if (member.size_bytes > 4096) {
        return tree_.refuse(member.name, "is a link with an odd text");
      }
      std::string to;
      const Result<void> read = zip.content(member, [&](std::string_view piece) {
        to += piece;
        return Result<void>();
      });
      if (!read) {
        return read;
      }
      if (Result<void> done = add_link(member.name, *path, *target, to); !done) {
        return done;
      }
    }
    std::vector<store::File> files(plan.size());
    std::vector<char> elf(plan.size());
    const Result<void> done = crew_.each(plan.size(), [&](std::size_t i) -> Result<void> {
      GOLDENV_TRY(NewFile file, tree_.create(plan[i].second));
      if (Result<void> one = zip.content(*plan[i].first,
                                         [&](std::string_view piece) { return file.write(piece); });
          !one) {
        return one;
      }
      elf[i] = is_elf(file.head()) ? 1 : 0;
      files[i] = file.finish((plan[i].first->mode & 0111) != 0);
      return {};
    });
    if (!done) {
      return done;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (elf[i] != 0) {
        contents_.elf.push_back(files[i].path);
      }
      contents_.files.push_back(std::move(files[i]));
    }
    return make_links();
  }

  Result<Contents> take_contents() {
    if (contents_.files.empty()) {
      return Error{Errc::malformed,
                   job_.artifact.file + ": nothing of it is placed; do strip and place fit it?",
                   {}};
    }
    contents_.roots.push_back({"", "."});
    return std::move(contents_);
  }

 private:
  using Member = archive::Member;

  Result<void> take(archive::Tar& tar, const Member& member) {
    const Result<std::string> path = Placing::cleaned(member.path);
    if (!path) {
      return tree_.refuse(member.path, path.error().message);
    }
    if (member.kind == Member::Kind::fifo || member.kind == Member::Kind::device ||
        member.kind == Member::Kind::other) {
      return tree_.refuse(member.path, "is a device, a pipe or the like");
    }
    const auto target = placing_.target(*path);
    unpacked_bytes_ += std::min(member.size_bytes, kMostBytes);
    if (unpacked_bytes_ > std::max(kFreeBytes, packed_bytes_ * kRatio)) {
      Error error = tree_.refuse(member.path, "makes it unpack to more than " +
                                                  std::to_string(kRatio) + " times its size");
      error.code = Errc::too_large;
      return error;
    }
    if (member.kind == Member::Kind::folder || !target) {
      return {};  // a folder is made for what lies in it
    }
    switch (member.kind) {
      case Member::Kind::link:
        return add_link(member.path, *path, *target, member.target);
      case Member::Kind::hard_link:
        return add_hard_link(member, *target);
      default:
        return write(tar, member, *target);
    }
  }

  Result<void> add_link(const std::string& member, const std::string& path,
                        const std::string& target, const std::string& to) {
    const Result<std::string> text = placing_.link(path, to, job_.kind == Kind::deb);
    if (!text) {
      return tree_.refuse(member, text.error().message);
    }
    if (Result<void> done = tree_.claim(target, member); !done) {
      return done;
    }
    links_.emplace(target, *text);
    return {};
  }

  /// Another name for a file that came before.
  Result<void> add_hard_link(const Member& member, const std::string& target) {
    const Result<std::string> other = Placing::cleaned(member.target);
    const auto to = other ? placing_.target(*other) : std::nullopt;
    const auto found = to ? at_.find(*to) : at_.end();
    if (found == at_.end()) {
      return tree_.refuse(member.path, "is another name of '" + shortened(to_utf8(member.target)) +
                                           "', which is no file that came before");
    }
    if (Result<void> done = tree_.claim(target, member.path); !done) {
      return done;
    }
    if (Result<void> done = tree_.create_hard_link(target, *to); !done) {
      return done;
    }
    store::File file = contents_.files[found->second];
    file.path = target;
    if (std::find(contents_.elf.begin(), contents_.elf.end(), *to) != contents_.elf.end()) {
      contents_.elf.push_back(target);
    }
    at_[target] = contents_.files.size();
    contents_.files.push_back(std::move(file));
    return {};
  }

  Result<void> write(archive::Tar& tar, const Member& member, const std::string& target) {
    if (Result<void> done = tree_.claim(target, member.path); !done) {
      return done;
    }
    GOLDENV_TRY(NewFile file, tree_.create(target));
    std::uint64_t size = 0;
    const Result<void> done = tar.content([&](std::uint64_t at,
                                              std::string_view piece) -> Result<void> {
      if (at != size) {
        return tree_.refuse(member.path, "has holes: it unpacks to more than was packed");
      }
      size += piece.size();
      return crew_.is_interrupted() ? Error{Errc::failed, "interrupted", {}} : file.write(piece);
    });
    if (!done) {
      return done;
    }
    if (size != member.size_bytes) {
      return tree_.refuse(member.path, "has " + std::to_string(size) + " bytes, not the " +
                                           std::to_string(member.size_bytes) + " declared");
    }
    if (is_elf(file.head())) {
      contents_.elf.push_back(target);
    }
    at_[target] = contents_.files.size();
    contents_.files.push_back(file.finish((member.mode & 0111) != 0));
    return {};
  }

  Result<void> make_links() {
    if (Result<void> done = tree_.create_links(links_); !done) {
      return done;
    }
    for (const auto& [path, target] : links_) {
      store::File link;
      link.path = path;
      link.link = target;
      contents_.files.push_back(std::move(link));
    }
    return {};
  }

  const Job& job_;
  Crew& crew_;
  Tree tree_;
  Placing placing_;
  std::uint64_t packed_bytes_ = 0;
  std::uint64_t unpacked_bytes_ = 0;
  std::map<std::string, std::string> links_;
  std::map<std::string, std::size_t> at_;  ///< where in contents_.files a path stands
  Contents contents_;
};

/// The tar with a Debian package's files. Source: deb(5), ar(5): "!<arch>\n", then for each member
/// 60 bytes of header (16 of name, at 48 ten of size) and its content, padded to an even length.
Result<archive::Part> data_of_deb(const Job& job, int fd, std::uint64_t size) {
  const auto wrong = [&job](std::string_view what) {
    return Error{Errc::malformed, job.artifact.file + ": " + std::string(what), {}};
  };
  const auto read = [fd](std::uint64_t at, std::size_t bytes) {
    std::string text(bytes, '\0');
    const ssize_t got = pread(fd, text.data(), bytes, static_cast<off_t>(at));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  };
  if (read(0, 8) != "!<arch>\n") {
    return wrong("is no Debian package");
  }
  std::uint64_t at = 8;
  for (int count = 0; at < size && count < 16; ++count) {
    const std::string header = read(at, kArHeaderBytes);
    if (header.size() < kArHeaderBytes || !header.ends_with("`\n")) {
      return wrong("is a damaged Debian package");
    }
    std::string_view name = trim(std::string_view(header).substr(0, 16));
    if (name.ends_with('/')) {
      name.remove_suffix(1);
    }
    const auto bytes = to_number(trim(std::string_view(header).substr(48, 10)));
    at += kArHeaderBytes;
    if (!bytes || *bytes > size - at) {
      return wrong("is cut short in its member " + shortened(to_utf8(name)));
    }
    if (count == 0 && (name != "debian-binary" || !read(at, 2).starts_with("2."))) {
      return wrong("is no Debian package of format 2");
    }
    if (name == "data.tar" || name.starts_with("data.tar.")) {
      return archive::Part{fd, at, *bytes};
    }
    at += *bytes + *bytes % 2;
  }
  return wrong("is a Debian package without data.tar");
}

}  // namespace

Result<Contents> unpack_archive(const Job& job, int artifact, int tree, Crew& crew) {
  Archive archive(job, tree, crew);
  Result<void> done;
  if (job.kind == Kind::zip) {
    GOLDENV_TRY(const Zip zip, Zip::open(artifact, job.artifact.file));
    done = archive.read_zip(zip);
  } else {
    struct stat status {};
    if (fstat(artifact, &status) != 0) {
      return Error{Errc::unreadable, job.artifact.file + ": " + std::strerror(errno), {}};
    }
    archive::Part part{artifact, 0, static_cast<std::uint64_t>(status.st_size)};
    if (job.kind == Kind::deb) {
      GOLDENV_TRY(part, data_of_deb(job, artifact, part.size_bytes));
    }
    done = archive.read_tar(part);
  }
  return done ? archive.take_contents() : Result<Contents>(done.error());
}

}  // namespace goldenv::unpack
