#include "elf/symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/sha256.h"
#include "base/text.h"
#include "elf/file.h"

namespace goldenv::elf {
namespace {

constexpr std::uint64_t kNamesLimitBytes = 64u << 20;
constexpr std::uint64_t kTableLimitBytes = 64u << 20;
constexpr std::uint64_t kSymbolLimit = 1'000'000;
constexpr std::uint64_t kNeedLimit = 4096;
constexpr std::size_t kNameLimit = 4096;
constexpr std::size_t kChainLimit = 100'000;

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Where the parts of a dynamic section lie in the file.
struct Tables {
  Extent names;
  Extent symbols;
  std::optional<Extent> gnu_hash;
  std::optional<Extent> hash;
  std::optional<Extent> needs;  ///< versions of others
  std::uint64_t need_count = 0;
};

/// The bytes of a part of the file. Errors: malformed, too_large.
Result<std::string> bytes_of(const File& file, const Extent& part, std::uint64_t limit) {
  if (part.size_bytes > limit) {
    return Error{Errc::too_large, "its symbol tables are too large", {}};
  }
  std::string bytes(part.size_bytes, '\0');
  if (file.read_at(part.offset, bytes.data(), bytes.size()) != bytes.size()) {
    return file.malformed("is cut short");
  }
  return bytes;
}

Result<Tables> tables_of(const File& file) {
  const GElf_Ehdr& header = file.header();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return file.malformed("is of a kind whose symbols are not looked at");
  }
  const auto dynamic =
      std::ranges::find(file.segments(), GElf_Word{PT_DYNAMIC}, &GElf_Phdr::p_type);
  if (dynamic == file.segments().end()) {
    return file.malformed("has no dynamic section");
  }
  GOLDENV_TRY(const std::string bytes,
              bytes_of(file, {dynamic->p_offset, dynamic->p_filesz}, 1u << 20));
  std::optional<std::uint64_t> names, name_bytes, symbols, gnu_hash, hash, needs;
  Tables tables;
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    const auto tag = number_at<std::int64_t>(bytes, at);
    const auto value = number_at<std::uint64_t>(bytes, at + 8);
    if (tag == DT_NULL) {
      break;
    }
    if (tag == DT_STRTAB) names = value;
    if (tag == DT_STRSZ) name_bytes = value;
    if (tag == DT_SYMTAB) symbols = value;
    if (tag == DT_GNU_HASH) gnu_hash = value;
    if (tag == DT_HASH) hash = value;
    if (tag == DT_VERNEED) needs = value;
    if (tag == DT_VERNEEDNUM) tables.need_count = value;
  }
  const auto place = [&](const std::optional<std::uint64_t>& address) {
    return address ? file.at_address(*address) : std::nullopt;
  };
  const auto names_at = place(names);
  const auto symbols_at = place(symbols);
  if (!names_at || !symbols_at || !name_bytes || *name_bytes > names_at->size_bytes) {
    return file.malformed("has no table of symbols");
  }
  tables.names = {names_at->offset, *name_bytes};
  tables.symbols = *symbols_at;
  tables.gnu_hash = place(gnu_hash);
  tables.hash = place(hash);
  tables.needs = place(needs);
  return tables;
}

/// How many symbols of the table can be undefined ones: in front of those that the hash table
/// covers, or all of them.
Result<std::uint64_t> undefined_end(const File& file, const Tables& tables) {
  const Extent* hash = tables.gnu_hash ? &*tables.gnu_hash : tables.hash ? &*tables.hash : nullptr;
  if (hash == nullptr || hash->size_bytes < 8) {
    return file.malformed("has no hash table of its symbols");
  }
  GOLDENV_TRY(const std::string head, bytes_of(file, {hash->offset, 8}, 8));
  const std::uint64_t end = number_at<std::uint32_t>(head, 4);  // symoffset, or nchain
  if (end > kSymbolLimit) {
    return Error{Errc::too_large, "it states more than a million symbols", {}};
  }
  if (end * sizeof(Elf64_Sym) > tables.symbols.size_bytes) {
    return file.malformed("states more symbols than it holds");
  }
  return end;
}

std::optional<std::string_view> text_at(std::string_view names, std::uint64_t at) {
  if (at >= names.size()) {
    return std::nullopt;
  }
  const std::string_view rest = names.substr(at);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(0, end));
}

/// A name that fits in a line: others are none of a compiler.
bool is_plain(std::string_view name) {
  return !name.empty() && name.size() < kNameLimit && std::ranges::all_of(name, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
  });
}

