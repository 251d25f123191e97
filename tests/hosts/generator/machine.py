"""What a machine is made of, as data. Golden facts and those that differ between equal machines
(identity, volatile) stand apart: a twin has its own Self and nothing else of its own."""

import dataclasses
import hashlib
import uuid


@dataclasses.dataclass(frozen=True)
class Cpu:
    vendor: str
    family: int
    model: int
    stepping: int
    name: str
    microcode: str
    flags: str
    bugs: str


COMMON_FLAGS = ('fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr '
                'sse sse2 ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc cpuid '
                'pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand lahf_lm '
                'abm 3dnowprefetch fsgsbase bmi1 avx2 smep bmi2 rdseed adx smap clflushopt clwb sha_ni')
ROME = Cpu('AuthenticAMD', 23, 49, 0, 'AMD EPYC 7742 64-Core Processor', '0x830107a',
           COMMON_FLAGS + ' svm sse4a misalignsse topoext perfctr_core cdp_l3 mba rdpid',
           'sysret_ss_attrs spectre_v1 spectre_v2 spec_store_bypass retbleed smt_rsb')
MILAN = Cpu('AuthenticAMD', 25, 1, 1, 'AMD EPYC 7413 24-Core Processor', '0xa0011d1',
            COMMON_FLAGS + ' svm sse4a misalignsse topoext perfctr_core invpcid pku ospke vaes',
            'sysret_ss_attrs spectre_v1 spectre_v2 spec_store_bypass')
ICELAKE = Cpu('GenuineIntel', 6, 106, 6, 'Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz', '0xd0003a5',
              COMMON_FLAGS + ' vmx ss pbe art arch_perfmon pebs bts avx512f avx512dq avx512cd pku ospke vaes',
              'spectre_v1 spectre_v2 spec_store_bypass swapgs')

# A Neoverse V2: an Arm kernel names implementer (0x41) and part, and neither model nor microcode.
GRACE = Cpu('0x41', 8, 0xd4f, 0, '', '', 'fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid '
            'asimdrdm jscvt fcma lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm '
            'ssbs sb dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svebf16 i8mm '
            'bf16 dgh bti', '')


@dataclasses.dataclass(frozen=True)
class Kernel:
    release: str
    version: str
    signature: str  # /proc/version_signature, Ubuntu only
    compiler: str
    builder: str
    vermagic: str


K515 = Kernel('5.15.0-91-generic', '#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023',
              'Ubuntu 5.15.0-91.101-generic 5.15.131',
              'gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld (GNU Binutils for Ubuntu) 2.38',
              'buildd@builder', '5.15.0-91-generic SMP mod_unload modversions ')
K54 = Kernel('5.4.0-149-generic', '#166-Ubuntu SMP Tue Apr 18 16:51:45 UTC 2023',
             'Ubuntu 5.4.0-149.166-generic 5.4.233', 'gcc version 9.4.0 (Ubuntu 9.4.0-1ubuntu1~20.04.1)',
             'buildd@builder', '5.4.0-149-generic SMP mod_unload modversions ')
K54_HWE = Kernel('5.4.0-149-generic', '#166~18.04.1-Ubuntu SMP Fri Apr 21 17:40:40 UTC 2023',
                 'Ubuntu 5.4.0-149.166~18.04.1-generic 5.4.233',
                 'gcc version 7.5.0 (Ubuntu 7.5.0-3ubuntu1~18.04)', 'buildd@builder',
                 '5.4.0-149-generic SMP mod_unload modversions ')
K515_HWE = Kernel('5.15.0-76-generic', '#83~20.04.1-Ubuntu SMP Wed Jun 21 20:23:31 UTC 2023',
                  'Ubuntu 5.15.0-76.83~20.04.1-generic 5.15.99',
                  'gcc (Ubuntu 9.4.0-1ubuntu1~20.04.1) 9.4.0, GNU ld (GNU Binutils for Ubuntu) 2.34',
                  'buildd@builder', '5.15.0-76-generic SMP mod_unload modversions ')
