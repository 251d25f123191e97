#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "probe/cuda_folder.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/program_search.h"
#include "probe/python_target.h"
#include "probe/redact.h"
#include "version/version.h"

namespace goldenv::probe {
namespace {

struct FolderList {
  std::vector<std::string> paths;
  std::vector<Error> unseen;
};

/// What was asked of folders above libraries.
struct FoldersAbove {
  std::map<std::string, Result<bool>> is_toolkit;
};

/// A folder left behind with only compat libraries or logs in it is no toolkit. Errors: those of
/// the look, where nothing that could be seen decides it.
Result<bool> is_toolkit(const host::Host& host, const std::string& folder) {
  std::optional<Error> unseen;
  for (const char* name : {"/bin/nvcc", "/version.json", "/version.txt", "/include/cuda.h"}) {
    const Result<bool> there = is_there(host, folder + name);
    if (there && *there) {
      return true;
    }
    if (!there) {
      unseen = there.error();
    }
  }
  return unseen ? Result<bool>(*std::move(unseen)) : Result<bool>(false);
}

void leave_open(CudaChoice& choice, const Error& error) {
  choice.otherwise = facts::Unknown::from(error);
  choice.error = error;
}

std::string real_or_same(const host::Host& host, const std::string& path) {
  return host.real_path(path).value_or(path);
}

/// The toolkit's folder of an nvcc that was found on PATH.
Result<std::string> home_of(const host::Host& host, const Program& nvcc) {
  // nvcc looks for its parts from the folder of the path that it was called by, links not followed.
  GOLDENV_TRY(const bool is_home,
              is_there(host, std::string(folder_of(nvcc.path)) + "/nvcc.profile"));
  std::string program = nvcc.path;
  if (!is_home) {
    GOLDENV_TRY(program, behind_wrapper(host, nvcc.real_path));
  }
  const std::string folder = real_or_same(host, std::string(folder_of(folder_of(program))));
  if (folder != "/usr/lib/nvidia-cuda-toolkit") {
    return folder;
  }
  // Debian's tree of links, laid out as builds expect it.
  GOLDENV_TRY(const bool has_links, is_there(host, "/usr/lib/cuda"));
  return has_links ? std::string("/usr/lib/cuda") : folder;
}

CudaChoice choose(Survey& survey) {
  const host::Host& host = survey.host();
  CudaChoice choice;
  if (const auto known = variables_known(host); !known) {
    leave_open(choice, known.error());
    return choice;
  }
  for (const std::string_view name : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto value = host.variable(name);
    if (!value && value.error().code != Errc::absent) {
      choice.notes.emplace_back(std::string(name) + " is not recorded: taken as not set");
    }
    if (!value || value->empty()) {
      continue;
    }
    choice.why = name;
    const auto real = host.real_path(*value);
    if (real) {
      choice.path = *real;
      choice.notes.push_back(std::string(name) + "=" + redact(survey.tilde(*value)));
    } else {
      leave_open(choice, real.error());
      if (real.error().code == Errc::absent) {
        choice.error.reset();
        choice.otherwise = facts::Absent{std::string(name) + " is " + redact(survey.tilde(*value)) +
                                         ", which is not there"};
      }
    }
    return choice;
  }
  const auto nvcc = find_program(survey, "nvcc");
  if (nvcc) {
    choice.why = "nvcc on PATH";
    for (const std::string& hop : nvcc->hops) {
      choice.notes.push_back(survey.tilde(hop));
    }
    const auto home = home_of(host, *nvcc);
    if (home) {
      choice.path = *home;
    } else {
      leave_open(choice, home.error());
    }
    return choice;
  }
  if (nvcc.error().code != Errc::absent) {
    leave_open(choice, nvcc.error());
    return choice;
  }
  const auto usual = host.real_path("/usr/local/cuda");
  if (usual) {
    choice.why = "/usr/local/cuda";
    choice.path = *usual;
  } else {
    leave_open(choice, usual.error());
    if (usual.error().code == Errc::absent) {
      choice.error.reset();
      choice.otherwise = facts::Absent{"no CUDA_HOME, no nvcc on PATH, no /usr/local/cuda"};
    }
  }
  return choice;
}

FolderList list_folders(Survey& survey) {
  const host::Host& host = survey.host();
  std::set<std::string> found;
  std::vector<Error> unseen;
  const auto note = [&](const Error& error) {
    if (error.code != Errc::absent) {
      unseen.push_back(error);
    }
  };
  const auto consider = [&](const std::string& path) {
    const auto real = host.real_path(path);
    if (!real) {
      note(real.error());
      return;
    }
    const auto is_one = is_toolkit(host, *real);
    if (!is_one) {
      note(is_one.error());
    } else if (*is_one) {
      found.insert(*real);
    }
  };
  const auto folders_in = [&](const std::string& folder) {
    auto entries = host.list(folder);
    if (!entries) {
      note(entries.error());
      return std::vector<host::DirEntry>{};
    }
    std::erase_if(*entries, [](const host::DirEntry& entry) {
      return entry.kind == host::FileStatus::Kind::file;
    });
    return *std::move(entries);
  };
  const auto consider_each = [&](const std::string& folder, const auto& takes) {
    for (const host::DirEntry& entry : folders_in(folder)) {
      if (takes(entry.name)) {
        consider(folder + "/" + entry.name);
      }
    }
  };
  const auto is_cuda = [](std::string_view name) {
    return name == "cuda" || name.starts_with("cuda-");
  };
  consider_each("/usr/local", is_cuda);
  consider_each("/opt", is_cuda);
  consider("/usr/lib/cuda");
  if (!found.contains("/usr/lib/cuda")) {
    consider("/usr/lib/nvidia-cuda-toolkit");
  }
  const std::string sdk = "/opt/nvidia/hpc_sdk";  // <sdk>/Linux_x86_64/24.5/cuda/12.4
  for (const host::DirEntry& platform : folders_in(sdk)) {
    const std::string folder = sdk + "/" + platform.name;
    for (const host::DirEntry& release : folders_in(folder)) {
      consider_each(folder + "/" + release.name + "/cuda", [](std::string_view name) {
        return version::parse(version::Scheme::dotted, name).has_value();
      });
    }
  }
  for (const Error& error : python_scene(survey).unseen) {
    note(error);
  }
  for (const Python& python : python_scene(survey).pythons) {
    const auto is_conda = is_there(host, python.prefix + "/conda-meta");
    const auto has_nvcc = is_there(host, python.prefix + "/bin/nvcc");
    if (is_conda && has_nvcc) {
      if (*is_conda && *has_nvcc) {
        consider(python.prefix);
      }
    } else if (is_conda.value_or(true) && has_nvcc.value_or(true)) {
      note(is_conda ? has_nvcc.error() : is_conda.error());
    }
  }
  const CudaChoice& choice = cuda_choice(survey);
  if (choice.error) {
    note(*choice.error);
  } else if (!choice.path.empty()) {
    consider(choice.path);
  }
  return {{found.begin(), found.end()}, std::move(unseen)};
}

}  // namespace

Result<std::string> behind_wrapper(const host::Host& host, const std::string& program) {
  // Read to a limit: larger files are no scripts.
  const auto text = host.read_file(program, 64u << 10);
  if (!text && text.error().code != Errc::too_large && text.error().code != Errc::absent) {
    return text.error();
  }
  if (!text || !text->starts_with("#!")) {
    return program;
  }
  for (std::string_view word : words(*text)) {
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) {
      word.remove_prefix(1);
    }
    word = word.substr(0, word.find_first_of("\"'"));
    if (word.starts_with('/') && base_name(word).starts_with("nvcc") && word != program) {
      GOLDENV_TRY(const bool there, is_there(host, word));
      if (there) {
        return real_or_same(host, std::string(word));
      }
    }
  }
  for (const std::string_view name : {"nvcc.bin", "nvcc.real"}) {
    const std::string beside = std::string(folder_of(program)) + "/" + std::string(name);
    GOLDENV_TRY(const bool there, is_there(host, beside));
    if (there) {
      return real_or_same(host, beside);
    }
  }
  return program;
}

const CudaChoice& cuda_choice(Survey& survey) {
  return survey.shared<CudaChoice>([&] { return choose(survey); });
}

const std::vector<std::string>& cuda_folders(Survey& survey) {
  return survey.shared<FolderList>([&] { return list_folders(survey); }).paths;
}

const std::vector<Error>& unseen_cuda_folders(Survey& survey) {
  return survey.shared<FolderList>([&] { return list_folders(survey); }).unseen;
}

Result<std::string> toolkit_of(Survey& survey, std::string_view path) {
  auto& known = survey.shared<FoldersAbove>([] { return FoldersAbove(); }).is_toolkit;
  for (std::string folder(folder_of(path)); folder.size() > 1; folder = folder_of(folder)) {
    // Where nvcc is installed as /usr/bin/nvcc, not all of /usr is a toolkit.
    if (folder == "/usr" || folder == "/usr/local") {
      break;
    }
    auto at = known.find(folder);
    if (at == known.end()) {
      at = known.emplace(folder, is_toolkit(survey.host(), folder)).first;
    }
    GOLDENV_TRY(const bool is_one, at->second);
    if (is_one) {
      return folder;
    }
  }
  return std::string();
}

}  // namespace goldenv::probe
