#include "provision/remembered.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/sha256.h"
#include "base/text.h"
#include "store/descriptor.h"

namespace goldenv::provision {
namespace {

constexpr std::size_t kLimitBytes = 64u << 10;

std::string name_of(std::string_view question) { return Sha256::of(question).hex() + ".json"; }

/// The folder, of ours and closed to others; none where it is not so.
std::optional<store::Descriptor> open_folder(const store::Store& store, bool make) {
  if (make) {
    mkdirat(store.fd(), "choices", 0700);
  }
  store::Descriptor folder(
      openat(store.fd(), "choices", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (folder.get() < 0 || fstat(folder.get(), &status) != 0 ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
      (status.st_uid != geteuid() && status.st_uid != 0)) {
    return std::nullopt;
  }
  return folder;
}

}  // namespace

std::optional<doc::Node> recall(const store::Store& store, std::string_view question) {
  const auto folder = open_folder(store, false);
  if (!folder) {
    return std::nullopt;
  }
  const store::Descriptor file(openat(folder->get(), name_of(question).c_str(),
                                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  std::string text(kLimitBytes, '\0');
  const ssize_t size = read(file.get(), text.data(), text.size());
  if (size <= 0 || static_cast<std::size_t>(size) == text.size()) {
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(size));
  Result<doc::Node> node = doc::parse(text, doc::Format::json, "choice");
  // A digest is short and files are many: what was asked stands in the answer.
  if (!node || !node->is_mapping() || text_at(*node, "question") != question) {
    return std::nullopt;
  }
  return *std::move(node);
}

void remember(const store::Store& store, std::string_view question, const doc::Node& answer) {
  if (store.access() != store::Access::write) {
    return;
  }
  const auto folder = open_folder(store, true);
  if (!folder) {
    return;
  }
  doc::Node node = answer;
  put(node, "question", text_node(question));
  const std::string text = doc::render_json(node, false) + "\n";
  const std::string name = name_of(question);
  const std::string draft = "." + name + "." + std::to_string(getpid());
  bool whole = false;
  {
    const store::Descriptor file(openat(
        folder->get(), draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    whole = file.get() >= 0 &&
            write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  if (!whole || renameat(folder->get(), draft.c_str(), folder->get(), name.c_str()) != 0) {
    unlinkat(folder->get(), draft.c_str(), 0);
  }
}

doc::Node text_node(std::string_view text) { return doc::Node::scalar(std::string(text), true); }
doc::Node number_node(std::uint64_t number) { return doc::Node::scalar(std::to_string(number)); }
doc::Node flag_node(bool on) { return doc::Node::scalar(on ? "true" : "false"); }

void put(doc::Node& mapping, std::string_view key, doc::Node value) {
  mapping.kind = doc::Node::Kind::mapping;
  mapping.entries.push_back({std::string(key), {}, std::move(value)});
}

std::string text_at(const doc::Node& mapping, std::string_view key) {
  const doc::Node* const node = mapping.find(key);
  return node != nullptr && node->is_scalar() ? node->text : std::string{};
}

std::optional<std::uint64_t> number_at(const doc::Node& mapping, std::string_view key) {
  const doc::Node* const node = mapping.find(key);
  return node != nullptr && node->is_scalar() && !node->quoted ? to_number(node->text)
                                                               : std::nullopt;
}

bool flag_at(const doc::Node& mapping, std::string_view key) {
  const doc::Node* const node = mapping.find(key);
  return node != nullptr && node->is_scalar() && !node->quoted && node->text == "true";
}

}  // namespace goldenv::provision