K61 = Kernel('6.1.0-18-amd64', '#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)', '',
             'gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40',
             'debian-kernel@lists.debian.org', '6.1.0-18-amd64 SMP preempt mod_unload modversions ')

K65_64K = Kernel('6.5.0-1019-nvidia-64k', '#19-Ubuntu SMP PREEMPT_DYNAMIC Mon May  6 15:42:26 UTC 2024',
                 'Ubuntu 6.5.0-1019.19-nvidia-64k 6.5.13',
                 'aarch64-linux-gnu-gcc-11 (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld '
                 '(GNU Binutils for Ubuntu) 2.38', 'buildd@builder',
                 '6.5.0-1019-nvidia-64k SMP preempt mod_unload modversions aarch64 ')
WSL515 = Kernel('5.15.167.4-microsoft-standard-WSL2', '#1 SMP Tue Nov 5 00:21:55 UTC 2024', '',
                'gcc (GCC) 11.2.0, GNU ld (GNU Binutils) 2.37', 'root@builder',
                '5.15.167.4-microsoft-standard-WSL2 SMP mod_unload modversions ')


@dataclasses.dataclass(frozen=True)
class System:
    pretty: str
    id: str
    version_id: str
    codename: str
    glibc: str
    glibc_package: str
    glibc_text: str
    libstdcxx: int  # the N of GLIBCXX_3.4.N and of libstdc++.so.6.0.N
    gcc: str
    gcc_package: str
    python: str
    python_package: str
    merged: bool = True  # /bin and /lib lead to /usr

    @property
    def python_short(self):
        return '.'.join(self.python.split('.')[:2])


JAMMY = System('Ubuntu 22.04.4 LTS', 'ubuntu', '22.04', 'jammy', '2.35', '2.35-0ubuntu3.6',
               'Ubuntu GLIBC 2.35-0ubuntu3.6', 30, '11.4.0', '11.4.0-1ubuntu1~22.04', '3.10.12',
               '3.10.12-1~22.04.3')
BIONIC = System('Ubuntu 18.04.6 LTS', 'ubuntu', '18.04', 'bionic', '2.27', '2.27-3ubuntu1.6',
                'Ubuntu GLIBC 2.27-3ubuntu1.6', 25, '7.5.0', '7.5.0-3ubuntu1~18.04', '3.6.9',
                '3.6.9-1~18.04ubuntu1.12', merged=False)
FOCAL = System('Ubuntu 20.04.6 LTS', 'ubuntu', '20.04', 'focal', '2.31', '2.31-0ubuntu9.9',
               'Ubuntu GLIBC 2.31-0ubuntu9.9', 28, '9.4.0', '9.4.0-1ubuntu1~20.04.1', '3.8.10',
               '3.8.10-0ubuntu1~20.04.9')
BOOKWORM = System('Debian GNU/Linux 12 (bookworm)', 'debian', '12', 'bookworm', '2.36', '2.36-9+deb12u4',
                  'Debian GLIBC 2.36-9+deb12u4', 30, '12.2.0', '12.2.0-14', '3.11.2', '3.11.2-6')


@dataclasses.dataclass(frozen=True)
class Gpu:
    name: str
    device: str
    subsystem: str
    vbios: str
    bar1_bytes: int


A100_SXM = Gpu('NVIDIA A100-SXM4-80GB', '20b2', '1463', '92.00.45.00.03', 128 << 30)
H100_PCIE = Gpu('NVIDIA H100 PCIe', '2331', '1626', '96.00.74.00.01', 128 << 30)
GH200 = Gpu('NVIDIA GH200 480GB', '2342', '16eb', '96.00.8F.00.01', 128 << 30)
A100_PCIE = Gpu('NVIDIA A100-PCIE-40GB', '20f1', '145f', '92.00.25.00.08', 64 << 30)