/// Verneed records. Source: the gABI supplement "Symbol Versioning" of the LSB.
Result<std::string> read_needs(const File& file, const Tables& tables, std::string_view names) {
  std::string out;
  if (!tables.needs) {
    return out;
  }
  GOLDENV_TRY(
      const std::string bytes,
      bytes_of(file,
               {tables.needs->offset, std::min<std::uint64_t>(tables.needs->size_bytes, 1u << 20)},
               1u << 20));
  std::uint64_t at = 0;
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < tables.need_count; ++i) {
    if (at + sizeof(Elf64_Verneed) > bytes.size() || ++seen > kNeedLimit) {
      return file.malformed("has a damaged table of versions");
    }
    const auto need = number_at<Elf64_Verneed>(bytes, at);
    const auto library = text_at(names, need.vn_file);
    std::uint64_t inner = at + need.vn_aux;
    for (int j = 0; j < need.vn_cnt; ++j) {
      if (inner + sizeof(Elf64_Vernaux) > bytes.size() || ++seen > kNeedLimit) {
        return file.malformed("has a damaged table of versions");
      }
      const auto one = number_at<Elf64_Vernaux>(bytes, inner);
      const auto version = text_at(names, one.vna_name);
      if (library && version && is_plain(*library) && is_plain(*version) &&
          (one.vna_flags & VER_FLG_WEAK) == 0) {
        out += "v " + std::string(*library) + " " + std::string(*version) + "\n";
      }
      inner += one.vna_next;
    }
    if (need.vn_next == 0) {
      break;
    }
    at += need.vn_next;
  }
  return out;
}

/// A hash table of the kind that every linker of the last fifteen years writes. Source: the GNU
/// linker's bfd/elflink.c, glibc's elf/dl-lookup.c.
class GnuHash {
 public:
  static Result<GnuHash> open(const File& file, const Tables& tables) {
    if (!tables.gnu_hash || tables.gnu_hash->size_bytes < 16) {
      return file.malformed("has no hash table of the GNU kind");
    }
    GnuHash table(file, tables);
    GOLDENV_TRY(const std::string head, bytes_of(file, {tables.gnu_hash->offset, 16}, 16));
    const std::uint64_t buckets = number_at<std::uint32_t>(head, 0);
    table.first_ = number_at<std::uint32_t>(head, 4);
    const std::uint64_t bloom = number_at<std::uint32_t>(head, 8);
    table.shift_ = number_at<std::uint32_t>(head, 12);
    const std::uint64_t size = bloom * 8 + buckets * 4;
    if (buckets == 0 || bloom == 0 || table.shift_ > 63 ||
        size > tables.gnu_hash->size_bytes - 16) {
      return file.malformed("has a damaged hash table");
    }
    GOLDENV_TRY(table.words_,
                bytes_of(file, {tables.gnu_hash->offset + 16, size}, kTableLimitBytes));
    table.bloom_ = bloom;
    table.buckets_ = buckets;
    table.chain_ = {tables.gnu_hash->offset + 16 + size, tables.gnu_hash->size_bytes - 16 - size};
    return table;
  }

  Result<bool> defines(std::string_view name) const {
    std::uint32_t hash = 5381;
    for (const char c : name) {
      hash = hash * 33 + static_cast<std::uint8_t>(c);
    }
    const auto word = number_at<std::uint64_t>(words_, hash / 64 % bloom_ * 8);
    if ((word >> (hash % 64) & 1) == 0 || (word >> ((hash >> shift_) % 64) & 1) == 0) {
      return false;
    }
    std::uint64_t index = number_at<std::uint32_t>(words_, bloom_ * 8 + hash % buckets_ * 4);
    if (index < first_) {
      return false;
    }
    for (std::size_t step = 0; step < kChainLimit; ++step, ++index) {
      const std::uint64_t at = (index - first_) * 4;
      if (at + 4 > chain_.size_bytes) {
        return file_.malformed("has a damaged hash table");
      }
      GOLDENV_TRY(const std::string link, bytes_of(file_, {chain_.offset + at, 4}, 4));
      const auto entry = number_at<std::uint32_t>(link, 0);
      if ((entry | 1u) == (hash | 1u)) {
        GOLDENV_TRY(const bool is_it, is_named(index, name));
        if (is_it) {
          return true;
        }
      }
      if ((entry & 1u) != 0) {
        return false;
      }
    }
    return file_.malformed("has a damaged hash table");
  }

 private:
  GnuHash(const File& file, const Tables& tables) : file_(file), tables_(tables) {}

