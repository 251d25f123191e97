// Stands for libnvidia-ml.so.1 in tests: two or three GPUs that answer as told here. One library is
// built for each value of GOLDENV_NVML; each does one thing otherwise.
#include <time.h>

#include <cstdio>
#include <cstring>

#define GOLDENV_GOOD 0        // three equal GPUs, the third with ECC off
#define GOLDENV_OLD 1         // a driver of years ago: the newer functions are not there
#define GOLDENV_MISMATCH 2    // nvidia.ko is of another version
#define GOLDENV_HANGS 3       // initialising does not come back
#define GOLDENV_HANGS_AT_1 4  // nor does a call about the second GPU
#define GOLDENV_CRASHES 5     // the library crashes at the second GPU
#define GOLDENV_GARBAGE 6     // texts without end, numbers out of range
#define GOLDENV_LOST 7        // the second GPU is lost
#define GOLDENV_WRITES 8      // writes to standard output, and what it opens is no such stream

namespace {

struct Gpu {
  unsigned index;
};
Gpu gpus[] = {{0}, {1}, {2}};

unsigned index_of(void* device) { return static_cast<Gpu*>(device)->index; }

int text(char* out, unsigned size, const char* what) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  (void)what;
  for (unsigned i = 0; i < size; ++i) {
    out[i] = i % 3 == 0 ? '\xff' : i % 3 == 1 ? '\n' : '\t';
  }
#else
  std::strncpy(out, what, size - 1);
  out[size - 1] = '\0';
#endif
  return 0;
}

[[maybe_unused]] void hang() {
  timespec while_{3600, 0};
  while (true) {
    nanosleep(&while_, nullptr);
  }
}

}  // namespace

extern "C" {

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char id[32];
};

int nvmlInit_v2() {
#if GOLDENV_NVML == GOLDENV_MISMATCH
  return 18;
#elif GOLDENV_NVML == GOLDENV_HANGS
  hang();
  return 0;
#else
#if GOLDENV_NVML == GOLDENV_WRITES
  std::puts("a message that nobody asked for");
  std::fflush(stdout);
#endif
  return 0;
#endif
}
const char* nvmlErrorString(int code) {
  return code == 18 ? "Driver/library version mismatch" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) { return text(out, size, "535.129.03"); }
int nvmlSystemGetNVMLVersion(char* out, unsigned size) { return text(out, size, "12.535.129.03"); }
int nvmlDeviceGetCount_v2(unsigned* count) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  *count = 0xffffffffu;
#else
  *count = 3;
#endif
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
#if GOLDENV_NVML == GOLDENV_LOST
  if (index == 1) {
    return 15;
  }
#endif
  if (index > 2) {
    return 2;
  }
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  pci->domain = 0;
  pci->bus = 7 + 8 * index_of(device);
  pci->device = 0;
  return 0;
}
int nvmlDeviceGetName(void* device, char* out, unsigned size) {
  return device == nullptr ? text(out, size, "NVIDIA A100-SXM4-80GB MIG 1g.10gb")
                           : text(out, size, "NVIDIA A100-SXM4-80GB");
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  char uuid[32];
  std::snprintf(uuid, sizeof uuid, "GPU-%u0c1d", index_of(device));
  return text(out, size, uuid);
}
int nvmlDeviceGetSerial(void*, char* out, unsigned size) {
  return text(out, size, "1654922006536");
}
int nvmlDeviceGetVbiosVersion(void*, char* out, unsigned size) {
  return text(out, size, "92.00.45.00.0a");
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 85899345920ull;
  return 0;
}
int nvmlDeviceGetEccMode(void* device, int* current, int* pending) {
#if GOLDENV_NVML == GOLDENV_CRASHES
  if (index_of(device) == 1) {
    __builtin_trap();
  }
#elif GOLDENV_NVML == GOLDENV_HANGS_AT_1
  if (index_of(device) == 1) {
    hang();
  }
#endif
  *current = index_of(device) == 2 ? 0 : 1;
  *pending = 1;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  *mode = 77;
#else
  *mode = 1;
#endif
  return 0;
}
int nvmlDeviceGetComputeMode(void*, unsigned* mode) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  *mode = 77;
#else
  *mode = 3;
#endif
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 31;
  return 0;
}

#if GOLDENV_NVML != GOLDENV_OLD
int nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12020;
  return 0;
}
int nvmlSystemGetConfComputeState(unsigned*) { return 3; }
int nvmlDeviceGetInforomImageVersion(void*, char* out, unsigned size) {
  return text(out, size, "G506.0200.00.04");
}
int nvmlDeviceGetBoardPartNumber(void*, char* out, unsigned size) {
  return text(out, size, "692-2G506-0202-002");
}
int nvmlDeviceGetArchitecture(void*, unsigned* arch) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  *arch = 0xffffffffu;
#else
  *arch = 7;
#endif
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 8;
  *minor = 0;
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  *count = type == 1 && counter == 0 ? index_of(device) : 1000;
  return 0;
}
int nvmlDeviceGetRemappedRows(void*, unsigned* good, unsigned* bad, unsigned* pending,
                              unsigned* failed) {
  *good = 1;
  *bad = 2;
  *pending = *failed = 0;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* limit) {
  *limit = 400000;
  return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = index_of(device) == 2 ? 1 : 0;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  *count = 0xffffffffu;
#else
  *count = 7;
#endif
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** part) {
  if (index > 1) {
    return 6;
  }
  *part = nullptr;
  return 0;
}
int nvmlDeviceGetApplicationsClock(void*, int type, unsigned* clock) {
  *clock = type == 2 ? 1593 : 1410;
  return 0;
}
struct Addressing {
  unsigned version, value;
};
int nvmlDeviceGetAddressingMode(void*, Addressing* mode) {
  mode->value = 1;
  return mode->version == 0x01000008u ? 0 : 25;
}
int nvmlDeviceGetGpuFabricInfo(void*, unsigned char* info) {
#if GOLDENV_NVML == GOLDENV_GARBAGE
  info[24] = 200;
#else
  info[24] = 3;
#endif
  return 0;
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  *active = 1;
  return link < 12 ? 0 : 2;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* type) {
  *type = 2;
  return 0;
}
int nvmlDeviceGetP2PStatus(void* a, void* b, int, int* status) {
  *status = index_of(a) == 0 && index_of(b) == 2 ? 4 : 0;
  return 0;
}
#endif
int nvmlDeviceGetTopologyCommonAncestor(void* a, void* b, int* level) {
  *level = index_of(a) + index_of(b) == 1 ? 10 : 50;
  return 0;
}

}  // extern "C"
