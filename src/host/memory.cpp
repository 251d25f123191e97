#include "host/memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "host/child.h"
#include "host/descriptor.h"
#include "host/path.h"
#include "host/result_file.h"

namespace goldenv::host {
namespace {

// memory 1
// 1764495695<TAB>254:1841:228410280:1764490000000000000:1764490000000000000 text ...<TAB>answer
// sha256 3fdb...
constexpr std::string_view kFirstLine = "goldenv memory 1\n";
constexpr std::string_view kLastLine = "sha256 ";
constexpr const char* kFile = "memory";
constexpr const char* kNewFile = "memory.new";
constexpr std::size_t kEntryLimit = 4096;
constexpr std::size_t kTextLimitBytes = 4096;
constexpr std::size_t kFileLimit = std::size_t{8} << 20;
constexpr std::int64_t kSettledNs = 2'000'000'000;
constexpr std::int64_t kDayS = 86'400;
constexpr std::chrono::milliseconds kDeadline{1000};  // the user's home may be a dead mount

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string identity(const FileStatus& file) {
  return std::to_string(file.device) + ':' + std::to_string(file.inode) + ':' +
         std::to_string(file.size_bytes) + ':' + std::to_string(file.mtime_ns) + ':' +
         std::to_string(file.ctime_ns);
}

std::string key_of(const FileStatus& file, std::string_view question) {
  return identity(file) + ' ' + std::string(question);
}

std::string escape(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '%') {
      out += '%';
      out += kDigits[byte / 16];
      out += kDigits[byte % 16];
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescape(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Only root and we can have written it.
bool is_trusted(const struct stat& s) {
  return (s.st_uid == 0 || s.st_uid == geteuid()) && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The folder, if it can be trusted.
Descriptor open_folder(const std::string& folder) {
  Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat s;
  if (!fd || fstat(fd.get(), &s) != 0 || !is_trusted(s)) {
    return {};
  }
  return fd;
}

std::optional<std::string> read_file_of(const Descriptor& folder) {
  const Descriptor fd(
      openat(folder.get(), kFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat s;
  if (!fd || fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_trusted(s) ||
      static_cast<std::uint64_t>(s.st_size) > kFileLimit) {
    return {};
  }
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return {};
    }
    done += static_cast<std::size_t>(got);
  }
  return text;
}

void make_folders(const std::string& folder) {
  for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) {
      return;
    }
  }
}

}  // namespace

Memory::Memory(std::string folder) : folder_(std::move(folder)) {}

Memory::~Memory() { save(); }

std::string Memory::default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {
    return joined(cache, "goldenv");
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? joined(home, ".cache/goldenv") : "";
}

Memory::Entries Memory::parse(std::string_view text) {
  Entries entries;
  const std::size_t end = text.rfind(kLastLine);
  if (!text.starts_with(kFirstLine) || end == std::string_view::npos || text[end - 1] != '\n') {
    return entries;
  }
  const auto sum = Sha256::parse(trim(text.substr(end + kLastLine.size())));
  const std::string_view body = text.substr(0, end);
  if (!sum || *sum != Sha256::of(body)) {
    return entries;
  }
  for (const std::string_view line : lines(body.substr(kFirstLine.size()))) {
    const std::vector<std::string_view> fields = split(line, '\t');
    const auto used = fields.size() == 3 ? to_number(fields[0]) : std::nullopt;
    if (used && entries.size() < kEntryLimit) {
      entries[unescape(fields[1])] = Entry{
          unescape(fields[2]), static_cast<std::int64_t>(std::min(*used, std::uint64_t{1} << 40))};
    }
  }
  return entries;
}

std::string Memory::render(const Entries& entries) {
  std::string text(kFirstLine);
  for (const auto& [key, entry] : entries) {
    text += std::to_string(entry.used_s) + '\t' + escape(key) + '\t' + escape(entry.answer) + '\n';
  }
  const std::string sum = Sha256::of(text).hex();
  text += kLastLine;
  text += sum;
  text += '\n';
  return text;
}

void Memory::load() {
  if (std::exchange(loaded_, true) || folder_.empty()) {
    return;
  }
  Child child([this](std::string_view, const Child::Announce&) {
    const Descriptor folder = open_folder(folder_);
    return folder ? read_file_of(folder).value_or("") : "";
  });
  const Child::Reply reply = child.ask({}, kDeadline);
  if (reply.end == Child::End::answered) {
    entries_ = parse(reply.bytes);
  } else {
    folder_.clear();  // nor would it take what we learn
  }
}

std::optional<std::string> Memory::get(const FileStatus& file, std::string_view question) {
  load();
  const std::string key = key_of(file, question);
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    return {};
  }
  // Written down once a day at most, so that a look that learns nothing writes nothing.
  const std::int64_t now_s = now_ns() / 1'000'000'000;
  if (it->second.used_s + kDayS < now_s) {
    it->second.used_s = now_s;
    fresh_[key] = it->second;
  }
  return it->second.answer;
}

void Memory::put(const FileStatus& file, std::string_view question, std::string_view answer) {
  const std::int64_t now = now_ns();
  if (now - std::max(file.mtime_ns, file.ctime_ns) < kSettledNs ||
      question.size() > kTextLimitBytes || answer.size() > kTextLimitBytes ||
      fresh_.size() >= kEntryLimit) {
    return;
  }
  load();
  Entry entry{std::string(answer), now / 1'000'000'000};
  std::string key = key_of(file, question);
  entries_[key] = entry;
  fresh_[std::move(key)] = std::move(entry);
}

Result<std::string> Memory::recall(const Host& host, std::string_view path,
                                   std::string_view question,
                                   const std::function<Result<std::string>()>& learn) {
  const Result<FileStatus> before = host.status(path);
  if (!before) {
    return before.error();
  }
  if (std::optional<std::string> known = get(*before, question)) {
    return *std::move(known);
  }
  Result<std::string> answer = learn();
  const Result<FileStatus> after = host.status(path);
  if (answer && after && identity(*before) == identity(*after)) {
    put(*before, question, *answer);
  }
  return answer;
}

void Memory::save() {
  if (fresh_.empty() || folder_.empty()) {
    return;
  }
  Child child([this](std::string_view, const Child::Announce&) {
    write(folder_, fresh_);
    return std::string();
  });
  child.ask({}, kDeadline);
  fresh_.clear();
}

/// Down to what a reader takes.
void Memory::forget_oldest(Entries& entries) {
  std::vector<std::pair<std::int64_t, std::string>> by_use;
  for (const auto& [key, entry] : entries) {
    by_use.emplace_back(-entry.used_s, key);
  }
  std::ranges::sort(by_use);
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& [used, key] : by_use) {
    bytes += 3 * (key.size() + entries[key].answer.size()) + 32;  // each byte escaped
    if (++count > kEntryLimit || bytes > kFileLimit - 256) {
      entries.erase(key);
    }
  }
}

/// Runs in a child.
void Memory::write(const std::string& path, const Entries& fresh) {
  make_folders(path);
  const Descriptor folder = open_folder(path);
  // One writer at a time: what it adds to must still be there when it renames, and the name of the
  // new file is its own.
  if (!folder || flock(folder.get(), LOCK_EX) != 0) {
    return;
  }
  Entries all = parse(read_file_of(folder).value_or(""));
  for (const auto& [key, entry] : fresh) {
    all[key] = entry;
  }
  forget_oldest(all);
  unlinkat(folder.get(), kNewFile, 0);  // of one that was killed
  const Descriptor fd(
      openat(folder.get(), kNewFile, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return;
  }
  if (!write_all(fd.get(), render(all)) ||
      renameat(folder.get(), kNewFile, folder.get(), kFile) != 0) {
    unlinkat(folder.get(), kNewFile, 0);
  }
}

}  // namespace goldenv::host
