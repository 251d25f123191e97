#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace goldenv::test {

/// A little-endian number.
inline std::string number_bytes(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) {
    bytes += i < 8 ? static_cast<char>(value >> (8 * i)) : '\0';
  }
  return bytes;
}

/// A kernel module: an ELF file of a .modinfo and nothing else. `modinfo`: "a=b\0c=d\0".
inline std::string kernel_module(std::string_view modinfo) {
  constexpr std::string_view kNames("\0.modinfo\0.shstrtab\0", 20);
  const std::size_t names = sizeof(Elf64_Ehdr) + modinfo.size();
  const std::size_t sections = (names + kNames.size() + 7) / 8 * 8;
  const auto section = [](std::uint64_t name, std::uint64_t type, std::uint64_t offset,
                          std::uint64_t size) {
    return number_bytes(name, 4) + number_bytes(type, 4) + number_bytes(0, 16) +
           number_bytes(offset, 8) + number_bytes(size, 8) + number_bytes(0, 8) +
           number_bytes(1, 8) + number_bytes(0, 8);
  };
  std::string bytes(ELFMAG);
  bytes += static_cast<char>(ELFCLASS64);
  bytes += static_cast<char>(ELFDATA2LSB);
  bytes += static_cast<char>(EV_CURRENT);
  bytes.resize(16);
  bytes += number_bytes(ET_REL, 2) + number_bytes(EM_X86_64, 2) + number_bytes(EV_CURRENT, 4) +
           number_bytes(0, 16) + number_bytes(sections, 8) + number_bytes(0, 4) +
           number_bytes(64, 2) + number_bytes(0, 4) + number_bytes(64, 2) + number_bytes(3, 2) +
           number_bytes(2, 2);
  bytes += modinfo;
  bytes += kNames;
  bytes.resize(sections);
  bytes += std::string(64, '\0');
  bytes += section(1, SHT_PROGBITS, sizeof(Elf64_Ehdr), modinfo.size());
  bytes += section(10, SHT_STRTAB, names, kNames.size());
  return bytes;
}

/// One element of DER.
inline std::string der(int tag, const std::string& content) {
  std::string bytes(1, static_cast<char>(tag));
  if (content.size() < 0x80) {
    bytes += static_cast<char>(content.size());
  } else {
    bytes += '\x82';
    bytes += static_cast<char>(content.size() >> 8);
    bytes += static_cast<char>(content.size());
  }
  return bytes + content;
}

/// X.500 name of an organization and a common name.
inline std::string issuer_name(std::string_view common_name) {
  const auto attribute = [](std::string type, std::string_view value) {
    return der(0x31, der(0x30, der(0x06, type) + der(0x0c, std::string(value))));
  };
  return der(0x30,
             attribute("\x55\x04\x0a", "An organization") + attribute("\x55\x04\x03", common_name));
}

/// A PKCS#7 signedData as sign-file of the kernel makes it; `sid` names its signer.
inline std::string pkcs7(const std::string& sid, const std::string& certificates = "") {
  const std::string number = der(0x02, "\x01");
  const std::string sha256 = der(0x30, der(0x06, "\x60\x86\x48\x01\x65\x03\x04\x02\x01"));
  const std::string signer =
      der(0x30, number + sid + sha256 + sha256 + der(0x04, std::string(256, 's')));
  const std::string data =
      der(0x30, number + der(0x31, sha256) +
                    der(0x30, der(0x06, "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01")) + certificates +
                    der(0x31, signer));
  return der(0x30, der(0x06, "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02") + der(0xa0, data));
}

inline std::string pkcs7_of(std::string_view common_name) {
  return pkcs7(der(0x30, issuer_name(common_name) + der(0x02, "\x2a")));
}

/// What stands behind a signed module.
inline std::string appended(const std::string& signature, int id_type = 2) {
  std::string info(12, '\0');
  info[2] = static_cast<char>(id_type);
  info[10] = static_cast<char>(signature.size() >> 8);
  info[11] = static_cast<char>(signature.size());
  return signature + info + "~Module signature appended~\n";
}

}  // namespace goldenv::test
