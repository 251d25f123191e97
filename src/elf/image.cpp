#include "elf/image.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "elf/file.h"
#include "host/wire.h"

namespace goldenv::elf {
namespace {

/// SHA-1 gives 20 bytes, --build-id=0x... what the user likes.
constexpr std::size_t kBuildIdLimitBytes = 64;
constexpr std::size_t kVersionLimit = 1u << 16;

std::string hex(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] / 16];
    text += kDigits[bytes[i] % 16];
  }
  return text;
}

/// The build-id among the notes in a part of the file, or "".
std::string build_id_in(const File& file, const Extent& notes, std::uint64_t align) {
  Elf_Data* data = file.data(notes, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  if (data == nullptr) {
    return {};
  }
  std::size_t offset = 0;
  std::size_t name = 0;
  std::size_t body = 0;
  GElf_Nhdr note;
  const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
  while (true) {
    const std::size_t next = gelf_getnote(data, offset, &note, &name, &body);
    if (next <= offset) {
      return {};
    }
    offset = next;
    // libelf has checked that name and body lie in the data.
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::equal(bytes + name, bytes + name + note.n_namesz, ELF_NOTE_GNU) && note.n_descsz > 0 &&
        note.n_descsz <= kBuildIdLimitBytes) {
      return hex(bytes + body, note.n_descsz);
    }
  }
}

std::string build_id(const File& file) {
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_NOTE) {
      std::string id = build_id_in(file, {segment.p_offset, segment.p_filesz}, segment.p_align);
      if (!id.empty()) {
        return id;
      }
    }
  }
  // Kernel modules have no segments, and Go's linker leaves this note out of its own. Section
  // headers are no part of what is loaded: damaged ones mean no build-id, and no damaged file.
  const Result<std::vector<File::Section>> sections = file.sections();
  if (sections) {
    for (const File::Section& section : *sections) {
      const GElf_Shdr& header = section.header;
      if (header.sh_type == SHT_NOTE) {
        std::string id = build_id_in(file, {header.sh_offset, header.sh_size}, header.sh_addralign);
        if (!id.empty()) {
          return id;
        }
      }
    }
  }
  return {};
}

std::vector<std::string> folders(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view part : split(text, ':')) {
    out.emplace_back(part);
  }
  return out;
}

/// What the dynamic section says, before names are looked up.
struct Dynamic {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname;
  std::optional<std::uint64_t> rpath;
  std::optional<std::uint64_t> runpath;
  std::uint64_t flags = 0;  ///< DT_FLAGS_1
  std::uint64_t strings = 0;
  std::uint64_t strings_bytes = 0;
  std::uint64_t versions = 0;
  std::uint64_t version_count = 0;
};

Result<Dynamic> dynamic_of(const File& file, const GElf_Phdr& segment) {
  Dynamic out;
  if (segment.p_filesz == 0) {  // of a file with its debug information alone
    return out;
  }
  Elf_Data* data = file.data({segment.p_offset, segment.p_filesz}, ELF_T_DYN);
  if (data == nullptr) {
    return file.malformed("its dynamic section lies outside it");
  }
  GElf_Dyn entry;
  for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
    switch (entry.d_tag) {
      case DT_NEEDED:
        out.needed.push_back(entry.d_un.d_val);
        break;
      case DT_SONAME:
        out.soname = entry.d_un.d_val;
        break;
      case DT_RPATH:
        out.rpath = entry.d_un.d_val;
        break;
      case DT_RUNPATH:
        out.runpath = entry.d_un.d_val;
        break;
      case DT_FLAGS_1:
        out.flags = entry.d_un.d_val;
        break;
      case DT_STRTAB:
        out.strings = entry.d_un.d_ptr;
        break;
      case DT_STRSZ:
        out.strings_bytes = entry.d_un.d_val;
        break;
      case DT_VERDEF:
        out.versions = entry.d_un.d_ptr;
        break;
      case DT_VERDEFNUM:
        out.version_count = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }
  return out;
}

