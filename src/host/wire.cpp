#include "host/wire.h"

#include <cstring>

namespace goldenv::host {

void Encoder::number(std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  bytes_.append(bytes, sizeof value);
}

void Encoder::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

void Encoder::texts(const std::vector<std::string>& values) {
  number(values.size());
  for (const std::string& value : values) {
    text(value);
  }
}

std::uint64_t Decoder::number() {
  std::uint64_t value = 0;
  if (!ok_ || rest_.size() < sizeof value) {
    ok_ = false;
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string Decoder::text() {
  const std::uint64_t size = number();
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    return {};
  }
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

std::vector<std::string> Decoder::texts() {
  std::vector<std::string> values;
  for (std::uint64_t left = number(); ok_ && left > 0; --left) {
    values.push_back(text());
  }
  return values;
}

namespace {

void put(Encoder& out, const std::string& value) { out.text(value); }
void get(Decoder& in, std::string& value) { value = in.text(); }

void put(Encoder& out, const std::vector<std::string>& values) { out.texts(values); }
void get(Decoder& in, std::vector<std::string>& values) { values = in.texts(); }

void put(Encoder& out, const std::vector<DirEntry>& entries) {
  out.number(entries.size());
  for (const DirEntry& entry : entries) {
    out.text(entry.name);
    out.number(static_cast<std::uint64_t>(entry.kind));
  }
}

FileStatus::Kind kind_of(std::uint64_t number) {
  return number > static_cast<std::uint64_t>(FileStatus::Kind::other)
             ? FileStatus::Kind::other
             : static_cast<FileStatus::Kind>(number);
}

void get(Decoder& in, std::vector<DirEntry>& entries) {
  for (std::uint64_t left = in.number(); in.ok() && left > 0; --left) {
    std::string name = in.text();
    entries.push_back(DirEntry{std::move(name), kind_of(in.number())});
  }
}

void put(Encoder& out, const FileStatus& status) {
  out.number(static_cast<std::uint64_t>(status.kind));
  out.number(status.mode);
  out.number(status.uid);
  out.number(status.gid);
  out.number(status.size_bytes);
  out.number(status.device);
  out.number(status.inode);
  out.number(static_cast<std::uint64_t>(status.mtime_ns));
  out.number(static_cast<std::uint64_t>(status.ctime_ns));
}

void get(Decoder& in, FileStatus& status) {
  status.kind = kind_of(in.number());
  status.mode = static_cast<std::uint32_t>(in.number());
  status.uid = static_cast<std::uint32_t>(in.number());
  status.gid = static_cast<std::uint32_t>(in.number());
  status.size_bytes = in.number();
  status.device = in.number();
  status.inode = in.number();
  status.mtime_ns = static_cast<std::int64_t>(in.number());
  status.ctime_ns = static_cast<std::int64_t>(in.number());
}

void put(Encoder& out, const Space& space) {
  out.number(space.total_bytes);
  out.number(space.free_bytes);
}

void get(Decoder& in, Space& space) {
  space.total_bytes = in.number();
  space.free_bytes = in.number();
}

}  // namespace

template <typename T>
std::string encode(const Result<T>& result) {
  Encoder out;
  out.number(result ? 1 : 0);
  if (result) {
    put(out, *result);
  } else {
    out.number(static_cast<std::uint64_t>(result.error().code));
    out.text(result.error().message);
    out.texts(result.error().trail);
  }
  return out.take();
}

template <typename T>
Result<T> decode(std::string_view bytes) {
  const Error broken{Errc::failed, "a child of this process gave a broken answer", {}};
  Decoder in(bytes);
  if (in.number() == 1) {
    T value{};
    get(in, value);
    if (in.done()) {
      return value;
    }
    return broken;
  }
  const std::uint64_t code = in.number();
  Error error;
  error.message = in.text();
  error.trail = in.texts();
  if (!in.done() || code > static_cast<std::uint64_t>(Errc::failed)) {
    return broken;
  }
  error.code = static_cast<Errc>(code);
  return error;
}

template std::string encode(const Result<std::string>&);
template std::string encode(const Result<std::vector<std::string>>&);
template std::string encode(const Result<std::vector<DirEntry>>&);
template std::string encode(const Result<FileStatus>&);
template std::string encode(const Result<Space>&);
template Result<std::string> decode(std::string_view);
template Result<std::vector<std::string>> decode(std::string_view);
template Result<std::vector<DirEntry>> decode(std::string_view);
template Result<FileStatus> decode(std::string_view);
template Result<Space> decode(std::string_view);

}  // namespace goldenv::host
