#include "elf/module_signature.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace goldenv::elf {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "~Module signature appended~\n";
constexpr std::size_t kInfoBytes = 12;
constexpr std::size_t kTailBytes = 64u << 10;
constexpr std::size_t kNameLimitBytes = 256;
constexpr std::uint8_t kPkcs7 = 2;  // PKEY_ID_PKCS7
constexpr std::uint8_t kX509 =
    1;  // PKEY_ID_X509, kernels before 4.3: the name stands there as text

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

/// One element of DER.
struct Element {
  std::uint8_t tag = 0;
  std::string_view content;
};

constexpr std::uint8_t kInteger = 0x02;
constexpr std::uint8_t kObject = 0x06;
constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t kSet = 0x31;
constexpr std::uint8_t kContext0 = 0xa0;
constexpr std::uint8_t kContext1 = 0xa1;

/// Takes the element that stands first in `bytes`; none where it is damaged or of indefinite
/// length, which DER does not have.
std::optional<Element> take(std::string_view& bytes) {
  if (bytes.size() < 2 || (byte_at(bytes, 0) & 0x1fu) == 0x1f) {
    return {};
  }
  std::size_t length = byte_at(bytes, 1);
  std::size_t header = 2;
  if (length >= 0x80) {
    const std::size_t count = length & 0x7fu;
    if (count == 0 || count > 4 || bytes.size() < 2 + count) {
      return {};
    }
    length = 0;
    for (std::size_t i = 0; i < count; ++i) {
      length = length << 8 | byte_at(bytes, 2 + i);
    }
    header += count;
  }
  if (length > bytes.size() - header) {
    return {};
  }
  const Element element{byte_at(bytes, 0), bytes.substr(header, length)};
  bytes.remove_prefix(header + length);
  return element;
}

/// The content of the first element, if it has that tag.
std::optional<std::string_view> take(std::string_view& bytes, std::uint8_t tag) {
  const auto element = take(bytes);
  return element && element->tag == tag ? std::optional(element->content) : std::nullopt;
}

bool is_text(const Element& element) {
  // UTF8String, PrintableString, TeletexString, IA5String.
  constexpr auto kTexts = std::to_array<std::uint8_t>({0x0c, 0x13, 0x14, 0x16});
  return std::ranges::find(kTexts, element.tag) != kTexts.end() && !element.content.empty() &&
         element.content.size() <= kNameLimitBytes && is_utf8(element.content) &&
         std::ranges::none_of(element.content,
                              [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

/// Name ::= SEQUENCE OF SET OF SEQUENCE { type, value }
std::string common_name(std::string_view name) {
  constexpr std::string_view kCommonName = "\x55\x04\x03"sv;
  while (!name.empty()) {
    auto set = take(name, kSet);
    if (!set) {
      return {};
    }
    while (!set->empty()) {
      auto attribute = take(*set, kSequence);
      const auto type = attribute ? take(*attribute, kObject) : std::nullopt;
      const auto value = type ? take(*attribute) : std::nullopt;
      if (!value) {
        return {};
      }
      if (*type == kCommonName) {
        return is_text(*value) ? std::string(value->content) : std::string();
      }
    }
  }
  return {};
}

}  // namespace

std::string signer_of_pkcs7(std::string_view der) {
  constexpr std::string_view kSignedData = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"sv;
  auto info = take(der, kSequence);
  if (!info || take(*info, kObject) != kSignedData) {
    return {};
  }
  auto wrapped = take(*info, kContext0);
  auto data = wrapped ? take(*wrapped, kSequence) : std::nullopt;
  if (!data || !take(*data, kInteger) || !take(*data, kSet) || !take(*data, kSequence)) {
    return {};
  }
  // Certificates and revocation lists may stand before the signers.
  auto element = take(*data);
  while (element && (element->tag == kContext0 || element->tag == kContext1)) {
    element = take(*data);
  }
  if (!element || element->tag != kSet) {
    return {};
  }
  auto signer = take(element->content, kSequence);
  if (!signer || !take(*signer, kInteger)) {
    return {};
  }
  auto issuer_and_serial = take(*signer, kSequence);  // else a key identifier, [0]
  const auto issuer = issuer_and_serial ? take(*issuer_and_serial, kSequence) : std::nullopt;
  return issuer ? common_name(*issuer) : std::string();
}

ModuleSignature parse_module_signature(std::string_view tail) {
  ModuleSignature signature;
  if (!tail.ends_with(kMagic)) {
    return signature;
  }
  signature.is_signed = true;
  tail.remove_suffix(kMagic.size());
  if (tail.size() < kInfoBytes) {
    return signature;
  }
  // u8 algo, hash, id_type, signer_len, key_id_len, pad[3]; __be32 sig_len
  const std::string_view info = tail.substr(tail.size() - kInfoBytes);
  tail.remove_suffix(kInfoBytes);
  std::size_t length = 0;
  for (std::size_t i = 8; i < kInfoBytes; ++i) {
    length = length << 8 | byte_at(info, i);
  }
  if (length > tail.size()) {
    return signature;
  }
  const std::string_view bytes = tail.substr(tail.size() - length);
  tail.remove_suffix(length);
  if (byte_at(info, 2) == kPkcs7) {
    signature.signer = signer_of_pkcs7(bytes);
  } else if (byte_at(info, 2) == kX509) {
    const std::size_t signer = byte_at(info, 3);
    const std::size_t key = byte_at(info, 4);
    if (signer + key <= tail.size()) {
      const Element name{0x0c, tail.substr(tail.size() - signer - key, signer)};
      signature.signer = is_text(name) ? std::string(name.content) : std::string();
    }
  }
  return signature;
}

Result<ModuleSignature> read_module_signature(int fd, std::string_view path) {
  const auto unreadable = [&] {
    return Error{Errc::unreadable, std::string(path) + ": " + std::strerror(errno), {}};
  };
  struct stat s;
  if (fstat(fd, &s) != 0) {
    return unreadable();
  }
  const auto size = static_cast<std::uint64_t>(s.st_size);
  std::string tail(std::min<std::uint64_t>(size, kTailBytes), '\0');
  const std::uint64_t start = size - tail.size();
  std::size_t done = 0;
  while (done < tail.size()) {
    const ssize_t got =
        pread(fd, tail.data() + done, tail.size() - done, static_cast<off_t>(start + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return unreadable();
    }
    if (got == 0) {
      break;  // it became shorter while it was read
    }
    done += static_cast<std::size_t>(got);
  }
  tail.resize(done);
  return parse_module_signature(tail);
}

}  // namespace goldenv::elf
