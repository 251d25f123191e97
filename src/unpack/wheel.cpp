#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "store/descriptor.h"
#include "unpack/contents.h"
#include "unpack/zip.h"
#include "wheel/metadata.h"
#include "wheel/name.h"
#include "wheel/record.h"

namespace goldenv::unpack {
namespace {

constexpr std::uint64_t kTextLimitBytes = 32u << 20;  // of RECORD and the like
// What one thread unpacks before it asks for more work.
constexpr std::uint64_t kBatchBytes = 4u << 20;
// From lib/pythonX.Y/site-packages to the environment's top.
constexpr std::string_view kUp = "../../../";

struct Planned {
  const ZipMember* member = nullptr;
  std::string path;  ///< below tree/
  std::optional<Sha256> sha256;
  bool is_script = false;
};

struct Batch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t bytes = 0;
};

class Wheel {
 public:
  Wheel(const Job& job, Zip zip, int tree, std::string folder, Crew& crew)
      : job_(job),
        zip_(std::move(zip)),
        tree_fd_(tree),
        folder_(std::move(folder)),
        crew_(crew),
        tree_(tree, job.artifact.file, Tree::Case::clashes) {}

  Result<Contents> unpack() {
    using Step = Result<void> (Wheel::*)();
    for (const Step step : {&Wheel::index, &Wheel::read_metadata, &Wheel::read_record, &Wheel::plan,
                            &Wheel::write, &Wheel::compile, &Wheel::write_record}) {
      if (const Result<void> done = (this->*step)(); !done) {
        return done.error();
      }
    }
    return std::move(contents_);
  }

 private:
  [[nodiscard]] Error wrong(std::string_view what) const {
    return Error{Errc::malformed, job_.artifact.file + ": " + std::string(what), {}};
  }

  /// Members by name, and the one folder of each kind.
  Result<void> index() {
    std::set<std::string> data;
    for (const ZipMember& member : zip_.members()) {
      if (const std::string fault = wheel::path_fault(member.name); !fault.empty()) {
        return tree_.refuse(member.name, fault);
      }
      if (member.kind == ZipMember::Kind::link) {
        return tree_.refuse(member.name, "is a link; wheels have none");
      }
      if (member.kind == ZipMember::Kind::other) {
        return tree_.refuse(member.name, "is a device or the like");
      }
      if (member.kind == ZipMember::Kind::file && !members_.emplace(member.name, &member).second) {
        return tree_.refuse(member.name, "is there twice");
      }
      const std::string top = member.name.substr(0, member.name.find('/'));
      if (top.ends_with(".dist-info")) {
        if (!info_.empty() && info_ != top) {
          return wrong("has two folders of metadata, " + info_ + " and " + top);
        }
        info_ = top;
      } else if (top.ends_with(".data") && top.size() < member.name.size()) {
        data.insert(top);
      }
    }
    if (info_.empty()) {
      return wrong("is no wheel: it has no .dist-info folder");
    }
    data_ = info_.substr(0, info_.size() - std::string_view(".dist-info").size()) + ".data";
    for (const std::string& one : data) {
      if (one != data_) {
        return tree_.refuse(one, "belongs to another wheel than " + info_);
      }
    }
    return {};
  }

  [[nodiscard]] Result<std::string> text(const std::string& name) const {
    const std::string path = info_ + "/" + name;
    const auto found = members_.find(path);
    if (found == members_.end()) {
      return Error{Errc::absent, job_.artifact.file + ": " + path + " is missing", {}};
    }
    if (found->second->size_bytes > kTextLimitBytes) {
      return Error{Errc::too_large, job_.artifact.file + ": " + path + " is too large", {}};
    }
    std::string bytes;
    const Result<void> done = zip_.content(*found->second, [&](std::string_view piece) {
      bytes += piece;
      return Result<void>();
    });
    return done ? Result<std::string>(std::move(bytes)) : Result<std::string>(done.error());
  }

  [[nodiscard]] Error in(const std::string& name, const Error& error) const {
    return Error{
        error.code, job_.artifact.file + ": " + info_ + "/" + name + ": " + error.message, {}};
  }

