#include "image/image_host.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "host/path.h"
#include "image/contents.h"
#include "image/package.h"
#include "image/tree.h"

namespace goldenv::image {
namespace {

constexpr int kRounds = 8;

/// What the kernel of a running machine puts there, whatever an image holds at these places, and
/// the name that a runtime gives the container: one in the image is that of where it was built.
constexpr std::array<std::string_view, 4> kLive{"/proc", "/sys", "/dev", "/etc/hostname"};

/// Variables that runtimes set where the image does not. Source: docker run(1), OCI runtimes.
constexpr std::array<std::string_view, 4> kOfRuntime{"HOME", "HOSTNAME", "PATH", "TERM"};

bool is_live_place(std::string_view path) {
  return std::ranges::any_of(kLive, [&](auto top) { return host::is_within(path, top); });
}

class LayeredHost final : public ImageHost {
 public:
  LayeredHost(Package package, Image image)
      : package_(std::move(package)),
        contents_(std::exchange(image.layers, {})),
        image_(std::move(image)) {}

  Result<void> read_layers(std::size_t count);

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<host::DirEntry>> list(std::string_view path) const override;
  [[nodiscard]] Result<host::FileStatus> status(std::string_view path) const override;
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override;
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path, const std::function<Result<std::string>(int fd)>& look) const override;
  [[nodiscard]] Result<std::string> ask(
      std::string_view path, std::string_view question,
      const std::function<Result<std::string>(int fd)>& look) const override;
  [[nodiscard]] Result<host::Space> space(std::string_view path) const override {
    return host::error_at(Errc::not_live, path);
  }
  [[nodiscard]] Result<host::SystemName> system_name() const override {
    return host::error_at(Errc::not_live, "uname");
  }
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override;
  [[nodiscard]] Result<std::vector<std::string>> variables() const override;
  [[nodiscard]] const std::vector<host::Mount>& mounts() const override { return mounts_; }
  [[nodiscard]] bool live() const override { return false; }

  [[nodiscard]] const Image& image() const override { return image_; }
  [[nodiscard]] Result<bool> fetch() override;

 private:
  using Look = std::function<Result<std::string>(int fd)>;

  [[nodiscard]] Result<Tree::Found> find(std::string_view path, Tree::Last last) const;
  [[nodiscard]] Result<Tree::Found> find_file(std::string_view path) const;
  void expect_neighbours(const Tree::Found& found) const;
  [[nodiscard]] Result<std::string> now_or_later(
      const Tree::Found& found, std::string_view path, std::optional<Result<std::string>> answer,
      const std::function<std::optional<Result<std::string>>()>& again) const;

  Package package_;  // holds open what the layers are read from
  mutable Contents contents_;
  Image image_;
  Tree tree_;
  std::vector<host::Mount> mounts_;
  int round_ = 0;
  mutable std::optional<Error> failure_;
  /// By inode, path and question: a large file is dropped when its answers are known.
  mutable std::map<std::tuple<std::uint64_t, std::string, std::string>, Result<std::string>> asked_;
};

Result<void> LayeredHost::read_layers(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    GOLDENV_TRY(const std::vector<archive::Member> members, contents_.read_layer(i));
    const std::string name = package_.path() + ": layer " + std::to_string(i + 1);
    if (Result<void> added = tree_.add_layer(members, name); !added) {
      return added;
    }
  }
  return {};
}

Result<Tree::Found> LayeredHost::find(std::string_view path, Tree::Last last) const {
  const Result<std::string> clean = host::clean_path(path);
  Result<Tree::Found> found = tree_.find(path, last);
  if ((clean && is_live_place(*clean)) || (found && is_live_place(found->path))) {
    return host::error_at(Errc::not_live, path);
  }
  return found;
}

Result<Tree::Found> LayeredHost::find_file(std::string_view path) const {
  GOLDENV_TRY(Tree::Found found, find(path, Tree::Last::follow));
  if (found.node->status.kind != Tree::Kind::file) {
    return host::error_at(Errc::unreadable, path, "is no regular file");
  }
  return found;
}

/// One library leads to the others beside it: those of cuDNN and torch are asked for one by one.
void LayeredHost::expect_neighbours(const Tree::Found& found) const {
  constexpr std::size_t kFewNames = 200;  // not so in the system's folder of libraries
  const auto is_library = [](std::string_view name) {
    return name.find(".so") != std::string_view::npos;
  };
  const Result<Tree::Found> folder = tree_.find(host::folder_of(found.path), Tree::Last::follow);
  if (!is_library(host::name_of(found.path)) || !folder || !folder->node->names ||
      folder->node->names->size() > kFewNames) {
    return;
  }
  for (const auto& [name, number] : *folder->node->names) {
    const Tree::Node& node = tree_.node(number);
    if (is_library(name) && node.status.kind == Tree::Kind::file) {
      contents_.expect(node.content);
    }
  }
}

