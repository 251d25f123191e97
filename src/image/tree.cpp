#include "image/tree.h"

#include <algorithm>

#include "base/text.h"
#include "host/path.h"

namespace goldenv::image {
namespace {

constexpr std::size_t kNodeLimit = 3u << 20;
constexpr std::size_t kPathLimitBytes = 4096;  // PATH_MAX, of paths and link texts
// An entry has some ten folders above it; links can make millions of them.
constexpr std::uint64_t kStepLimit = 200u << 20;
constexpr int kHopLimit = 40;  // as the kernel's
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

/// The parts of a member's path; "usr", "bin", "env" of "./usr/bin/env".
Result<std::vector<std::string_view>> parts_of(std::string_view path, const std::string& name) {
  std::vector<std::string_view> parts;
  if (path.size() > kPathLimitBytes) {
    return Error{
        Errc::malformed, name + ": the entry " + shortened(path) + " has too long a path", {}};
  }
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      return Error{
          Errc::malformed, name + ": the entry " + shortened(path) + " leads out of the image", {}};
    }
    if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return parts;
}

bool is_whiteout(const archive::Member& member) {
  std::string_view path = member.path;
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path.substr(path.rfind('/') + 1).starts_with(kWhiteout);
}

/// What AUFS keeps for itself in layers of old: .wh..wh.plnk/1234.5678.
bool is_of_aufs(const std::vector<std::string_view>& parts) {
  return std::ranges::any_of(parts,
                             [](std::string_view part) { return part.starts_with(".wh..wh."); });
}

Tree::Kind kind_of(archive::Member::Kind kind) {
  switch (kind) {
    case archive::Member::Kind::file:
    case archive::Member::Kind::hard_link:
      return Tree::Kind::file;
    case archive::Member::Kind::folder:
      return Tree::Kind::folder;
    case archive::Member::Kind::link:
      return Tree::Kind::link;
    case archive::Member::Kind::fifo:
      return Tree::Kind::fifo;
    case archive::Member::Kind::device:
      return Tree::Kind::device;
    case archive::Member::Kind::other:
      break;
  }
  return Tree::Kind::other;
}

void push_front(std::vector<std::string>& rest, std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && *part != ".") {
      rest.emplace_back(*part);
    }
  }
}

}  // namespace

Tree::Tree() {
  nodes_.emplace_back();
  Node& root = nodes_.back();
  root.status.kind = Kind::folder;
  root.status.mode = 0755;
  root.status.inode = 1;
  root.status.device = 1;
  root.names = std::make_unique<Names>();
}

/// What stands at a name from now on.
Result<std::uint32_t> Tree::make(std::uint32_t folder, std::string_view name, Kind kind) {
  if (nodes_.size() >= kNodeLimit) {
    return Error{
        Errc::too_large, "the image holds more than " + std::to_string(kNodeLimit) + " files", {}};
  }
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.status.kind = kind;
  node.status.mode = kind == Kind::folder ? 0755 : 0644;
  node.status.device = 1;
  node.status.inode = number + 1;
  node.layer = layers_;
  if (kind == Kind::folder) {
    node.names = std::make_unique<Names>();
  }
  nodes_[folder].names->insert_or_assign(std::string(name), number);
  return number;
}

/// The folder that holds the last of the parts. Those that no layer has an entry of are made.
Result<std::uint32_t> Tree::parent_of(const std::vector<std::string_view>& parts,
                                      const std::string& name, bool make_missing) {
  const Error nowhere{Errc::absent, name, {}};
  std::vector<std::string> rest;
  for (std::size_t i = parts.size(); i > 1; --i) {
    rest.emplace_back(parts[i - 2]);
  }
  std::vector<std::uint32_t> above{0};  // the way to where we are, for ".." in links
  int hops = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (++steps_ > kStepLimit) {
      return Error{Errc::too_large, name + ": a maze of links", {}};
    }
    if (part == "..") {
      if (above.size() > 1) {
        above.pop_back();
      }
      continue;
    }
    const std::uint32_t here = above.back();
    const auto it = nodes_[here].names->find(part);
    const bool is_there = it != nodes_[here].names->end();
    if (is_there && nodes_[it->second].status.kind == Kind::link) {
      if (++hops > kHopLimit) {
        return Error{Errc::malformed, name + ": a loop of links at " + part, {}};
      }
      const std::string target = nodes_[it->second].target;
      push_front(rest, target);
      if (target.starts_with('/')) {
        above.resize(1);
      }
      continue;
    }
    if (is_there && nodes_[it->second].status.kind == Kind::folder) {
      above.push_back(it->second);
      continue;
    }
    if (!make_missing) {
      return nowhere;
    }
    GOLDENV_TRY(const std::uint32_t made, make(here, part, Kind::folder));
    above.push_back(made);
  }
  return above.back();
}

/// All below a folder that this layer did not write.
void Tree::take_away_lower(std::uint32_t folder) {
  Names& names = *nodes_[folder].names;
  std::erase_if(names, [&](const auto& entry) { return nodes_[entry.second].layer < layers_; });
}

Result<void> Tree::whiteout(const archive::Member& member, const std::string& name) {
  GOLDENV_TRY(const std::vector<std::string_view> parts, parts_of(member.path, name));
  const Result<std::uint32_t> folder = parent_of(parts, name, false);
  if (!folder) {
    return folder.error().code == Errc::absent ? Result<void>() : folder.error();
  }
  if (parts.back() == kOpaque) {
    take_away_lower(*folder);
    return {};
  }
  Names& names = *nodes_[*folder].names;
  const auto it = names.find(parts.back().substr(kWhiteout.size()));
  if (it != names.end()) {
    names.erase(it);
  }
  return {};
}

