#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compose/compose.h"
#include "store/made_object.h"
#include "support/library_fixture.h"
#include "support/temp_dir.h"

namespace goldenv::test {

/// A store with objects that are like the wheels of torch and its companions.
class MadeEnvironment {
 public:
  MadeEnvironment() : store(must(store::Store::open(temp.at("store"), store::Access::write))) {}

  /// A wheel nvidia-NAME with one library, found by those whose search path leads to it.
  MadeObject nvidia(const std::string& name, const std::string& version, const std::string& library,
                    const std::string& bytes) {
    MadeObject made("nvidia-" + name, version);
    const std::string folder = "site/nvidia/" + name;
    made.file("site/nvidia/__init__.py", "")
        .file(folder + "/__init__.py", "")
        .file(folder + "/lib/" + library, bytes)
        .root("site", "site-packages");
    made.object.shape.elf = {{folder + "/lib/" + library, library, {}, {}, {}, false}};
    return made;
  }

  /// torch, whose library needs those of three others by DT_RPATH.
  MadeObject torch() {
    MadeObject made("torch", "2.2.1");
    made.file("site/torch/__init__.py", "import ctypes\n")
        .file("site/torch/lib/libtorch_cuda.so", library_fixture("torch_cuda"))
        .file("site/torch/include/ATen/ATen.h", "#pragma once\n")
        .file("site/torch-2.2.1.dist-info/RECORD", "torch/__init__.py,,\n")
        .file("bin/torchrun-old", "#!python -E\nprint(1)\n", true)
        .root("site", "site-packages")
        .root("bin", "bin");
    made.object.scripts = {{"torchrun", "torch.distributed.run", "main"}};
    store::Shape& shape = made.object.shape;
    shape.real = {"site/torch/lib"};
    shape.copies = {"bin/torchrun-old"};
    shape.listing = {{"site/torch/lib", {"libtorch_cuda.so"}}};
    shape.elf = {{"site/torch/lib/libtorch_cuda.so",
                  "libtorch_cuda.so",
                  {"libcudart.so.12", "libcudnn.so.9", "libnccl.so.2"},
                  {"$ORIGIN/../../nvidia/cuda_runtime/lib", "$ORIGIN/../../nvidia/cudnn/lib",
                   "$ORIGIN/../../nvidia/nccl/lib", "$ORIGIN"},
                  {},
                  false}};
    return made;
  }

  MadeObject numpy() {
    MadeObject made("numpy", "1.26.4");
    made.file("site/numpy/__init__.py", "version = 1\n")
        .file("site/numpy/core/umath.so", "ELF")
        .file("site/numpy.libs/libopenblas.so", "ELF")
        .root("site", "site-packages");
    made.object.shape.elf = {
        {"site/numpy.libs/libopenblas.so", "libopenblas.so", {}, {}, {}, false},
        {"site/numpy/core/umath.so",
         "",
         {"libopenblas.so"},
         {"$ORIGIN/../../numpy.libs"},
         {},
         false}};
    return made;
  }

  MadeObject nccl(const std::string& version, const std::string& fixture) {
    return nvidia("nccl", version, "libnccl.so.2", library_fixture(fixture));
  }

  /// torch with all that its library needs, and numpy.
  std::vector<MadeObject> whole() {
    MadeObject cudnn = nvidia("cudnn", "9.1.0", "libcudnn.so.9", library_fixture("cudnn_9"));
    cudnn.object.shape.elf[0].runpath = {"$ORIGIN"};
    return {torch(), numpy(), nccl("2.18.1", "nccl_2_18_1"), std::move(cudnn),
            nvidia("cuda_runtime", "12.1.105", "libcudart.so.12", library_fixture("cudart_12"))};
  }

  /// Publishes what is not there yet; gives the objects as the store has them.
  std::vector<store::Object> objects(const std::vector<MadeObject>& made) {
    std::vector<store::Object> all;
    for (const MadeObject& one : made) {
      if (!store.has(one.object.key)) {
        must(one.publish(store));
      }
      all.push_back(must(store.get(one.id())));
    }
    return all;
  }

  compose::Plan plan(const std::vector<MadeObject>& made) {
    return must(compose::plan(store, objects(made), python));
  }
  Result<compose::Plan> try_plan(const std::vector<MadeObject>& made) {
    return compose::plan(store, objects(made), python);
  }
  std::string composed(const std::vector<MadeObject>& made) {
    return must(compose::compose(store, plan(made))).folder;
  }

  TempDir temp;
  store::Store store;
  compose::BasePython python{"/usr/bin/python3.11", "3.11"};
  const std::string site = "lib/python3.11/site-packages";
};

}  // namespace goldenv::test
