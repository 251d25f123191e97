#include "facts/variable_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace goldenv::facts {
namespace {

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

template <std::size_t N>
bool any_equals(const std::array<std::string_view, N>& candidates, std::string_view word) {
  return std::ranges::find(candidates, word) != candidates.end();
}

/// One lower-case word of a name.
bool is_secret_word(std::string_view word) {
  // Wherever they stand: people write GITHUBTOKEN and mysecretkey in one word.
  constexpr auto kAnywhere = std::to_array<std::string_view>(
      {"token", "secret", "passw", "passphrase", "passcode", "credential", "jwt", "cookie"});
  constexpr auto kWhole = std::to_array<std::string_view>(
      {"pass", "passfile", "passkey", "pw", "keys", "cred", "creds", "oauth2", "authorization",
       "private", "signature", "session", "sessionid"});
  constexpr auto kEndings = std::to_array<std::string_view>(
      {"key", "pwd", "auth", "pass", "cred", "privatekey", "psk", "rootpw", "userpw", "bindpw",
       "adminpw", "dbpw", "sshpw", "vncpw"});
  // Ends like a secret and is none. A PKEY is the index of an InfiniBand partition.
  constexpr auto kHarmless = std::to_array<std::string_view>(
      {"pkey", "bypass", "compass", "trespass", "hotkey", "monkey", "turkey", "noauth", "oldpwd"});
  if (any_equals(kHarmless, word) || word.starts_with("tokeniz")) {
    return false;
  }
  return any_equals(kWhole, word) ||
         std::ranges::any_of(
             kAnywhere,
             [&](std::string_view part) { return word.find(part) != std::string_view::npos; }) ||
         std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return word.ends_with(ending); });
}

/// A name that ends in '_' stands for all that begin so.
constexpr auto kVariables = std::to_array<std::string_view>({
    "ACCELERATE_",
    "CONDA_PREFIX",
    "CUBLAS_",
    "CUDA_",
    "CUDNN_",
    "FI_",
    "GLIBC_TUNABLES",
    "GOMP_",
    "HF_",
    "KMP_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_",
    "MKL_",
    "NCCL_",
    "NVIDIA_",
    "OMPI_",
    "OMP_",
    "OPENBLAS_",
    "PATH",
    "PYTHONHASHSEED",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "PYTORCH_",
    "SLURM_",
    "TMPDIR",
    "TORCHINDUCTOR_",
    "TORCH_",
    "TRANSFORMERS_",
    "TRITON_",
    "UCX_",
    "VIRTUAL_ENV",
    "XLA_",
});

}  // namespace

bool is_secret_name(std::string_view name) {
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool more = i < name.size() && is_alnum(name[i]);
    const bool upper = more && name[i] >= 'A' && name[i] <= 'Z';
    const bool hump = upper && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (!more || hump) {
      if (is_secret_word(word)) {
        return true;
      }
      word.clear();
    }
    if (more) {
      word += upper ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
  }
  return false;
}

bool is_listed_variable(std::string_view name) {
  return std::ranges::any_of(kVariables,
                             [&](std::string_view listed) {
                               return listed.ends_with('_') ? name.starts_with(listed)
                                                            : name == listed;
                             }) &&
         !is_secret_name(name);
}

}  // namespace goldenv::facts
