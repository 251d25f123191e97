#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The texts that Python installations leave behind, as pure functions: names of folders and files,
/// and the few small formats. None trusts its input; what is none of its kind gives nothing.
namespace goldenv::probe {

/// "3.11" of "python3.11", "3.13t" of "python3.13t"; none for every other name.
std::optional<std::string> python_series(std::string_view folder_name);

/// Whether a text is a whole Python release: "3.11.7", "3.13.0rc2".
bool is_python_release(std::string_view text);

/// The release that a text begins with, or "": "3.11.7" of "3.11.7.final.0" and "3.11.7+",
/// "3.12.0rc1" of Debian's "3.12.0~rc1-1".
std::string leading_python_release(std::string_view text);

/// PY_VERSION of include/pythonX.Y/patchlevel.h, without a final '+', or "".
std::string python_of_patchlevel(std::string_view header);

/// What a pyvenv.cfg says. Format: `key = value` lines, keys in either case (PEP 405, site.py).
struct VenvConfig {
  std::string home;        ///< folder of the base interpreter
  std::string executable;  ///< the base interpreter, where the maker wrote it
  std::string version;     ///< "3.11.7" of `version` or `version_info`: of the time of creation
  bool system_site = false;
  std::string maker;  ///< "uv 0.5.1", "virtualenv 20.24.1", else ""

  friend bool operator==(const VenvConfig&, const VenvConfig&) = default;
};
VenvConfig parse_venv_config(std::string_view text);

/// The name of a package as PEP 503 compares it: lower case, each run of -_. one '-'. None where it
/// is no name at all (empty, other characters, a separator at either end).
std::optional<std::string> package_name(std::string_view written);

/// What the name of a folder or file in a site folder says.
struct DistributionName {
  enum class Form : std::uint8_t { dist_info, egg_info };
  Form form = Form::dist_info;
  std::string name;     ///< after PEP 503; "" where only the metadata can tell
  std::string version;  ///< "" likewise
  /// The metadata need not be read: one '-' between a proper name and a proper version, in which
  /// nothing was replaced by '_'.
  bool certain = false;

  friend bool operator==(const DistributionName&, const DistributionName&) = default;
};

/// `Name-version.dist-info` (PEP 376, 427) or `Name-version[-pyX.Y].egg-info`; none for other
/// entries, left-overs ("~ame-1.0.dist-info") included.
std::optional<DistributionName> parse_distribution_name(std::string_view entry);

/// The header lines of METADATA or PKG-INFO that are wanted. Format: RFC 822, up to the first empty
/// line, continuation lines passed over.
struct CoreMetadata {
  std::string name;
  std::string version;
  std::vector<std::string> requires_dist;  ///< as written, in order
};
CoreMetadata parse_core_metadata(std::string_view text);

/// The exact version that a Requires-Dist line asks of a package whose name after PEP 503 is
/// `prefix` or `prefix-cuNN`, where its marker holds on Linux on `machine` ("x86_64"). Both forms:
/// `nvidia-nccl-cu12==2.19.3; platform_system == "Linux" and platform_machine == "x86_64"`,
/// `nvidia-nccl-cu12 (==2.19.3) ; ...`. None for ranges, wildcards, extras and markers with `or`.
std::optional<std::string> pinned_version(std::string_view requirement, std::string_view prefix,
                                          std::string_view machine);

/// One assignment in a Python file of plain assignments.
struct Assignment {
  std::string text;   ///< of a string literal; "" for None
  bool none = false;  ///< None was assigned
  std::uint32_t line = 0;
};

/// torch/version.py. Lines `__version__ = '2.1.2+cu121'`, `cuda: Optional[str] = '12.1'` (without
/// the annotation before 1.9), `git_version = '..'`, `hip: Optional[str] = None`, from 2.7 also
/// `rocm`. Source: pytorch tools/generate_torch_version.py.
struct TorchVersion {
  std::optional<Assignment> version;
  std::optional<Assignment> cuda;
  std::optional<Assignment> hip;
  std::optional<Assignment> git;
};
TorchVersion parse_torch_version(std::string_view text);

/// Name, version and build of a conda package from the name of its file in conda-meta, read from
/// the right since names hold dashes: "nccl-2.19.3-h0d2c0ab_0.json". None for other files.
struct CondaName {
  std::string name;
  std::string version;
  std::string build;
  friend bool operator==(const CondaName&, const CondaName&) = default;
};
std::optional<CondaName> parse_conda_name(std::string_view file_name);

/// What direct_url.json (PEP 610) says of where a package was installed from, without the address,
/// which may hold a private host or a token.
struct DirectUrl {
  bool editable = false;
  bool archive = false;
  std::string vcs;     ///< "git"
  std::string commit;  ///< its commit_id
  std::string sha256;  ///< of the archive: 64 lower-case hexadecimal digits
  friend bool operator==(const DirectUrl&, const DirectUrl&) = default;
};
/// None where the text is no JSON or its vcs and commit are no plain words.
std::optional<DirectUrl> parse_direct_url(std::string_view json);

}  // namespace goldenv::probe
