#include "elf/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace goldenv::elf {
namespace {

// Generous for real files (a debug build of a large library has some 50,000 sections).
constexpr std::size_t kSegmentLimit = 4096;
constexpr std::size_t kSectionLimit = 1u << 17;
constexpr std::uint64_t kDataLimitBytes = 1u << 20;
constexpr std::size_t kTextLimitBytes = 4096;
constexpr std::uint64_t kNamesLimitBytes = 4u << 20;
constexpr std::size_t kNameLimitBytes = 64;  // what a section is known by is far shorter

/// The first bytes of a file: the larger of the two ELF headers, zeros behind the end of the file.
using Head = std::array<unsigned char, sizeof(Elf64_Ehdr)>;

/// The number of sections, which stands in the first section's size where it does not fit the
/// header. Looked at before libelf makes room for so many.
std::uint64_t section_count(const File& file, const Head& head) {
  const unsigned char* ident = head.data();
  const auto number = [&](std::uint64_t offset, int size) {
    unsigned char bytes[8] = {};
    if (offset < head.size()) {  // a field of the header
      std::memcpy(bytes, head.data() + offset, static_cast<std::size_t>(size));
    } else {
      file.read_at(offset, reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    }
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i) {
      value = value * 256 + bytes[ident[EI_DATA] == ELFDATA2MSB ? i : size - 1 - i];
    }
    return value;
  };
  const bool wide = ident[EI_CLASS] == ELFCLASS64;
  const std::uint64_t offset =
      wide ? number(offsetof(Elf64_Ehdr, e_shoff), 8) : number(offsetof(Elf32_Ehdr, e_shoff), 4);
  const std::uint64_t count =
      wide ? number(offsetof(Elf64_Ehdr, e_shnum), 2) : number(offsetof(Elf32_Ehdr, e_shnum), 2);
  if (offset == 0 || count != 0 || offset >= file.size_bytes()) {
    return count;
  }
  return wide ? number(offset + offsetof(Elf64_Shdr, sh_size), 8)
              : number(offset + offsetof(Elf32_Shdr, sh_size), 4);
}

bool is_inside(const Extent& extent, std::uint64_t size) {
  return extent.offset <= size && extent.size_bytes <= size - extent.offset;
}

}  // namespace

File::File(File&& other) noexcept
    : fd_(other.fd_),
      path_(std::move(other.path_)),
      size_bytes_(other.size_bytes_),
      elf_(std::exchange(other.elf_, nullptr)),
      header_(other.header_),
      segments_(std::move(other.segments_)) {}

File::~File() {
  if (elf_ != nullptr) {
    elf_end(elf_);
  }
}

Error File::malformed(std::string_view what) const {
  return Error{Errc::malformed, path_ + ": " + std::string(what), {}};
}

std::size_t File::read_at(std::uint64_t offset, char* out, std::size_t size) const {
  std::size_t done = 0;
  while (done < size && offset + done < size_bytes_) {
    const ssize_t got = pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<File> File::open(int fd, std::string_view path) {
  File file(fd, path);
  struct stat s;
  if (fstat(fd, &s) != 0) {
    return Error{Errc::unreadable, file.path_ + ": " + std::strerror(errno), {}};
  }
  file.size_bytes_ = static_cast<std::uint64_t>(s.st_size);
  Head head{};
  const unsigned char* ident = head.data();
  if (file.read_at(0, reinterpret_cast<char*>(head.data()), head.size()) < EI_NIDENT ||
      std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    return file.malformed("is no ELF file");
  }
  if (section_count(file, head) > kSectionLimit) {
    return file.malformed("states more sections than any ELF file has");
  }
  if (file.size_bytes_ <
      (ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))) {
    return file.malformed("is cut short within its ELF header");
  }
  elf_version(EV_CURRENT);
  file.elf_ = elf_begin(fd, ELF_C_READ, nullptr);
  if (file.elf_ == nullptr || elf_kind(file.elf_) != ELF_K_ELF ||
      gelf_getehdr(file.elf_, &file.header_) == nullptr) {
    return file.malformed("its ELF header is damaged");
  }
  // libelf counts only as many program headers as there is room for.
  const std::uint64_t table_bytes =
      std::uint64_t{file.header_.e_phnum} * std::uint64_t{file.header_.e_phentsize};
  if (file.header_.e_phnum != PN_XNUM && table_bytes != 0 &&
      !is_inside({file.header_.e_phoff, table_bytes}, file.size_bytes_)) {
    return file.malformed("is cut short: its program headers lie outside it");
  }
  std::size_t count = 0;
  if (file.header_.e_phnum == PN_XNUM || elf_getphdrnum(file.elf_, &count) != 0 ||
      count > kSegmentLimit) {
    return file.malformed("its program headers lie outside it");
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file.elf_, static_cast<int>(i), &segment) == nullptr) {
      return file.malformed("its program headers lie outside it");
    }
    // The loader would map it all the same, and the process would die at the first missing page.
    if (segment.p_type == PT_LOAD &&
        !is_inside({segment.p_offset, segment.p_filesz}, file.size_bytes_)) {
      return file.malformed("is cut short: a segment lies outside it");
    }
    file.segments_.push_back(segment);
  }
  // A kernel module has sections alone, and their headers stand at its end.
  const std::uint64_t sections_bytes =
      std::uint64_t{file.header_.e_shnum} * std::uint64_t{file.header_.e_shentsize};
  if (count == 0 && file.header_.e_shoff != 0 &&
      !is_inside({file.header_.e_shoff, sections_bytes}, file.size_bytes_)) {
    return file.malformed("is cut short: its section headers lie outside it");
  }
  return file;
}