@dataclasses.dataclass(frozen=True)
class Torch:
    """A torch wheel for CUDA 12.1 and the versions that it pins."""
    version: str
    nccl: str
    triton: str
    numpy: str = '1.26.4'
    cudnn: str = '8.9.2.26'
    runtime: str = '12.1.105'


TORCH_212 = Torch('2.1.2', '2.18.1', '2.1.0')
TORCH_221 = Torch('2.2.1', '2.19.3', '2.2.0')


@dataclasses.dataclass(frozen=True)
class Self:
    """All that sets a machine apart from its equals."""
    host: str
    boot_seconds: int  # uptime
    disk: str          # device of the root file system
    gpu_buses: tuple = ()
    nic_bus: str = '21'
    address: str = '192.0.2.1'
    memory_kb_less: int = 0  # what firmware kept for itself: a few MiB more or less
    link_speed: str = '16.0 GT/s PCIe'  # of the GPUs now; idle ones go down
    job: str = '1001'
    iommu_first: int = 40     # number of the first GPU's IOMMU group
    libcuda: str = ''         # folder below that of the libraries in which the driver's stand
    left: tuple = ()          # what jobs that died left behind: files, as they are
    log: tuple = ()           # lines of the kernel's log

    def _bytes(self, what):
        return hashlib.sha256(f'{self.host} {what}'.encode()).digest()

    def hex(self, what, digits):
        return self._bytes(what).hex()[:digits]

    def uuid(self, what):
        return str(uuid.UUID(bytes=self._bytes(what)[:16], version=4))

    def mac(self, what):
        octets = self._bytes(what)
        return ':'.join(f'{b:02x}' for b in bytes([0x02]) + octets[1:6])

    def number(self, what, least, most):
        return least + int.from_bytes(self._bytes(what)[:4], 'big') % (most - least + 1)


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    says: str
    me: Self
    cpu: Cpu
    kernel: Kernel
    system: System
    cpus: int = 8            # real ones have more; a fixture needs a few
    sockets: int = 2
    memory_kb: int = 1056_560_000
    gpu: Gpu = None
    driver: str = ''
    driver_date: str = 'Thu Oct 19 18:56:32 UTC 2023'
    uvm: str = ''            # nvidia_uvm in memory, if another
    installed: str = ''      # modules and libraries of the driver on disk, if others
    gpu_missing: int = -1    # which of the GPUs does not answer on the bus
    stale_kernel: str = ''   # another kernel, for which nvidia-drm.ko and the headers are
    nvswitches: int = 0
    toolkits: tuple = ()
    toolkit_link: str = ''   # where /usr/local/cuda ends: "12.1"
    torch: Torch = None
    conda: bool = False      # a conda environment with an LLVM of its own, beside the system's
    own_python: str = ''     # the venv's, built below /opt; else the system's
    visible: str = ''        # CUDA_VISIBLE_DEVICES, which .bashrc exports
    service: str = ''        # seen from the process of this service of the user's, not from a shell
    watchdog_thresh: int = 10
    governor: str = ''
    scaling_driver: str = 'acpi-cpufreq'
    clocksource: str = 'tsc'
    clocksources: str = 'tsc hpet acpi_pm'
    cmdline: str = 'ro quiet'
    virtual: bool = False
    container: bool = False
    wsl: bool = False        # in the virtual machine that Windows runs: no kernel module, no GPU on a bus

    arm: bool = False
    page_bytes: int = 0      # told in /proc/self/auxv
    open: bool = False       # NVIDIA's open kernel modules

    @property
    def machine(self):
        return 'aarch64' if self.arm else 'x86_64'

    @property
    def on_disk(self):
        return self.installed or self.driver

    @property
    def gpus(self):
        """Of the GPUs that answer: their place and bus."""
        return [(i, bus) for i, bus in enumerate(self.me.gpu_buses) if i != self.gpu_missing]