  Result<void> read_metadata() {
    GOLDENV_TRY(const std::string wheel_text, text("WHEEL"));
    if (const auto parsed = wheel::parse_wheel_file(wheel_text); !parsed) {
      return in("WHEEL", parsed.error());
    }
    GOLDENV_TRY(const std::string metadata_text, text("METADATA"));
    const auto metadata = wheel::parse_metadata(metadata_text);
    if (!metadata) {
      return in("METADATA", metadata.error());
    }
    wheel::WheelName asked;
    asked.file = job_.artifact.file;
    asked.name = wheel::normalised_name(job_.name);
    asked.version = job_.version;
    if (const std::string why = wheel::disagreement(asked, *metadata); !why.empty()) {
      return wrong("holds another package than was asked for (" + job_.name + " " + job_.version +
                   "): " + why);
    }
    const std::string stem = data_.substr(0, data_.rfind('.'));  // "demo-1.0"
    if (wheel::normalised_name(stem.substr(0, stem.rfind('-'))) != asked.name) {
      return tree_.refuse(info_, "is the metadata of another package than " + job_.name);
    }
    if (!members_.contains(info_ + "/entry_points.txt")) {
      return {};
    }
    GOLDENV_TRY(const std::string points_text, text("entry_points.txt"));
    auto points = wheel::parse_entry_points(points_text);
    if (!points) {
      return in("entry_points.txt", points.error());
    }
    for (wheel::EntryPoint& point : *points) {
      contents_.scripts.push_back(
          {std::move(point.name), std::move(point.module), std::move(point.function)});
    }
    return {};
  }

  /// RECORD and the table of contents say the same.
  Result<void> read_record() {
    own_ = info_ + "/RECORD";
    GOLDENV_TRY(const std::string record_text, text("RECORD"));
    auto record = wheel::parse_record(record_text, own_);
    if (!record) {
      return in("RECORD", record.error());
    }
    for (wheel::RecordEntry& entry : *record) {
      const auto found = members_.find(entry.path);
      if (found == members_.end()) {
        return tree_.refuse(entry.path, "is in RECORD and not in the archive");
      }
      if (entry.size_bytes && *entry.size_bytes != found->second->size_bytes) {
        return tree_.refuse(entry.path, "has " + std::to_string(found->second->size_bytes) +
                                            " bytes; RECORD says " +
                                            std::to_string(*entry.size_bytes));
      }
      std::string path = entry.path;
      record_.emplace(std::move(path), std::move(entry));
    }
    for (const auto& [name, member] : members_) {
      const bool needs_none = name == own_ || name == own_ + ".jws" || name == own_ + ".p7s";
      const auto found = record_.find(name);
      if (!needs_none && (found == record_.end() || !found->second.sha256)) {
        return tree_.refuse(name, "is not in RECORD");
      }
    }
    return {};
  }

  /// Where a member goes; "" for what is not unpacked as it is.
  Result<std::string> target(const std::string& name) const {
    if (!name.starts_with(data_ + "/")) {
      return "site/" + name;
    }
    const std::string below = name.substr(data_.size() + 1);
    const std::size_t slash = below.find('/');
    static const std::map<std::string, std::string> kSchemes = {{"purelib", "site"},
                                                                {"platlib", "site"},
                                                                {"scripts", "bin"},
                                                                {"headers", "include"},
                                                                {"data", "data"}};
    const auto found = kSchemes.find(below.substr(0, slash));
    if (slash == std::string::npos || found == kSchemes.end()) {
      return tree_.refuse(name,
                          "is in no folder of .data that is known: purelib, platlib, scripts, "
                          "headers, data");
    }
    return found->second + below.substr(slash);
  }

