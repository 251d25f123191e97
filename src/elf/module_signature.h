#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::elf {

/// What stands behind a signed kernel module: the signature, 12 bytes about it, and the words
/// "~Module signature appended~\n". Nothing is verified: only the kernel knows which keys it
/// trusts.
struct ModuleSignature {
  bool is_signed = false;
  /// Common name of who issued the key, as modinfo(8)'s `signer`; "" where the signature does not
  /// say it (it may name the key by a number) or is damaged.
  std::string signer;
  friend bool operator==(const ModuleSignature&, const ModuleSignature&) = default;
};

/// From the last bytes of a file, at most 64 KiB of them. Source: the kernel's
/// linux/module_signature.h and scripts/sign-file.c.
ModuleSignature parse_module_signature(std::string_view tail);

/// The common name (2.5.4.3) in the issuer of the first signer of a DER-encoded PKCS#7 signedData;
/// "" where there is none. Source: RFC 5652, X.690.
std::string signer_of_pkcs7(std::string_view der);

/// Of an open file that is not compressed. Errors: unreadable.
Result<ModuleSignature> read_module_signature(int fd, std::string_view path);

}  // namespace goldenv::elf