Result<std::vector<std::string>> versions_of(const File& file, const Dynamic& dynamic,
                                             const Extent& strings) {
  std::vector<std::string> names;
  if (dynamic.versions == 0 || dynamic.version_count == 0) {
    return names;
  }
  if (dynamic.version_count > kVersionLimit) {
    return file.malformed("states more symbol versions than any library has");
  }
  std::optional<Extent> extent = file.at_address(dynamic.versions);
  if (!extent) {
    return file.malformed("its symbol versions lie outside it");
  }
  // The table has no stated length: a definition and its names (the second names its parent) take
  // 20 + 2 * 8 bytes, and linkers write them one behind the other.
  extent->size_bytes = std::min<std::uint64_t>(
      extent->size_bytes, std::min<std::uint64_t>(dynamic.version_count * 64 + 256, 1u << 20));
  Elf_Data* data = file.data(*extent, ELF_T_BYTE);
  if (data == nullptr) {
    return file.malformed("its symbol versions lie outside it");
  }
  const bool big = file.header().e_ident[EI_DATA] == ELFDATA2MSB;
  const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
  const auto number = [&](std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value * 256 + bytes[offset + (big ? i : size - 1 - i)];
    }
    return value;
  };
  // Verdef and Verdaux are the same in both classes.
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < dynamic.version_count; ++i) {
    if (data->d_size < sizeof(GElf_Verdef) || at > data->d_size - sizeof(GElf_Verdef)) {
      return file.malformed("its symbol versions lie outside it");
    }
    const std::uint64_t flags = number(at + offsetof(GElf_Verdef, vd_flags), 2);
    const std::uint64_t aux = at + number(at + offsetof(GElf_Verdef, vd_aux), 4);
    const std::uint64_t next = number(at + offsetof(GElf_Verdef, vd_next), 4);
    if (aux > data->d_size - sizeof(GElf_Verdaux)) {
      return file.malformed("a symbol version lies outside its table");
    }
    if ((flags & VER_FLG_BASE) == 0) {
      GOLDENV_TRY(std::string name,
                  file.text(strings, number(aux + offsetof(GElf_Verdaux, vda_name), 4)));
      names.push_back(std::move(name));
    }
    if (next == 0) {
      break;
    }
    at += next;
  }
  return names;
}

Result<void> read_dynamic(const File& file, const GElf_Phdr& segment, Image& image) {
  GOLDENV_TRY(const Dynamic dynamic, dynamic_of(file, segment));
  image.no_default_folders = (dynamic.flags & DF_1_NODEFLIB) != 0;
  const bool has_names = !dynamic.needed.empty() || dynamic.soname || dynamic.rpath ||
                         dynamic.runpath || dynamic.versions != 0;
  if (!has_names) {
    return {};
  }
  std::optional<Extent> strings = file.at_address(dynamic.strings);
  if (!strings) {
    return file.malformed("its dynamic string table lies outside it");
  }
  if (dynamic.strings_bytes != 0) {
    strings->size_bytes = std::min(strings->size_bytes, dynamic.strings_bytes);
  }
  for (const std::uint64_t offset : dynamic.needed) {
    GOLDENV_TRY(std::string name, file.text(*strings, offset));
    image.needed.push_back(std::move(name));
  }
  if (dynamic.soname) {
    GOLDENV_TRY(image.soname, file.text(*strings, *dynamic.soname));
  }
  if (dynamic.runpath) {
    GOLDENV_TRY(const std::string text, file.text(*strings, *dynamic.runpath));
    image.runpath = folders(text);
  } else if (dynamic.rpath) {
    GOLDENV_TRY(const std::string text, file.text(*strings, *dynamic.rpath));
    image.rpath = folders(text);
  }
  GOLDENV_TRY(image.version_definitions, versions_of(file, dynamic, *strings));
  return {};
}

}  // namespace

Result<Image> read_open(int fd, std::string_view path) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  Image image;
  image.machine = file.header().e_machine;
  image.is_64bit = file.header().e_ident[EI_CLASS] == ELFCLASS64;
  image.build_id = build_id(file);
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_DYNAMIC) {
      if (Result<void> done = read_dynamic(file, segment, image); !done) {
        return std::move(done).error();
      }
      break;
    }
  }
  return image;
}

namespace {

std::string pack(const Image& image) {
  host::Encoder out;
  out.number(image.machine);
  out.number(image.is_64bit ? 1 : 0);
  out.text(image.build_id);
  out.text(image.soname);
  out.texts(image.needed);
  out.texts(image.rpath);
  out.texts(image.runpath);
  out.number(image.no_default_folders ? 1 : 0);
  out.texts(image.version_definitions);
  return out.take();
}

Result<Image> unpack(std::string_view bytes, std::string_view path) {
  host::Decoder in(bytes);
  Image image;
  image.machine = static_cast<std::uint16_t>(in.number());
  image.is_64bit = in.number() != 0;
  image.build_id = in.text();
  image.soname = in.text();
  image.needed = in.texts();
  image.rpath = in.texts();
  image.runpath = in.texts();
  image.no_default_folders = in.number() != 0;
  image.version_definitions = in.texts();
  if (!in.done()) {
    return Error{
        Errc::failed, std::string(path) + ": the child that read it gave half an answer", {}};
  }
  return image;
}

}  // namespace

Result<Image> read(const host::Host& host, std::string_view path) {
  GOLDENV_TRY(const std::string bytes, host.ask(path, "elf 1", [&](int fd) -> Result<std::string> {
    GOLDENV_TRY(const Image image, read_open(fd, path));
    return pack(image);
  }));
  return unpack(bytes, path);
}

}  // namespace goldenv::elf
