#include <array>

#include "launch/variables.h"

namespace goldenv::launch {
namespace {

constexpr std::string_view kOtherPython = "names modules that are not the environment's";
constexpr std::string_view kOtherVenv = "is of another environment";
constexpr std::string_view kOtherToolkit = "names another CUDA toolkit than the environment's";
constexpr std::string_view kBuild = "has compilers look into other folders";
constexpr std::string_view kThreads = "changes how many threads compute, and where";
constexpr std::string_view kNetwork = "changes how data travels between processes";
constexpr std::string_view kTorch = "changes what torch does";

// Sources: ld.so(8), "Command line and environment" of Python's documents, CMake's FindCUDAToolkit,
// torch/utils/cpp_extension.py, "Environment Variables Controlling GCC".
constexpr auto kRules = std::to_array<Rule>({
    {"PATH", Action::put_first, When::always, "",
     "begins with the environment's bin; the folders of another virtual, conda or goldenv "
     "environment are taken out"},
    {"VIRTUAL_ENV", Action::set, When::with_python, "${prefix}",
     "says to pip, uv and editors where they are"},
    {"VIRTUAL_ENV", Action::drop, When::always, "", kOtherVenv},
    {"VIRTUAL_ENV_PROMPT", Action::set, When::with_python, "${name}",
     "is the name in the prompts of tools"},
    {"VIRTUAL_ENV_PROMPT", Action::drop, When::always, "", kOtherVenv},
    {"PYTHONDONTWRITEBYTECODE", Action::set, When::always, "1",
     "keeps Python from writing into the store; its modules are compiled already"},
    {"PYTHONNOUSERSITE", Action::set, When::always, "1",
     "keeps packages in ~/.local from being imported"},
    {"CUDA_HOME", Action::set, When::with_toolkit, "${prefix}",
     "is where torch and build scripts look for nvcc"},
    {"CUDA_HOME", Action::warn, When::always, "", "names a CUDA toolkit; the environment has none"},
    {"CUDA_PATH", Action::set, When::with_toolkit, "${prefix}", "is another name of CUDA_HOME"},
    {"CUDA_PATH", Action::warn, When::always, "", "names a CUDA toolkit; the environment has none"},
    {"CUDAToolkit_ROOT", Action::drop, When::with_toolkit, "", kOtherToolkit},
    {"CUDA_ROOT", Action::drop, When::with_toolkit, "", kOtherToolkit},
    {"CUDA_TOOLKIT_ROOT_DIR", Action::drop, When::with_toolkit, "", kOtherToolkit},
    {"CUDA_BIN_PATH", Action::drop, When::with_toolkit, "", kOtherToolkit},
    {"CUDACXX", Action::drop, When::with_toolkit, "", kOtherToolkit},

    {"LD_LIBRARY_PATH", Action::drop, When::always, "",
     "puts other libraries before those that the environment's look for by name"},
    {"LD_PRELOAD", Action::drop, When::always, "",
     "loads a library before all others, and wins over one of the same name"},
    {"LD_AUDIT", Action::drop, When::always, "", "can lead the loader to other libraries"},
    {"LD_ORIGIN_PATH", Action::drop, When::always, "", "can lead the loader to other libraries"},
    {"PYTHONPATH", Action::drop, When::always, "", "puts other modules before the environment's"},
    {"PYTHONHOME", Action::drop, When::always, "", "puts another standard library in its place"},
    {"PYTHONPLATLIBDIR", Action::drop, When::always, "",
     "puts another standard library in its place"},
    {"PYTHONUSERBASE", Action::drop, When::always, "", kOtherPython},
    {"PYTHONSTARTUP", Action::drop, When::always, "",
     "runs a file of the user's before the first prompt"},
    {"PYTHONPYCACHEPREFIX", Action::drop, When::always, "",
     "passes over the modules that are compiled already"},
    {"PYTHONEXECUTABLE", Action::drop, When::always, "", "names another Python"},
    {"__PYVENV_LAUNCHER__", Action::drop, When::always, "", "names another Python"},
    {"CONDA_PREFIX", Action::drop, When::always, "", kOtherVenv},
    {"CONDA_PREFIX_*", Action::drop, When::always, "", kOtherVenv},
    {"CONDA_DEFAULT_ENV", Action::drop, When::always, "", kOtherVenv},
    {"CONDA_PROMPT_MODIFIER", Action::drop, When::always, "", kOtherVenv},
    {"CONDA_SHLVL", Action::drop, When::always, "", kOtherVenv},

    {"ACCELERATE_*", Action::warn, When::always, "", "changes what accelerate does"},
    {"BASH_ENV", Action::warn, When::always, "",
     "is run first by every bash script, and may set again what was dropped"},
    {"CMAKE_PREFIX_PATH", Action::warn, When::always, "", kBuild},
    {"CPATH", Action::warn, When::always, "", kBuild},
    {"CPLUS_INCLUDE_PATH", Action::warn, When::always, "", kBuild},
    {"C_INCLUDE_PATH", Action::warn, When::always, "", kBuild},
    {"CUBLAS_*", Action::warn, When::always, "", "changes what cuBLAS does"},
    {"CUDA_*", Action::warn, When::always, "", "changes what CUDA does, or which GPUs it sees"},
    {"CUDNN_*", Action::warn, When::always, "",
     "changes what cuDNN does, or which one is built with"},
    {"FI_*", Action::warn, When::always, "", kNetwork},
    {"GLIBC_TUNABLES", Action::warn, When::always, "",
     "changes what glibc does, and which of a library's builds it loads"},
    {"GOMP_*", Action::warn, When::always, "", kThreads},
    {"KMP_*", Action::warn, When::always, "", kThreads},
    {"LD_*", Action::warn, When::always, "", "changes what the loader does"},
    {"LIBRARY_PATH", Action::warn, When::always, "", kBuild},
    {"MALLOC_*", Action::warn, When::always, "", "changes how memory is allocated"},
    {"MKL_*", Action::warn, When::always, "", kThreads},
    {"NCCL_*", Action::warn, When::always, "",
     "changes what NCCL does; some of these load libraries"},
    {"NVCC_*", Action::warn, When::always, "", "changes how nvcc compiles"},
    {"NVIDIA_*", Action::warn, When::always, "", "changes what containers and CUDA see of GPUs"},
    {"OMPI_*", Action::warn, When::always, "", kNetwork},
    {"OMP_*", Action::warn, When::always, "", kThreads},
    {"OPENBLAS_*", Action::warn, When::always, "", kThreads},
    {"PKG_CONFIG_PATH", Action::warn, When::always, "", kBuild},
    {"PYTHONHASHSEED", Action::warn, When::always, "", "changes the order of Python's sets"},
    {"PYTHONOPTIMIZE", Action::warn, When::always, "", "has Python leave out its assertions"},
    {"PYTORCH_*", Action::warn, When::always, "", kTorch},
    {"TORCHINDUCTOR_*", Action::warn, When::always, "", kTorch},
    {"TORCH_*", Action::warn, When::always, "", kTorch},
    {"TRITON_*", Action::warn, When::always, "",
     "changes what triton does, and which ptxas and libcuda it takes"},
    {"UCX_*", Action::warn, When::always, "", kNetwork},
    {"XLA_*", Action::warn, When::always, "", "changes what XLA does"},
});

constexpr auto kCleanNames =
    std::to_array<std::string_view>({"HOME", "LANG", "LANGUAGE", "LC_*", "LOGNAME", "PWD", "SHELL",
                                     "TERM", "TMPDIR", "TZ", "USER"});

std::string_view action_words(Action action) {
  switch (action) {
    case Action::put_first:
    case Action::set:
      return "set";
    case Action::drop:
      return "dropped";
    case Action::warn:
      return "warned of";
  }
  return "";
}

std::string_view when_words(When when) {
  switch (when) {
    case When::always:
      return "";
    case When::with_python:
      return ", if it has a Python";
    case When::with_toolkit:
      return ", if it has a CUDA toolkit";
  }
  return "";
}

std::string in_markdown(std::string_view name) {
  std::string text;
  for (const char c : name) {
    text += c == '*' ? "\\*" : std::string(1, c);
  }
  return text;
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::span<const std::string_view> clean_names() { return kCleanNames; }

std::string rules_markdown() {
  std::string text = "| variable | is | because it |\n| --- | --- | --- |\n";
  for (const Rule& rule : kRules) {
    text += "| " + in_markdown(rule.name) + " | " + std::string(action_words(rule.action));
    if (!rule.value.empty()) {
      text += " to `" + std::string(rule.value) + "`";
    }
    text += std::string(when_words(rule.when)) + " | " + std::string(rule.reason) + " |\n";
  }
  text += "\n`--clean-env` leaves of the caller's variables only";
  std::string_view between = " ";
  for (const std::string_view name : kCleanNames) {
    text += std::string(between) + in_markdown(name);
    between = ", ";
  }
  return text + ".\n";
}

}  // namespace goldenv::launch
