#include "archive/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <vector>

#include "archive/unpacking.h"
#include "base/sha256_stream.h"

namespace goldenv::archive {
namespace {

constexpr std::size_t kBlockBytes = 64u << 10;
// Times from outside: what fits 64 bits of nanoseconds, the years 1678 to 2262.
constexpr std::int64_t kLastSecond = 9'223'372'036;

std::int64_t nanoseconds(archive_entry* entry) {
  const std::int64_t seconds = archive_entry_mtime_is_set(entry) != 0
                                   ? static_cast<std::int64_t>(archive_entry_mtime(entry))
                                   : 0;
  if (seconds <= -kLastSecond || seconds >= kLastSecond) {
    return 0;
  }
  return seconds * 1'000'000'000 + static_cast<std::int64_t>(archive_entry_mtime_nsec(entry));
}

Member::Kind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) {
    return Member::Kind::hard_link;
  }
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Member::Kind::file;
    case AE_IFDIR:
      return Member::Kind::folder;
    case AE_IFLNK:
      return Member::Kind::link;
    case AE_IFIFO:
      return Member::Kind::fifo;
    case AE_IFCHR:
    case AE_IFBLK:
      return Member::Kind::device;
    default:
      return Member::Kind::other;
  }
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

}  // namespace

struct Tar::State {
  State(Part whole, std::string title, TarBudget& shared, Reading how)
      : part(whole),
        name(std::move(title)),
        budget(shared),
        reading(how),
        block(kBlockBytes, '\0') {}

  Error error(Errc code, std::string_view what) const {
    return Error{code, name + ": " + std::string(what), {}};
  }

  /// The next bytes of the part; empty at its end.
  Result<std::string_view> read() {
    const std::uint64_t left = part.size_bytes - done;
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(left, block.size()));
    if (want == 0) {
      return std::string_view();
    }
    ssize_t got = 0;
    do {
      got = pread(part.fd, block.data(), want, static_cast<off_t>(part.offset + done));
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return error(Errc::unreadable, std::strerror(errno));
    }
    if (got == 0) {
      return error(Errc::malformed, "is cut short");
    }
    done += static_cast<std::uint64_t>(got);
    budget.packed_bytes_read += static_cast<std::uint64_t>(got);
    const std::string_view piece(block.data(), static_cast<std::size_t>(got));
    if (reading == Reading::whole) {
      sum.add(piece);
    }
    return piece;
  }

  /// The next bytes of the tar that the part holds, packed or not; empty at its end. Called from
  /// inside libarchive, which skips a member of a terabyte in one call.
  Result<std::string_view> read_tar() {
    if (!within_budget()) {
      return bomb();
    }
    GOLDENV_TRY(const std::string_view piece, unpacking == nullptr ? read() : unpacking->next());
    budget.bytes_read += piece.size();
    if (unpacking != nullptr && reading == Reading::whole) {
      unpacked_sum.add(piece);
    }
    return piece;
  }

  /// Whether what was unpacked so far is within the budget.
  [[nodiscard]] bool within_budget() const { return budget.bytes_read <= limit_bytes(); }

  [[nodiscard]] std::uint64_t limit_bytes() const {
    const std::uint64_t fair = std::max(budget.free_bytes, budget.packed_bytes_read * budget.ratio);
    return std::min(budget.bytes, fair);
  }

  Error bomb() const {
    return error(Errc::too_large,
                 "unpacks to more than " + std::to_string(limit_bytes() >> 20) +
                     " MiB, far more than its size lets expect; it is not read on");
  }

  static la_ssize_t feed(struct archive* /*reader*/, void* self, const void** bytes) {
    auto& state = *static_cast<State*>(self);
    const Result<std::string_view> piece = state.read_tar();
    if (!piece) {
      state.failure = piece.error();
      return ARCHIVE_FATAL;
    }
    *bytes = piece->data();
    return static_cast<la_ssize_t>(piece->size());
  }

  static la_int64_t skip(struct archive* /*reader*/, void* self, la_int64_t request) {
    auto& state = *static_cast<State*>(self);
    const std::uint64_t left = state.part.size_bytes - state.done;
    const std::uint64_t step =
        std::min(static_cast<std::uint64_t>(std::max<la_int64_t>(request, 0)), left);
    state.done += step;
    state.budget.packed_bytes_read += step;
    state.budget.bytes_read += step;
    return static_cast<la_int64_t>(step);
  }

  /// Why libarchive failed; what we failed with ourselves goes before.
  Error failed() const {
    if (failure) {
      return *failure;
    }
    const char* words = archive_error_string(reader);
    const std::string_view why = words == nullptr ? "" : words;
    if (archive_errno(reader) == ENOMEM) {
      return error(Errc::too_large, "needs more memory than there is");
    }
    if (why.find("Unrecognized archive format") != std::string_view::npos) {
      return error(Errc::malformed, "is no tar archive, neither plain nor gzip nor zstd");
    }
    return error(Errc::malformed, why.empty() ? "is damaged" : "is damaged: " + std::string(why));
  }

  Result<void> open() {
    reader = archive_read_new();
    if (reader == nullptr) {
      return error(Errc::failed, "libarchive does not start");
    }
    archive_read_support_format_tar(reader);
    char head[6] = {};
    const ssize_t got = pread(part.fd, head, std::min<std::uint64_t>(sizeof head, part.size_bytes),
                              static_cast<off_t>(part.offset));
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    unpacking = unpack(
        compression_of({head, size}), [this] { return read(); }, name);
    const bool skips = reading == Reading::skipping && unpacking == nullptr;
    if (archive_read_open2(reader, this, nullptr, feed, skips ? skip : nullptr, nullptr) !=
        ARCHIVE_OK) {
      return failed();
    }
    return {};
  }

  void close() {
    if (reader != nullptr) {
      archive_read_free(reader);
      reader = nullptr;
    }
  }

  Part part;
  std::string name;
  TarBudget& budget;
  Reading reading;
  std::string block;
  std::uint64_t done = 0;  // of the part
  std::unique_ptr<Unpacking> unpacking;
  Sha256Stream sum;
  Sha256Stream unpacked_sum;
  std::optional<Error> failure;
  struct archive* reader = nullptr;
  archive_entry* entry = nullptr;
};