Result<void> Tree::add(const archive::Member& member, std::uint64_t number,
                       const std::string& name) {
  GOLDENV_TRY(const std::vector<std::string_view> parts, parts_of(member.path, name));
  const Kind kind = kind_of(member.kind);
  if (kind == Kind::link && member.target.size() >= kPathLimitBytes) {
    return Error{Errc::malformed,
                 name + ": the link " + shortened(member.path) + " has too long a text",
                 {}};
  }
  if (is_of_aufs(parts)) {
    return {};
  }
  std::uint32_t at = 0;
  if (!parts.empty()) {
    GOLDENV_TRY(const std::uint32_t folder, parent_of(parts, name, true));
    std::uint32_t source = 0;
    if (member.kind == archive::Member::Kind::hard_link) {
      GOLDENV_TRY(const std::vector<std::string_view> other, parts_of(member.target, name));
      const Result<std::uint32_t> beside = parent_of(other, name, false);
      const Names* names = beside && !other.empty() ? nodes_[*beside].names.get() : nullptr;
      const auto found = names == nullptr ? Names::const_iterator() : names->find(other.back());
      if (names == nullptr || found == names->end() ||
          nodes_[found->second].status.kind == Kind::folder) {
        return Error{Errc::malformed,
                     name + ": " + shortened(member.path) + " is a hard link to " +
                         shortened(member.target) + ", which is not there",
                     {}};
      }
      source = found->second;
    }
    const auto known = nodes_[folder].names->find(parts.back());
    const bool stays = known != nodes_[folder].names->end() && kind == Kind::folder &&
                       nodes_[known->second].status.kind == Kind::folder;
    if (stays) {
      at = known->second;
    } else {
      GOLDENV_TRY(at, make(folder, parts.back(), kind));
    }
    if (source != 0) {
      nodes_[at].status = nodes_[source].status;  // the inode too: it is the same file
      nodes_[at].target = nodes_[source].target;
      nodes_[at].content = nodes_[source].content;
      return {};
    }
  } else if (kind != Kind::folder) {
    return Error{Errc::malformed, name + ": its root is no folder", {}};
  }
  Node& node = nodes_[at];
  node.layer = layers_;
  node.status.mode = member.mode;
  node.status.uid = member.uid;
  node.status.gid = member.gid;
  node.status.mtime_ns = member.mtime_ns;
  node.status.ctime_ns = member.mtime_ns;
  node.target = kind == Kind::link ? member.target : "";
  if (kind == Kind::file) {
    node.status.size_bytes = member.size_bytes;
    node.content = {layers_, number, member.offset, member.size_bytes};
  } else if (kind == Kind::link) {
    node.status.size_bytes = member.target.size();
  }
  return {};
}

Result<void> Tree::add_layer(const std::vector<archive::Member>& members, const std::string& name) {
  for (const archive::Member& member : members) {
    if (is_whiteout(member)) {
      if (const Result<void> done = whiteout(member, name); !done) {
        return done;
      }
    }
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!is_whiteout(members[i])) {
      if (const Result<void> done = add(members[i], i, name); !done) {
        return done;
      }
    }
  }
  ++layers_;
  return {};
}

Result<Tree::Found> Tree::find(std::string_view path, Last last) const {
  GOLDENV_TRY(const std::string clean, host::clean_path(path));
  std::vector<std::string> rest;
  push_front(rest, clean);
  std::vector<std::pair<std::string, std::uint32_t>> above{{"/", 0}};
  int hops = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part == "..") {
      if (above.size() > 1) {
        above.pop_back();
      }
      continue;
    }
    const Node& folder = nodes_[above.back().second];
    if (folder.status.kind != Kind::folder) {
      return host::error_at(Errc::absent, path);
    }
    const auto it = folder.names->find(part);
    if (it == folder.names->end()) {
      return host::error_at(Errc::absent, path);
    }
    const Node& node = nodes_[it->second];
    if (node.status.kind == Kind::link && !(rest.empty() && last == Last::keep)) {
      if (++hops > kHopLimit) {
        return host::error_at(Errc::unreadable, path, "too many links");
      }
      push_front(rest, node.target);
      if (node.target.starts_with('/')) {
        above.resize(1);
      }
      continue;
    }
    above.emplace_back(part, it->second);
  }
  Found found;
  for (std::size_t i = 1; i < above.size(); ++i) {
    found.path += "/" + above[i].first;
  }
  found.path = found.path.empty() ? "/" : found.path;
  found.node = &nodes_[above.back().second];
  return found;
}

Result<std::vector<std::string>> Tree::hops(std::string_view path) const {
  // Followed to the end first: a loop ends here.
  GOLDENV_TRY(Found end, find(path, Last::follow));
  GOLDENV_TRY(std::string step, host::clean_path(path));
  std::vector<std::string> steps{step};
  while (true) {
    GOLDENV_TRY(const Found at, find(step, Last::keep));
    if (steps.size() > 1) {
      steps.back() = at.path;
    }
    if (at.node->status.kind != Kind::link) {
      break;
    }
    const std::string& target = at.node->target;
    step = target.starts_with('/') ? target : host::joined(host::folder_of(at.path), target);
    steps.push_back(step);
  }
  if (steps.back() != end.path) {
    steps.push_back(std::move(end.path));
  }
  return steps;
}

}  // namespace goldenv::image