Result<std::vector<File::Section>> File::sections() const {
  std::vector<Section> out;
  std::size_t count = 0;
  std::size_t names = 0;
  if (elf_getshdrnum(elf_, &count) != 0 || count > kSectionLimit) {
    return malformed("its section headers lie outside it");
  }
  if (count == 0) {
    return out;
  }
  if (elf_getshdrstrndx(elf_, &names) != 0) {
    return malformed("its section names lie outside it");
  }
  std::string table;  // read at once: a section's name is all that is wanted of most
  if (Elf_Scn* scn = elf_getscn(elf_, names); scn != nullptr && names != SHN_UNDEF) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) != nullptr && header.sh_type == SHT_STRTAB &&
        is_inside({header.sh_offset, header.sh_size}, size_bytes_)) {
      table.resize(std::min(header.sh_size, kNamesLimitBytes));
      table.resize(read_at(header.sh_offset, table.data(), table.size()));
    }
  }
  for (std::size_t i = 1; i < count; ++i) {
    Section section;
    Elf_Scn* scn = elf_getscn(elf_, i);
    if (scn == nullptr || gelf_getshdr(scn, &section.header) == nullptr) {
      return malformed("its section headers lie outside it");
    }
    if (section.header.sh_name < table.size()) {
      section.name = std::string_view(table).substr(section.header.sh_name, kNameLimitBytes);
      section.name.resize(std::min(section.name.size(), section.name.find('\0')));
    }
    out.push_back(std::move(section));
  }
  return out;
}

std::optional<Extent> File::at_address(std::uint64_t address) const {
  for (const GElf_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr >= segment.p_filesz) {
      continue;
    }
    const std::uint64_t into = address - segment.p_vaddr;
    const std::uint64_t size = segment.p_filesz - into;
    const std::uint64_t offset = segment.p_offset + into;
    if (offset < into || offset >= size_bytes_) {
      return {};
    }
    return Extent{offset, std::min(size, size_bytes_ - offset)};
  }
  return {};
}

Elf_Data* File::data(const Extent& extent, Elf_Type type) const {
  if (extent.size_bytes == 0 || extent.size_bytes > kDataLimitBytes ||
      !is_inside(extent, size_bytes_)) {
    return nullptr;
  }
  return elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(extent.offset), extent.size_bytes,
                              type);
}

std::optional<std::string> File::near_text(std::uint64_t at, std::uint64_t most) const {
  constexpr std::uint64_t kWindowBytes = 4096;
  for (const bool fresh : {false, true}) {
    if (fresh) {
      window_.resize(std::min(kWindowBytes, most));
      window_.resize(read_at(at, window_.data(), window_.size()));
      window_at_ = at;
    }
    if (at < window_at_ || at - window_at_ >= window_.size()) {
      continue;
    }
    const std::string_view rest =
        std::string_view(window_).substr(static_cast<std::size_t>(at - window_at_)).substr(0, most);
    if (const std::size_t end = rest.find('\0'); end != std::string_view::npos) {
      return std::string(rest.substr(0, end));
    }
  }
  return std::nullopt;
}

Result<std::string> File::text(const Extent& table, std::uint64_t offset) const {
  if (offset >= table.size_bytes || !is_inside(table, size_bytes_)) {
    return malformed("a name lies outside its string table");
  }
  if (auto near = near_text(table.offset + offset, table.size_bytes - offset)) {
    return *std::move(near);
  }
  std::string bytes(std::min<std::uint64_t>(256, table.size_bytes - offset), '\0');
  std::size_t done = 0;
  while (true) {
    const std::size_t got =
        read_at(table.offset + offset + done, bytes.data() + done, bytes.size() - done);
    const std::size_t end = std::string_view(bytes).substr(0, done + got).find('\0', done);
    if (end != std::string::npos) {
      bytes.resize(end);
      return bytes;
    }
    done += got;
    if (done < bytes.size() || done >= kTextLimitBytes || done >= table.size_bytes - offset) {
      return malformed("a name in a string table has no end");
    }
    bytes.resize(std::min<std::uint64_t>(kTextLimitBytes, table.size_bytes - offset));
  }
}

}  // namespace goldenv::elf
