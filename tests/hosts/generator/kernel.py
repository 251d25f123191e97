"""/proc, /sys and the kernel's files: what the machine's kernel says."""

import struct

import elf


def cpu_list(numbers):
    """'0-1,4-5', as the kernel writes sets of CPUs."""
    numbers = sorted(numbers)
    out = []
    while numbers:
        first = last = numbers.pop(0)
        while numbers and numbers[0] == last + 1:
            last = numbers.pop(0)
        out.append(str(first) if first == last else f'{first}-{last}')
    return ','.join(out)


def layout(m):
    """CPU -> (socket, core): first threads of all cores, then second ones, as Linux numbers them."""
    cores = m.cpus if m.arm else m.cpus // 2
    per_socket = max(1, cores // m.sockets)
    return {n: ((n % cores) // per_socket, (n % cores) % per_socket) for n in range(m.cpus)}


def node_cpus(m, node):
    return [n for n, (socket, _) in layout(m).items() if socket == node]


def proc(tree, m):
    k, me = m.kernel, m.me
    tree.put('/proc/version', f'Linux version {k.release} ({k.builder}) ({k.compiler}) {k.version}\n', 'proc')
    if k.signature:
        tree.put('/proc/version_signature', k.signature + '\n', 'proc')
    if m.wsl:
        tree.put('/proc/cmdline', f'initrd=\\initrd.img WSL_ROOT_INIT=1 panic=-1 nr_cpus={m.cpus}\n', 'proc')
        tree.put('/proc/sys/fs/binfmt_misc/WSLInterop',
                 'enabled\ninterpreter /init\nflags: PF\noffset 0\nmagic 4d5a\n', 'wsl-interop')
        tree.put('/dev/dxg', '', 'wsl')
    else:
        tree.put('/proc/cmdline', f'BOOT_IMAGE=/boot/vmlinuz-{k.release} root=UUID={me.uuid("root")} '
                 f'{m.cmdline}\n', 'proc')
    tree.put('/proc/uptime', f'{me.boot_seconds}.{me.number("up", 10, 99)} {me.boot_seconds * 7}.12\n',
             'proc')
    tree.put('/proc/cpuinfo', ''.join(cpuinfo(m, n) for n in range(m.cpus)),
             'cpuinfo-arm' if m.arm else 'proc')
    if m.page_bytes:
        # AT_PAGESZ, AT_CLKTCK and AT_NULL
        tree.put('/proc/self/auxv', struct.pack('<6Q', 6, m.page_bytes, 17, 100, 0, 0), 'auxv')
    total = m.memory_kb - me.memory_kb_less
    free = total // 2 + me.number('free', 0, 1 << 24)
    huge = me.number('huge', 100, 9000) * 2048
    swap = 0 if m.container else 8388604
    tree.put('/proc/meminfo', ''.join(f'{name + ":":<15} {value:>10}{unit}\n' for name, value, unit in [
        ('MemTotal', total, ' kB'), ('MemFree', free, ' kB'), ('MemAvailable', free + 4096000, ' kB'),
        ('Buffers', me.number('buffers', 1000, 90000), ' kB'), ('Cached', 4000000, ' kB'),
        ('SwapTotal', swap, ' kB'), ('SwapFree', swap, ' kB'), ('AnonHugePages', huge, ' kB'),
        ('HugePages_Total', 0, ''), ('HugePages_Free', 0, ''), ('HugePages_Rsvd', 0, ''),
        ('HugePages_Surp', 0, ''), ('Hugepagesize', 2048, ' kB'), ('Hugetlb', 0, ' kB')]), 'proc')
    swaps = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n'
    if swap:
        swaps += f'/dev/{me.disk}3                          partition\t{swap}\t\t0\t\t-2\n'
    tree.put('/proc/swaps', swaps, 'proc')
    tree.link('/proc/mounts', 'self/mounts', 'proc')
    tree.put('/proc/self/mountinfo', mountinfo(m), 'proc')
    tree.put('/proc/self/mounts', ''.join(
        ' '.join((line.split()[-2], line.split()[4], line.split()[-3], line.split()[5], '0', '0')) + '\n'
        for line in mountinfo(m).splitlines()), 'proc')
    tree.put('/proc/self/limits', limits(m), 'proc')
    tree.put('/proc/self/environ', ''.join(f'{k}={v}\0' for k, v in environment(m)), 'proc')
    tree.put('/proc/self/status', f'Name:\tgoldenv\nPid:\t{me.number("pid", 2000, 90000)}\n'
             f'Cpus_allowed_list:\t{cpu_list(range(m.cpus))}\n', 'proc')
    session = f'user@0.service/app.slice/{m.service}.service' if m.service else (
        f'session-{me.number("session", 1, 900)}.scope')
    group = '/' if m.container else f'/user.slice/user-0.slice/{session}'
    tree.put('/proc/self/cgroup', f'0::{group}\n', 'cgroup')
    tree.put('/sys/fs/cgroup/cgroup.controllers', 'cpuset cpu io memory hugetlb pids rdma misc\n', 'cgroup')
    tree.lines(('/sys/fs/cgroup' + group).rstrip('/'), 'cgroup',
               {'memory.max': 'max', 'cpu.max': 'max 100000', 'pids.max': 'max'},
               ('/sys/fs/cgroup' + (group if m.service else '' if m.container else
                                   '/user.slice/user-0.slice/session-*.scope')))
    tree.put('/proc/1/comm', 'bash\n' if m.container else 'systemd\n', 'proc')
    tree.put('/dev/shm/sem.fixture', b'\0' * 32, 'shm')
    sysctls(tree, m)


def cpuinfo(m, n):
    cpu, (socket, core) = m.cpu, layout(m)[n]
    if m.arm:
        rows = [('processor\t', n), ('BogoMIPS\t', '2000.00'), ('Features\t', cpu.flags),
                ('CPU implementer\t', cpu.vendor), ('CPU architecture', cpu.family), ('CPU variant\t', '0x0'),
                ('CPU part\t', f'0x{cpu.model:03x}'), ('CPU revision\t', cpu.stepping)]
        return ''.join(f'{key}: {value}\n' for key, value in rows) + '\n'
    mhz = m.me.number(f'mhz{n}', 1500, 3400)
    hypervisor = ' hypervisor' if m.virtual else ''
    rows = [('processor', n), ('vendor_id', cpu.vendor), ('cpu family', cpu.family), ('model', cpu.model),
            ('model name', cpu.name), ('stepping', cpu.stepping), ('microcode', cpu.microcode),
            ('cpu MHz', f'{mhz}.000'), ('cache size', '512 KB'), ('physical id', socket),
            ('siblings', m.cpus // m.sockets), ('core id', core), ('cpu cores', m.cpus // 2 // m.sockets),
            ('apicid', n), ('fpu', 'yes'), ('wp', 'yes'), ('flags', cpu.flags + hypervisor),
            ('bugs', cpu.bugs), ('bogomips', f'{2 * mhz}.00'), ('clflush size', 64),
            ('address sizes', '48 bits physical, 48 bits virtual'), ('power management', '')]
    lines = (key + ('\t' if len(key) >= 8 else '\t\t') + f': {value}\n' for key, value in rows)
    return ''.join(lines) + '\n'


def mountinfo(m):
    d = m.me.disk
    if m.container:
        return ('710 620 0:58 / / rw,relatime master:260 - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w\n'
                '711 710 0:61 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n'
                '712 710 0:62 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755\n'
                '714 710 0:64 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro\n'
                '715 714 0:65 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw\n'
                '716 712 0:66 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm rw,size=65536k\n')
    out = (f'29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/{d}2 rw,errors=remount-ro\n'
           '22 29 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n'
           '30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw\n'
           '23 29 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw\n'
           '24 29 0:5 / /dev rw,nosuid,relatime shared:2 - devtmpfs udev rw,mode=755,inode64\n'
           '26 24 0:23 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,size=528280000k,inode64\n'
           f'97 29 259:1 / /boot/efi rw,relatime shared:47 - vfat /dev/{d}1 rw,fmask=0077\n')
    if m.gpu and m.torch:
        out += f'98 29 0:51 / /data rw,relatime shared:48 - nfs4 {m.me.address}:/export rw,vers=4.2,hard\n'
    return out


def limits(m):
    rows = [('Max cpu time', 'unlimited', 'unlimited', 'seconds'),
            ('Max file size', 'unlimited', 'unlimited', 'bytes'),
            ('Max data size', 'unlimited', 'unlimited', 'bytes'),
            ('Max stack size', '8388608', 'unlimited', 'bytes'),
            ('Max core file size', '0', 'unlimited', 'bytes'),
            ('Max resident set', 'unlimited', 'unlimited', 'bytes'),
            ('Max processes', '4126813', '4126813', 'processes'),
            ('Max open files', '1048576' if m.gpu else '1024', '1048576', 'files'),
            ('Max locked memory', 'unlimited' if m.gpu else '8388608', 'unlimited' if m.gpu else '8388608',
             'bytes'),
            ('Max address space', 'unlimited', 'unlimited', 'bytes'),
            ('Max file locks', 'unlimited', 'unlimited', 'locks'),
            ('Max pending signals', '4126813', '4126813', 'signals'),
            ('Max msgqueue size', '819200', '819200', 'bytes'), ('Max nice priority', '0', '0', ''),
            ('Max realtime priority', '0', '0', ''), ('Max realtime timeout', 'unlimited', 'unlimited', 'us')]
    return ''.join(f'{a:<25} {b:<20} {c:<20} {d:<10}\n' for a, b, c, d in
                   [('Limit', 'Soft Limit', 'Hard Limit', 'Units')] + rows)


def environment(m):
    """Also a secret, which no fact may ever show, and names that belong to one job or one machine."""
    out = [('HOME', '/root'), ('LANG', 'C.UTF-8'), ('SHELL', '/bin/bash')]
    path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    if m.conda:
        out += [('CONDA_PREFIX', '/opt/conda/envs/train'), ('CONDA_DEFAULT_ENV', 'train')]
        path = '/opt/conda/envs/train/bin:' + path
    if m.torch:
        out += [('VIRTUAL_ENV', '/opt/venv'), ('NCCL_DEBUG', 'WARN'), ('OMP_NUM_THREADS', '8'),
                ('HF_TOKEN', 'not-a-real-secret-' + m.me.hex('token', 8))]
        path = '/opt/venv/bin:' + path
    if m.toolkits:
        path = '/usr/local/cuda/bin:' + path
    if m.visible and not m.service:
        out += [('CUDA_VISIBLE_DEVICES', m.visible)]
    if m.gpu and not m.service:
        out += [('SLURM_JOB_ID', m.me.job), ('SLURMD_NODENAME', m.me.host)]
    return out + [('PATH', path)]


def sysctls(tree, m):
    k = m.kernel
    new = not k.release.startswith('5.4')
    values = {
        'kernel/osrelease': k.release, 'kernel/ostype': 'Linux', 'kernel/version': k.version,
        'kernel/hostname': m.me.host, 'kernel/tainted': (12288 if m.open else 12289) if m.driver else 0,
        'kernel/random/boot_id': m.me.uuid('boot'),
        'kernel/watchdog_thresh': m.watchdog_thresh, 'kernel/watchdog': 1, 'kernel/nmi_watchdog': 1,
        'kernel/soft_watchdog': 1, 'kernel/softlockup_panic': 0, 'kernel/hardlockup_panic': 0,
        'kernel/watchdog_cpumask': cpu_list(range(m.cpus)),
        'kernel/numa_balancing': 0, 'kernel/hung_task_timeout_secs': 120,
        'kernel/sched_rt_runtime_us': 950000, 'kernel/perf_event_paranoid': 4,
        'kernel/randomize_va_space': 2, 'kernel/shmmax': 18446744073692774399,
        'kernel/shmall': 18446744073692774399, 'kernel/pid_max': 4194304, 'kernel/threads-max': 8253626,
        'kernel/yama/ptrace_scope': 1, 'kernel/dmesg_restrict': 1,
        'vm/max_map_count': 262144, 'vm/overcommit_memory': 0, 'vm/swappiness': 10,
        'vm/zone_reclaim_mode': 0, 'vm/nr_hugepages': 0, 'vm/min_free_kbytes': 90112, 'vm/dirty_ratio': 20,
        'fs/file-max': 9223372036854775807, 'fs/nr_open': 1048576,
        'net/core/rmem_max': 268435456, 'net/core/wmem_max': 268435456, 'net/core/somaxconn': 4096,
        'net/ipv4/tcp_rmem': '4096\t131072\t6291456', 'net/ipv4/tcp_wmem': '4096\t16384\t4194304',
    }
    if new:
        values['vm/compaction_proactiveness'] = 20  # from Linux 5.9 on
    tree.lines('/proc/sys', 'sysctl', values)


def sys(tree, m):
    cpu_folder = '/sys/devices/system/cpu'
    everyone = cpu_list(range(m.cpus))
    tree.lines(cpu_folder, 'cpu', {
        'online': everyone, 'present': everyone, 'possible': everyone, 'isolated': '', 'nohz_full': '(null)',
        'smt/control': 'notsupported' if m.arm else 'on', 'smt/active': 0 if m.arm else 1,
        'cpuidle/current_driver': 'acpi_idle',
        'cpuidle/current_governor': 'menu',
        'vulnerabilities/meltdown': 'Not affected', 'vulnerabilities/l1tf': 'Not affected',
        'vulnerabilities/mds': 'Not affected',
        'vulnerabilities/spectre_v1': 'Mitigation: usercopy/swapgs barriers and __user pointer sanitization'})
    for n, (socket, core) in layout(m).items():
        siblings = [o for o, place in layout(m).items() if place == (socket, core)]
        tree.lines(f'{cpu_folder}/cpu{n}/topology', 'cpu',
                   {'core_id': core, 'physical_package_id': socket, 'thread_siblings_list': cpu_list(siblings)},
                   f'{cpu_folder}/cpu*/topology')
        if m.governor:
            tree.lines(f'{cpu_folder}/cpufreq/policy{n}', 'cpufreq',
                       {'scaling_driver': m.scaling_driver, 'scaling_governor': m.governor},
                       f'{cpu_folder}/cpufreq/policy*')
    if m.governor:
        tree.put(f'{cpu_folder}/cpufreq/boost', '1\n', 'cpufreq')
    tree.lines('/sys/devices/system/clocksource/clocksource0', 'clocksource',
               {'current_clocksource': m.clocksource, 'available_clocksource': m.clocksources + ' '})
    nodes = range(m.sockets)
    tree.put('/sys/devices/system/node/online', cpu_list(nodes) + '\n', 'node')
    for node in nodes:
        total = (m.memory_kb - m.me.memory_kb_less) // m.sockets
        distances = ' '.join('10' if o == node else '32' for o in nodes)
        tree.lines(f'/sys/devices/system/node/node{node}', 'node', {
            'cpulist': cpu_list(node_cpus(m, node)), 'distance': distances,
            'meminfo': f'Node {node} MemTotal:       {total} kB\nNode {node} MemFree:        {total // 2} kB'},
            '/sys/devices/system/node/node*')
    tree.lines('/sys/kernel/mm/transparent_hugepage', 'thp',
               {'enabled': 'always [madvise] never', 'defrag': 'always defer defer+madvise [madvise] never'})
    tree.lines('/sys/kernel/mm/hugepages', 'hugetlb',
               {'hugepages-2048kB/nr_hugepages': 0, 'hugepages-1048576kB/nr_hugepages': 0})
    tree.put('/sys/module/pcie_aspm/parameters/policy', '[default] performance powersave powersupersave \n',
             'module-param')
    if m.container or m.wsl:
        return
    tree.put('/sys/kernel/security/lockdown', '[none] integrity confidentiality\n', 'module-param')
    if m.virtual:
        dmi = {'sys_vendor': 'QEMU', 'product_name': 'Standard PC (Q35 + ICH9, 2009)', 'bios_vendor': 'SeaBIOS',
               'bios_version': '1.16.2-debian-1.16.2-1', 'bios_date': '04/01/2014', 'chassis_type': 1}
    else:
        dmi = {'sys_vendor': 'Example Systems', 'product_name': 'GX-8', 'board_name': 'GX-8-MB',
               'bios_vendor': 'Example BIOS', 'bios_version': '1.21', 'bios_date': '05/11/2023',
               'bios_release': '5.22', 'chassis_type': 23}
        tree.put('/sys/firmware/efi/fw_platform_size', '64\n', 'efi')
        tree.put('/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c',
                 b'\6\0\0\0\0', 'efi')
    tree.lines('/sys/devices/virtual/dmi/id', 'dmi', dmi)
    tree.link('/sys/class/dmi/id', '../../devices/virtual/dmi/id', 'dmi')
    for secret in ('product_serial', 'product_uuid', 'board_serial', 'chassis_serial'):
        tree.answers[f'/sys/devices/virtual/dmi/id/{secret}'] = 'denied'


def network(tree, m):
    """One Ethernet port and, on GPU machines, one adapter for RDMA."""
    me = m.me
    tree.lines('/sys/devices/virtual/net/lo', 'net',
               {'address': '00:00:00:00:00:00', 'mtu': 65536, 'operstate': 'unknown', 'type': 772})
    tree.link('/sys/class/net/lo', '../../devices/virtual/net/lo', 'net')
    if m.wsl:
        return
    bus = f'0000:{me.nic_bus}:00.0'
    port = f'/sys/devices/pci0000:20/{bus}/net/eth0'
    tree.lines(port, 'net', {'address': me.mac('eth0'), 'mtu': 9000, 'speed': 25000, 'operstate': 'up',
                             'type': 1}, '/sys/devices/pci*/*/net/eth0')
    tree.link(f'{port}/device', f'../../../{bus}', 'net', '/sys/devices/pci*/*/net/eth0/device')
    tree.link('/sys/class/net/eth0', f'../../devices/pci0000:20/{bus}/net/eth0', 'net')
    if not m.gpu:
        return
    adapter = f'0000:{int(me.nic_bus, 16) + 1:02x}:00.0'
    device = f'/sys/devices/pci0000:20/{adapter}/infiniband/mlx5_0'
    guid = me.hex('guid', 16)
    guid = ':'.join(guid[i:i + 4] for i in range(0, 16, 4))
    tree.lines(device, 'infiniband', {
        'fw_ver': '20.38.1002', 'hca_type': 'MT4123', 'board_id': 'MT_0000000223', 'node_type': '1: CA',
        'node_guid': guid, 'sys_image_guid': guid, 'ports/1/state': '4: ACTIVE',
        'ports/1/phys_state': '5: LinkUp', 'ports/1/rate': '200 Gb/sec (4X HDR)',
        'ports/1/link_layer': 'InfiniBand'}, '/sys/devices/pci*/*/infiniband/mlx5_0')
    tree.link('/sys/class/infiniband/mlx5_0', f'../../devices/pci0000:20/{adapter}/infiniband/mlx5_0',
              'infiniband')


def boot(tree, m):
    """What the next boot would take, and the headers that modules are built against."""
    k = m.kernel
    words = f'root=UUID={m.me.uuid("root")} {m.cmdline}'
    tree.put('/etc/default/grub', 'GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\n'
             f'GRUB_CMDLINE_LINUX_DEFAULT="{m.cmdline.removeprefix("ro ")}"\nGRUB_CMDLINE_LINUX=""\n', 'grub')
    tree.put('/boot/grub/grub.cfg', 'set default="0"\n'
             f"menuentry '{m.system.pretty}' {{\n\tlinux /boot/vmlinuz-{k.release} {words}\n"
             f'\tinitrd /boot/initrd.img-{k.release}\n}}\n', 'grub')
    tree.put(f'/boot/config-{k.release}', 'CONFIG_MODULES=y\nCONFIG_MODVERSIONS=y\nCONFIG_PCI_P2PDMA=y\n'
             'CONFIG_DEVICE_PRIVATE=y\nCONFIG_NUMA_BALANCING=y\n# CONFIG_PREEMPT is not set\n', 'modinfo')
    built_for = m.stale_kernel or k.release
    headers = f'/usr/src/linux-headers-{built_for}'
    tree.link(f'/usr/lib/modules/{k.release}/build', headers, 'modules.dep')
    tree.put(f'{headers}/include/generated/utsrelease.h', f'#define UTS_RELEASE "{built_for}"\n', 'modinfo')
    tree.put(f'{headers}/include/generated/compile.h',
             f'#define LINUX_COMPILER "{k.compiler}"\n', 'modinfo')


def module_file(release, vermagic, name, path, **fields):
    return elf.module(f'{release} {path}', **fields, name=name, vermagic=vermagic)