  Result<void> plan() {
    for (const auto& [name, member] : members_) {
      GOLDENV_TRY(std::string path, target(name));
      if (const Result<void> done = tree_.claim(path, name); !done) {
        return done;
      }
      if (name == own_) {
        continue;  // written at the end
      }
      const auto found = record_.find(name);
      const bool is_script = path.starts_with("bin/");
      if (is_script && path.find('/', 4) != std::string::npos) {
        return tree_.refuse(name, "is a script in a folder of its own");
      }
      plan_.push_back({member, std::move(path),
                       found == record_.end() ? std::nullopt : found->second.sha256, is_script});
    }
    std::sort(plan_.begin(), plan_.end(), [](const Planned& a, const Planned& b) {
      return a.member->content_at < b.member->content_at;
    });
    for (const char* folder : {"site", "bin", "include", "data"}) {
      if (tree_.folders().contains(folder)) {
        const std::string name = folder;
        contents_.roots.push_back({name, name == "site"   ? "site-packages"
                                         : name == "data" ? "."
                                                          : name});
      }
    }
    return {};
  }

  Result<void> write() {
    std::vector<Batch> batches;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (batches.empty() || batches.back().bytes >= kBatchBytes) {
        batches.push_back({i, i, 0});
      }
      batches.back().end = i + 1;
      batches.back().bytes += plan_[i].member->size_bytes + 4096;
    }
    // The largest first: a library of a GiB that begins last is waited for by all.
    std::sort(batches.begin(), batches.end(),
              [](const Batch& a, const Batch& b) { return a.bytes > b.bytes; });
    std::vector<Contents> parts(batches.size());
    const Result<void> done = crew_.each(batches.size(), [&](std::size_t index) -> Result<void> {
      for (std::size_t i = batches[index].begin; i < batches[index].end; ++i) {
        if (Result<void> one = write_member(plan_[i], parts[index]); !one) {
          return one;
        }
      }
      return {};
    });
    if (!done) {
      return done;
    }
    for (Contents& part : parts) {
      std::move(part.files.begin(), part.files.end(), std::back_inserter(contents_.files));
      std::move(part.elf.begin(), part.elf.end(), std::back_inserter(contents_.elf));
      std::move(part.python_scripts.begin(), part.python_scripts.end(),
                std::back_inserter(contents_.python_scripts));
    }
    return {};
  }

  Result<void> write_member(const Planned& planned, Contents& part) const {
    GOLDENV_TRY(NewFile file, tree_.create(planned.path));
    std::string line;  // the first, of a script
    const Result<void> done = zip_.content(*planned.member, [&](std::string_view piece) {
      if (planned.is_script && line.size() < 8) {
        line += piece.substr(0, 8 - line.size());
      }
      return crew_.is_interrupted() ? Error{Errc::failed, "interrupted", {}} : file.write(piece);
    });
    if (!done) {
      return done;
    }
    const bool is_program = is_elf(file.head());
    store::File made = file.finish((planned.member->mode & 0111) != 0 || planned.is_script);
    if (planned.sha256 && made.sha256 != *planned.sha256) {
      return tree_.refuse(planned.member->name, "has other bytes than RECORD says: sha256 " +
                                                    planned.sha256->hex() + " was expected, got " +
                                                    made.sha256.hex());
    }
    if (is_program) {
      part.elf.push_back(planned.path);
    }
    if (line == "#!python") {
      part.python_scripts.push_back(planned.path);
    }
    part.files.push_back(std::move(made));
    return {};
  }

  Result<void> compile() {
    std::vector<std::string> sources;
    for (const store::File& file : contents_.files) {
      if (file.path.starts_with("site/") && file.path.ends_with(".py")) {
        sources.push_back(file.path.substr(5));
      }
    }
    std::sort(sources.begin(), sources.end());
    if (job_.compiler.interpreter.empty() || sources.empty()) {
      return {};
    }
    if (const Result<void> done = precompile(job_.compiler, folder_ + "/site", sources, crew_);
        !done) {
      return done;
    }
    return collect_compiled(sources);
  }