Tar::Tar(Part part, std::string name, TarBudget& budget, Reading reading)
    : state_(std::make_unique<State>(part, std::move(name), budget, reading)) {}

Tar::~Tar() { state_->close(); }

Result<std::optional<Member>> Tar::next() {
  State& state = *state_;
  if (state.part.size_bytes == 0) {
    return std::optional<Member>();
  }
  if (state.reader == nullptr) {
    if (const Result<void> opened = state.open(); !opened) {
      return opened.error();
    }
  }
  const int status = archive_read_next_header(state.reader, &state.entry);
  if (status == ARCHIVE_EOF) {
    return std::optional<Member>();
  }
  // A warning is of a name that is no text in our locale, which is C: it comes as its bytes, and
  // these are what we want.
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
    return state.failed();
  }
  if (!state.within_budget()) {
    return state.bomb();
  }
  Member member;
  member.kind = kind_of(state.entry);
  member.path = text_of(archive_entry_pathname(state.entry));
  member.target = member.kind == Member::Kind::hard_link
                      ? text_of(archive_entry_hardlink(state.entry))
                      : text_of(archive_entry_symlink(state.entry));
  member.mode = static_cast<std::uint32_t>(archive_entry_perm(state.entry)) & 07777u;
  member.uid = static_cast<std::uint32_t>(archive_entry_uid(state.entry));
  member.gid = static_cast<std::uint32_t>(archive_entry_gid(state.entry));
  member.size_bytes =
      static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(state.entry), 0));
  member.mtime_ns = nanoseconds(state.entry);
  const bool as_it_is = state.unpacking == nullptr && archive_entry_sparse_count(state.entry) == 0;
  if (member.kind == Member::Kind::file && as_it_is) {
    const auto position = static_cast<std::uint64_t>(archive_filter_bytes(state.reader, 0));
    if (position > state.part.size_bytes || member.size_bytes > state.part.size_bytes - position) {
      return state.error(Errc::malformed, "is cut short in " + member.path);
    }
    member.offset = position;
  }
  TarBudget& budget = state.budget;
  budget.name_bytes_read += member.path.size() + member.target.size();
  if (++budget.members_read > budget.members || budget.name_bytes_read > budget.name_bytes) {
    return state.error(Errc::too_large, "holds more files than any such archive does");
  }
  return std::optional<Member>(std::move(member));
}

Result<void> Tar::content(const Sink& sink) {
  State& state = *state_;
  while (true) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t at = 0;
    const int status = archive_read_data_block(state.reader, &bytes, &size, &at);
    if (status == ARCHIVE_EOF) {
      return {};
    }
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      return state.failed();
    }
    if (!state.within_budget()) {
      return state.bomb();
    }
    if (size == 0 || at < 0) {
      continue;
    }
    const Result<void> taken = sink(static_cast<std::uint64_t>(at),
                                    std::string_view(static_cast<const char*>(bytes), size));
    if (!taken) {
      return taken;
    }
  }
}

Result<Digests> Tar::digests() {
  State& state = *state_;
  assert(state.reading == Reading::whole);
  state.close();
  while (true) {
    GOLDENV_TRY(const std::string_view piece, state.read_tar());
    if (piece.empty()) {
      break;
    }
  }
  Digests digests;
  digests.part = state.sum.take();
  digests.unpacked = state.unpacking == nullptr ? digests.part : state.unpacked_sum.take();
  return digests;
}

}  // namespace goldenv::archive