  Result<bool> is_named(std::uint64_t index, std::string_view name) const {
    const std::uint64_t at = index * sizeof(Elf64_Sym);
    if (at + sizeof(Elf64_Sym) > tables_.symbols.size_bytes) {
      return file_.malformed("has a damaged hash table");
    }
    GOLDENV_TRY(const std::string bytes,
                bytes_of(file_, {tables_.symbols.offset + at, sizeof(Elf64_Sym)}, 64));
    const auto symbol = number_at<Elf64_Sym>(bytes, 0);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= tables_.names.size_bytes ||
        tables_.names.size_bytes - symbol.st_name < name.size() + 1) {
      return false;
    }
    GOLDENV_TRY(
        const std::string text,
        bytes_of(file_, {tables_.names.offset + symbol.st_name, name.size() + 1}, kNameLimit + 1));
    return text.back() == '\0' && std::string_view(text).substr(0, name.size()) == name;
  }

  const File& file_;
  const Tables& tables_;
  std::string words_;
  std::uint64_t first_ = 0;
  std::uint64_t bloom_ = 0;
  std::uint64_t buckets_ = 0;
  std::uint32_t shift_ = 0;
  Extent chain_;
};

/// A question for Host::ask, which hangs on what is asked for, too.
std::string question(std::string_view what, const std::vector<std::string>& words) {
  return std::string(what) + " " + Sha256::of(join(words, "\n")).hex().substr(0, 32);
}

}  // namespace

Result<std::string> read_demands(int fd, std::string_view path,
                                 const std::vector<std::string>& begins) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  GOLDENV_TRY(const Tables tables, tables_of(file));
  GOLDENV_TRY(const std::uint64_t end, undefined_end(file, tables));
  GOLDENV_TRY(const std::string names, bytes_of(file, tables.names, kNamesLimitBytes));
  GOLDENV_TRY(const std::string symbols,
              bytes_of(file, {tables.symbols.offset, end * sizeof(Elf64_Sym)}, kTableLimitBytes));
  std::set<std::string> wanted;
  for (std::uint64_t i = 1; i < end; ++i) {
    const auto symbol = number_at<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
    const auto name = text_at(names, symbol.st_name);
    const bool is_needed =
        symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
    if (is_needed && name && is_plain(*name) &&
        std::ranges::any_of(begins,
                            [&](const std::string& begin) { return name->starts_with(begin); })) {
      wanted.emplace(*name);
    }
  }
  GOLDENV_TRY(std::string out, read_needs(file, tables, names));
  for (const std::string& name : wanted) {
    out += "s " + name + "\n";
  }
  return out;
}

Result<std::string> read_not_defined(int fd, std::string_view path,
                                     const std::vector<std::string>& symbols) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  GOLDENV_TRY(const Tables tables, tables_of(file));
  GOLDENV_TRY(const GnuHash table, GnuHash::open(file, tables));
  std::string out;
  for (const std::string& name : symbols) {
    if (name.size() >= kNameLimit) {
      continue;
    }
    GOLDENV_TRY(const bool is_there, table.defines(name));
    out += is_there ? "" : name + "\n";
  }
  return out;
}

Result<Demands> demands(const host::Host& host, std::string_view path,
                        const std::vector<std::string>& begins) {
  GOLDENV_TRY(const std::string text, host.ask(path, question("demands 1", begins), [&](int fd) {
    return read_demands(fd, path, begins);
  }));
  Demands found;
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line);
    if (parts.size() == 2 && parts[0] == "s") {
      found.symbols.emplace_back(parts[1]);
    } else if (parts.size() == 3 && parts[0] == "v") {
      found.versions.emplace_back(parts[1], parts[2]);
    }
  }
  std::ranges::sort(found.symbols);
  std::ranges::sort(found.versions);
  return found;
}

Result<std::vector<std::string>> not_defined(const host::Host& host, std::string_view path,
                                             const std::vector<std::string>& symbols,
                                             host::Memory* memory) {
  const std::string asked = question("not defined 1", symbols);
  const auto learn = [&] {
    return host.ask(path, asked, [&](int fd) { return read_not_defined(fd, path, symbols); });
  };
  GOLDENV_TRY(const std::string text,
              memory != nullptr ? memory->recall(host, path, asked, learn) : learn());
  std::vector<std::string> missing;
  for (const std::string_view line : lines(text)) {
    missing.emplace_back(line);
  }
  std::ranges::sort(missing);
  return missing;
}

}  // namespace goldenv::elf
