#pragma once

#include <array>
#include <string_view>

// The words of a recipe, which its reader and its schema share; other rooms include
// recipe/recipe.h.
namespace goldenv::recipe {

inline constexpr std::array<std::string_view, 13> kKeys = {
    "goldenv_recipe", "component", "about",    "also",  "versions", "hosts", "sources",
    "cannot",         "provides",  "requires", "place", "unfold",   "needs"};
inline constexpr std::array<std::string_view, 5> kProvides = {"libraries", "binaries", "include",
                                                              "site_packages", "environment"};
inline constexpr std::array<std::string_view, 2> kRequires = {"component", "want"};
inline constexpr std::array<std::string_view, 2> kPlaces = {"link", "copy"};
inline constexpr std::array<std::string_view, 3> kNeeds = {"root", "module-reload", "reboot"};
inline constexpr std::array<std::string_view, 6> kKinds = {"wheel",   "redist", "deb",
                                                           "archive", "git",    "installed"};
inline constexpr std::array<std::string_view, 6> kLayouts = {"bin",   "lib",  "include",
                                                             "share", "site", "data"};

/// Variables that decide which program, library or module is taken, which goldenv does itself
/// (docs/ENVIRONMENT.md): no recipe sets them. A final '*' stands for any rest.
inline constexpr std::array<std::string_view, 20> kOwnVariables = {"PATH",
                                                                   "VIRTUAL_ENV",
                                                                   "VIRTUAL_ENV_PROMPT",
                                                                   "LD_LIBRARY_PATH",
                                                                   "LD_PRELOAD",
                                                                   "LD_AUDIT",
                                                                   "LD_ORIGIN_PATH",
                                                                   "PYTHONPATH",
                                                                   "PYTHONHOME",
                                                                   "PYTHONPLATLIBDIR",
                                                                   "PYTHONUSERBASE",
                                                                   "PYTHONSTARTUP",
                                                                   "PYTHONPYCACHEPREFIX",
                                                                   "PYTHONEXECUTABLE",
                                                                   "__PYVENV_LAUNCHER__",
                                                                   "CONDA_PREFIX",
                                                                   "CONDA_PREFIX_*",
                                                                   "CONDA_DEFAULT_ENV",
                                                                   "CONDA_PROMPT_MODIFIER",
                                                                   "CONDA_SHLVL"};

/// Of each kind the keys beside its own and `when`.
inline constexpr std::array<std::string_view, 1> kWheelKeys = {"version"};
inline constexpr std::array<std::string_view, 4> kRedistKeys = {"index", "variant", "strip",
                                                                "layout"};
inline constexpr std::array<std::string_view, 3> kDebKeys = {"version", "url", "sha256"};
inline constexpr std::array<std::string_view, 3> kArchiveKeys = {"sha256", "strip", "layout"};
inline constexpr std::array<std::string_view, 3> kGitKeys = {"commit", "build", "layout"};

}  // namespace goldenv::recipe