/// The answer if there is one; in the last rounds fetched for it, else left for the next round.
Result<std::string> LayeredHost::now_or_later(
    const Tree::Found& found, std::string_view path, std::optional<Result<std::string>> answer,
    const std::function<std::optional<Result<std::string>>()>& again) const {
  if (!answer) {
    expect_neighbours(found);
  }
  if (!answer && round_ >= kRounds && !failure_) {
    if (const Result<bool> fetched = contents_.fetch(); !fetched) {
      failure_ = fetched.error();
    } else {
      answer = again();
    }
  }
  return answer ? *std::move(answer)
                : host::error_at(Errc::unreadable, path, "is not unpacked yet");
}

Result<std::string> LayeredHost::read_file(std::string_view path, std::size_t limit_bytes) const {
  GOLDENV_TRY(const Tree::Found found, find_file(path));
  const auto read = [&] { return contents_.read(found.node->content, path, limit_bytes); };
  return now_or_later(found, path, read(), read);
}

Result<std::string> LayeredHost::inspect(std::string_view path, const Look& look) const {
  GOLDENV_TRY(const Tree::Found found, find_file(path));
  const auto inspect = [&] { return contents_.inspect(found.node->content, path, look); };
  return now_or_later(found, path, inspect(), inspect);
}

Result<std::string> LayeredHost::ask(std::string_view path, std::string_view question,
                                     const Look& look) const {
  GOLDENV_TRY(const Tree::Found found, find_file(path));
  const std::tuple key{found.node->status.inode, std::string(path), std::string(question)};
  if (const auto it = asked_.find(key); it != asked_.end()) {
    return it->second;
  }
  bool looked = false;
  const auto inspect = [&] {
    return contents_.inspect(found.node->content, path, [&](int fd) {
      looked = true;
      return look(fd);
    });
  };
  Result<std::string> answer = now_or_later(found, path, inspect(), inspect);
  if (looked) {
    asked_.emplace(key, answer);
  }
  return answer;
}

Result<std::string> LayeredHost::read_link(std::string_view path) const {
  GOLDENV_TRY(const Tree::Found found, find(path, Tree::Last::keep));
  if (found.node->status.kind != Tree::Kind::link) {
    return host::error_at(Errc::unreadable, path, "is no link");
  }
  return found.node->target;
}

Result<std::vector<host::DirEntry>> LayeredHost::list(std::string_view path) const {
  GOLDENV_TRY(const Tree::Found found, find(path, Tree::Last::follow));
  if (found.node->status.kind != Tree::Kind::folder) {
    return host::error_at(Errc::unreadable, path, "is no folder");
  }
  if (found.node->names->size() > host::kFolderLimit) {
    return host::error_at(Errc::too_large, path, "holds too many files to list");
  }
  std::vector<host::DirEntry> entries;
  for (const auto& [name, number] : *found.node->names) {
    entries.push_back({name, tree_.node(number).status.kind});
  }
  return entries;
}

Result<host::FileStatus> LayeredHost::status(std::string_view path) const {
  GOLDENV_TRY(const Tree::Found found, find(path, Tree::Last::follow));
  return found.node->status;
}

Result<std::string> LayeredHost::real_path(std::string_view path) const {
  GOLDENV_TRY(Tree::Found found, find(path, Tree::Last::follow));
  return std::move(found.path);
}

Result<std::vector<std::string>> LayeredHost::hops(std::string_view path) const {
  if (const auto found = find(path, Tree::Last::follow); !found) {
    return found.error();
  }
  return tree_.hops(path);
}

Result<std::string> LayeredHost::variable(std::string_view name) const {
  // The last of a name is the one that a program of the image would be started with.
  std::optional<std::string> value;
  for (const std::string_view entry : image_.config.environment) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == name) {
      value = entry.substr(equals + 1);
    }
  }
  if (value) {
    return *std::move(value);
  }
  return std::ranges::find(kOfRuntime, name) != kOfRuntime.end()
             ? host::error_at(Errc::not_live, name, "is set when the image is run")
             : host::error_at(Errc::absent, name, "the image does not set the variable");
}

Result<std::vector<std::string>> LayeredHost::variables() const {
  std::set<std::string> names;
  for (const std::string_view entry : image_.config.environment) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals != 0) {
      names.emplace(entry.substr(0, equals));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<bool> LayeredHost::fetch() {
  if (failure_) {
    return *failure_;
  }
  if (round_ >= kRounds) {
    return false;
  }
  ++round_;
  return contents_.fetch();
}

}  // namespace

Result<std::unique_ptr<ImageHost>> open(const std::string& path, std::string_view wanted) {
  GOLDENV_TRY(Package package, Package::open(path));
  GOLDENV_TRY(Image image, choose(package, wanted));
  const std::size_t count = image.layers.size();
  auto host = std::make_unique<LayeredHost>(std::move(package), std::move(image));
  if (const Result<void> read = host->read_layers(count); !read) {
    return read.error();
  }
  return std::unique_ptr<ImageHost>(std::move(host));
}

}  // namespace goldenv::image