  /// What was compiled joins the files, also in place of what the wheel brought.
  Result<void> collect_compiled(const std::vector<std::string>& sources) {
    std::map<std::string, store::File> files;
    for (store::File& file : contents_.files) {
      std::string path = file.path;
      files.emplace(std::move(path), std::move(file));
    }
    std::size_t count = 0;
    for (const std::string& source : sources) {
      const std::size_t slash = source.rfind('/');
      const std::string above =
          "site" + (slash == std::string::npos ? "" : "/" + source.substr(0, slash));
      const std::string stem =
          source.substr(slash == std::string::npos ? 0 : slash + 1,
                        source.size() - 3 - (slash == std::string::npos ? 0 : slash + 1));
      const std::string name = stem + "." + cache_tag(job_.compiler.tag) + ".pyc";
      const store::Descriptor folder(open_below(tree_fd_, above + "/__pycache__"));
      const store::Descriptor fd(
          folder ? openat(folder.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1);
      struct stat status {};
      if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        continue;  // of another syntax
      }
      GOLDENV_TRY(const Sha256 digest, Sha256::of_file(fd.get()));
      store::File file;
      file.path = above + "/__pycache__/" + name;
      file.size_bytes = static_cast<std::uint64_t>(status.st_size);
      file.sha256 = digest;
      std::string path = file.path;
      compiled_.insert(path);
      files.insert_or_assign(std::move(path), std::move(file));
      ++count;
    }
    if (count == 0) {
      return Error{Errc::failed,
                   job_.artifact.file + ": " + job_.compiler.interpreter + " compiled none of " +
                       std::to_string(sources.size()) + " Python sources: is it the Python of " +
                       job_.compiler.tag + "?",
                   {}};
    }
    contents_.files.clear();
    for (auto& [path, file] : files) {
      contents_.files.push_back(std::move(file));
    }
    return {};
  }

  /// As an installer leaves it: paths from site-packages, no digest of what is made or changed
  /// there. Source: the specification "Recording installed projects".
  Result<void> write_record() {
    const std::string installer = "site/" + info_ + "/INSTALLER";
    if (!members_.contains(info_ + "/INSTALLER")) {
      if (const Result<void> done = tree_.claim(installer, installer); !done) {
        return done;
      }
      if (const Result<void> done = write_text(installer, "goldenv\n"); !done) {
        return done;
      }
    }
    std::vector<wheel::RecordEntry> lines;
    for (const store::File& file : contents_.files) {
      const bool changes =
          compiled_.contains(file.path) ||
          std::find(contents_.python_scripts.begin(), contents_.python_scripts.end(), file.path) !=
              contents_.python_scripts.end();
      wheel::RecordEntry line;
      line.path = file.path.starts_with("site/")   ? file.path.substr(5)
                  : file.path.starts_with("data/") ? std::string(kUp) + file.path.substr(5)
                                                   : std::string(kUp) + file.path;
      if (!changes) {
        line.sha256 = file.sha256;
        line.size_bytes = file.size_bytes;
      }
      lines.push_back(std::move(line));
    }
    for (const store::Script& script : contents_.scripts) {
      lines.push_back({std::string(kUp) + "bin/" + script.name, std::nullopt, std::nullopt});
    }
    lines.push_back({own_, std::nullopt, std::nullopt});
    std::sort(lines.begin(), lines.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return write_text("site/" + own_, wheel::render_record(lines));
  }

  Result<void> write_text(const std::string& path, std::string_view text) {
    GOLDENV_TRY(NewFile file, tree_.create(path));
    if (const Result<void> done = file.write(text); !done) {
      return done;
    }
    contents_.files.push_back(file.finish(false));
    return {};
  }

  const Job& job_;
  Zip zip_;
  int tree_fd_;
  std::string folder_;
  Crew& crew_;
  Tree tree_;
  std::string info_;  ///< "numpy-1.26.4.dist-info"
  std::string data_;
  std::string own_;  ///< RECORD's path
  std::map<std::string, const ZipMember*> members_;
  std::map<std::string, wheel::RecordEntry> record_;
  std::vector<Planned> plan_;
  std::set<std::string> compiled_;
  Contents contents_;
};

}  // namespace

Result<Contents> unpack_wheel(const Job& job, int artifact, int tree, const std::string& folder,
                              Crew& crew) {
  GOLDENV_TRY(Zip zip, Zip::open(artifact, job.artifact.file));
  return Wheel(job, std::move(zip), tree, folder, crew).unpack();
}

}  // namespace goldenv::unpack
