"""What is installed: the distribution, the driver's libraries, CUDA toolkits, Python and its packages."""

import base64
import hashlib
import struct

import elf
import kernel

LIB = '/usr/lib/x86_64-linux-gnu'
WSL = '/usr/lib/wsl/lib'


def system(tree, m):
    s = m.system
    for name in ('bin', 'lib') + (() if m.arm else ('lib64',)) if s.merged else ():
        tree.link('/' + name, 'usr/' + name, 'merged-usr')
    like = 'ID_LIKE=debian\n' if s.id != 'debian' else ''
    tree.put('/usr/lib/os-release', f'PRETTY_NAME="{s.pretty}"\nNAME="{s.pretty.split()[0]}"\n'
             f'VERSION_ID="{s.version_id}"\nVERSION_CODENAME={s.codename}\nID={s.id}\n{like}', 'os-release')
    tree.link('/etc/os-release', '../usr/lib/os-release', 'os-release')
    tree.put('/etc/hostname', m.me.host + '\n', 'hostname')
    tree.put('/etc/hosts', f'127.0.0.1 localhost\n{m.me.address} {m.me.host}\n', 'hosts-file')
    tree.put('/etc/machine-id', m.me.hex('machine-id', 32) + '\n', 'machine-id')
    tree.put('/etc/passwd', 'root:x:0:0:root:/root:/bin/bash\n', 'passwd')
    tree.put('/etc/sysctl.conf', '# see sysctl.d(5)\n', 'sysctl.d')
    if m.container:
        tree.put('/.dockerenv', '', 'docker')
    else:
        # The value that the golden machine has in force; where another is, someone set it since boot.
        golden = 60 if m.gpu and m.torch else 10
        tree.put('/etc/sysctl.d/90-gpu.conf', '# written for GPU nodes\nkernel.numa_balancing = 0\n'
                 f'kernel.watchdog_thresh = {golden}\n', 'sysctl.d')
    if m.visible:
        tree.put('/root/.bashrc', f'# ~/.bashrc\nexport CUDA_VISIBLE_DEVICES={m.visible}\n', 'bashrc')
    if m.service:
        variables = ' '.join(f'"{k}={v}"' for k, v in kernel.environment(m)
                             if k in ('VIRTUAL_ENV', 'NCCL_DEBUG', 'OMP_NUM_THREADS', 'PATH'))
        tree.put(f'/root/.config/systemd/user/{m.service}.service', f'[Unit]\nDescription={m.service}\n\n[Service]\n'
                 f'Environment={variables}\nExecStart=/opt/venv/bin/{m.service} lab\n', 'systemd')
    libc(tree, m)
    tree.put('/etc/ld.so.conf', 'include /etc/ld.so.conf.d/*.conf\n', 'ld.so')
    tree.put('/etc/ld.so.conf.d/x86_64-linux-gnu.conf', f'# Multiarch support\n/usr/local/lib/x86_64-linux-gnu\n'
             f'/lib/x86_64-linux-gnu\n{LIB}\n', 'ld.so')


def libc(tree, m):
    s = m.system
    image = elf.library('libc.so.6', f'libc {s.glibc_package}', texts=(
        f'GNU C Library ({s.glibc_text}) stable release version {s.glibc}.',))
    # Before 2.34 or so the file had the version in its name.
    if s.glibc in ('2.27', '2.31'):
        tree.put(f'{LIB}/libc-{s.glibc}.so', image, 'glibc-text')
        tree.link(f'{LIB}/libc.so.6', f'libc-{s.glibc}.so', 'glibc-text')
    else:
        tree.put(f'{LIB}/libc.so.6', image, 'glibc-text')
    tree.put(f'{LIB}/ld-linux-x86-64.so.2', elf.library(tree.text('ld-linux-x86-64.so.2'), f'ld {s.glibc_package}'), 'fixture-elf')
    tree.link('/usr/lib/ld-linux-x86-64.so.2' if m.arm else '/usr/lib64/ld-linux-x86-64.so.2',
              '/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2', 'merged-usr')
    file = f'libstdc++.so.6.0.{s.libstdcxx}'
    versions = ['GLIBCXX_3.4'] + [f'GLIBCXX_3.4.{n}' for n in range(1, s.libstdcxx + 1)]
    tree.put(f'{LIB}/{file}', elf.library('libstdc++.so.6', f'libstdc++ {s.gcc_package}',
             needed=('libm.so.6', 'libc.so.6'), versions=versions + ['CXXABI_1.3', 'CXXABI_1.3.13']), 'libstdcxx')
    tree.link(f'{LIB}/libstdc++.so.6', file, 'libstdcxx')
    major = s.gcc.split('.')[0]
    tree.put(f'/usr/bin/x86_64-linux-gnu-gcc-{major}', elf.program(f'gcc {s.gcc}', texts=(s.gcc,)), 'fixture-elf')
    tree.link(f'/usr/bin/gcc-{major}', f'x86_64-linux-gnu-gcc-{major}', 'fixture-elf')
    tree.link('/usr/bin/gcc', f'gcc-{major}', 'fixture-elf')
    tree.put(f'/usr/lib/gcc/x86_64-linux-gnu/{major}/crtbegin.o', elf.start_object(
        f'GCC: ({s.id.capitalize()} {s.gcc_package}) {s.gcc}'), 'gcc-comment')


def driver_libraries(tree, m):
    for name in ('libcuda', 'libnvidia-ml', 'libnvidia-ptxjitcompiler'):
        inner = f'{m.me.libcuda}/' if m.me.libcuda else ''
        tree.put(f'{LIB}/{inner}{name}.so.{m.on_disk}', elf.library(f'{name}.so.1', f'{name} {m.on_disk}',
                 needed=('libc.so.6',)), 'driver-library')
        tree.link(f'{LIB}/{name}.so.1', f'{inner}{name}.so.{m.on_disk}', 'driver-library')
    tree.put(f'{LIB}/libnccl.so.2.18.3', nccl('2.18.3', '12.1', 'deb'), 'nccl-text')
    tree.link(f'{LIB}/libnccl.so.2', 'libnccl.so.2.18.3', 'nccl-text')
    tree.put('/etc/nccl.conf', 'NCCL_SOCKET_IFNAME=eth0\n', 'nccl.conf')


def wsl_libraries(tree):
    """The Windows driver's Linux part. Its files bear no version and lead nowhere."""
    for name in ('libcuda', 'libnvidia-ml', 'libdxcore'):
        file = 'libdxcore.so' if name == 'libdxcore' else f'{name}.so.1'
        tree.put(f'{WSL}/{file}', elf.library(file, f'wsl {name}', needed=('libc.so.6',)), 'wsl')
    tree.put('/etc/ld.so.conf.d/ld.wsl.conf', f'{WSL}\n', 'ld.so')


def nccl(version, cuda, built):
    return elf.library('libnccl.so.2', f'nccl {version} {built}', needed=('libpthread.so.0', 'libc.so.6'),
                       texts=(f'NCCL version {version}+cuda{cuda}',))


TOOLKITS = {'12.1': ('12.1.1', '12.1.105', 'compiler.32688072_0', 12010),
            '12.2': ('12.2.2', '12.2.140', 'compiler.33191640_0', 12020)}


def toolkits(tree, m):
    for short in m.toolkits:
        release, build, compiler, number = TOOLKITS[short]
        top = f'/usr/local/cuda-{short}'
        parts = ',\n'.join(f'   "{name}" : {{\n      "name" : "{title}",\n      "version" : "{version}"\n   }}'
                           for name, title, version in (('cuda', 'CUDA SDK', release),
                                                        ('cuda_cudart', 'CUDA Runtime (cudart)', build),
                                                        ('cuda_nvcc', 'CUDA NVCC', build)))
        tree.put(f'{top}/version.json', '{\n' + parts + '\n}\n', 'cuda-json')
        tree.put(f'{top}/bin/nvcc', elf.program(f'nvcc {build}', texts=(
            f'Cuda compilation tools, release {short}, V{build}', f'Build cuda_{short}.r{short}/{compiler}')), 'nvcc')
        tree.put(f'{top}/targets/x86_64-linux/include/cuda.h', f'#define CUDA_VERSION {number}\n', 'cuda-header')
        tree.put(f'{top}/targets/x86_64-linux/include/cuda_runtime_api.h', f'#define CUDART_VERSION  {number}\n',
                 'cuda-header')
        tree.link(f'{top}/include', 'targets/x86_64-linux/include', 'cuda-header')
        tree.link(f'{top}/lib64', 'targets/x86_64-linux/lib', 'cuda-link')
        lib = f'{top}/targets/x86_64-linux/lib'
        tree.put(f'{lib}/libcudart.so.{build}', cudart(build, 'toolkit'), 'fixture-elf')
        tree.link(f'{lib}/libcudart.so.12', f'libcudart.so.{build}', 'fixture-elf')
        # No driver: a stand-in to link against, which must never be taken for one.
        tree.put(f'{lib}/stubs/libcuda.so', elf.library('libcuda.so.1', f'stub {build}'), 'fixture-elf')
    if m.toolkit_link:
        tree.link('/usr/local/cuda', '/etc/alternatives/cuda', 'cuda-link')
        tree.link('/etc/alternatives/cuda', f'/usr/local/cuda-{m.toolkit_link}', 'alternatives')


def cudart(build, where):
    return elf.library('libcudart.so.12', f'cudart {build} {where}', needed=('libc.so.6', 'libpthread.so.0'))


def short(python):
    return '.'.join(python.split('.')[:2])


def python(tree, m):
    s = m.system
    minor = s.python_short
    tree.put(f'/usr/bin/python{minor}', elf.program(f'python {s.python}', texts=(s.python,)), 'python')
    tree.link('/usr/bin/python3', f'python{minor}', 'python')
    tree.put(f'/usr/include/python{minor}/patchlevel.h', f'#define PY_VERSION              "{s.python}"\n', 'python')
    tree.put(f'/usr/lib/python{minor}/os.py', '# fixture\n', 'python')
    distribution(tree, '/usr/lib/python3/dist-packages', 'six', '1.16.0', installer='')
    if m.torch:
        venv(tree, m)
    if m.conda:
        conda(tree)


def own_python(tree, version):
    """One that was built below /opt, where the system's is too old; gives the folder of its program."""
    minor = short(version)
    top = f'/opt/python{minor}'
    tree.put(f'{top}/bin/python{minor}', elf.program(f'python {version}', texts=(version,)), 'python-prefix')
    tree.link(f'{top}/bin/python3', f'python{minor}', 'python-prefix')
    tree.put(f'{top}/include/python{minor}/patchlevel.h', f'#define PY_VERSION              "{version}"\n',
             'python-prefix')
    tree.put(f'{top}/lib/python{minor}/os.py', '# fixture\n', 'python-prefix')
    return f'{top}/bin'


def venv(tree, m):
    version, home, program = m.system.python, '/usr/bin', 'python3'
    if m.own_python:
        version, home, program = m.own_python, own_python(tree, m.own_python), 'python' + short(m.own_python)
    site = f'/opt/venv/lib/python{short(version)}/site-packages'
    tree.put('/opt/venv/pyvenv.cfg', f'home = {home}\ninclude-system-site-packages = false\n'
             f'version = {version}\n', 'venv')
    tree.link('/opt/venv/bin/python3', f'{home}/{program}', 'venv')
    tree.link('/opt/venv/bin/python', 'python3', 'venv')
    for name, version in (('numpy', m.torch.numpy), ('transformers', '4.44.2'), ('triton', m.torch.triton),
                          ('typing_extensions', '4.9.0'), ('PyYAML', '6.0.1')):
        distribution(tree, site, name, version)
    libraries = {'nccl/lib/libnccl.so.2': (nccl(m.torch.nccl, '12.1', 'wheel'), 'nccl-text')}
    wheel(tree, site, 'nvidia_nccl_cu12', m.torch.nccl, libraries)
    parts = ('', '_ops_infer', '_ops_train', '_cnn_infer', '_cnn_train', '_adv_infer', '_adv_train')
    libraries = {f'cudnn/lib/libcudnn{part}.so.8': (elf.library(
        f'libcudnn{part}.so.8', f'cudnn 8.9.2.26 {part}', needed=('libc.so.6',), runpath='$ORIGIN'), 'fixture-elf')
        for part in parts}
    libraries['cudnn/include/cudnn_version.h'] = (b'#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n'
                                                  b'#define CUDNN_PATCHLEVEL 2\n', 'cudnn-header')
    wheel(tree, site, 'nvidia_cudnn_cu12', '8.9.2.26', libraries)
    wheel(tree, site, 'nvidia_cuda_runtime_cu12', '12.1.105',
          {'cuda_runtime/lib/libcudart.so.12': (cudart('12.1.105', 'wheel'), 'fixture-elf')})
    torch(tree, site, m.torch)


def conda(tree):
    """An environment whose LLVM is of another major release than the system's, which is told too."""
    top = '/opt/conda/envs/train'
    version = '3.10.14'
    python = elf.library(None, 'conda python', needed=('libc.so.6',), rpath='$ORIGIN/../lib', texts=(version,))
    files = {'python': ('python', version, 'hd12c33a_0_cpython', {
                 'bin/python3.10': python, 'include/python3.10/patchlevel.h':
                 f'#define PY_VERSION              "{version}"\n'.encode(), 'lib/python3.10/os.py': b'# fixture\n'}),
             'llvm': ('libllvm15', '15.0.7', 'hb3ce162_4', {
                 'lib/libLLVM-15.so': elf.library('libLLVM-15.so', 'conda llvm 15.0.7', needed=('libc.so.6',))}),
             'cxx': ('libstdcxx-ng', '13.2.0', 'hc0a3c3a_7', {
                 'lib/libstdc++.so.6.0.32': elf.library('libstdc++.so.6', 'conda libstdc++ 13.2.0', versions=[
                     'GLIBCXX_3.4', *(f'GLIBCXX_3.4.{n}' for n in range(1, 33)), 'CXXABI_1.3', 'CXXABI_1.3.14'])})}
    for name, number, build, held in files.values():
        for path, content in held.items():
            tree.put(f'{top}/{path}', content, 'fixture-elf' if content.startswith(b'\x7fELF') else 'conda')
        listed = ', '.join(f'"{path}"' for path in held)
        tree.put(f'{top}/conda-meta/{name}-{number}-{build}.json',
                 f'{{"build": "{build}", "build_number": 0, "channel": "https://conda.anaconda.org/conda-forge", '
                 f'"depends": [], "files": [{listed}], "name": "{name}", "version": "{number}"}}\n', 'conda')
    tree.put(f'{top}/conda-meta/history', '', 'conda')
    tree.link(f'{top}/bin/python3', 'python3.10', 'conda')
    tree.link(f'{top}/bin/python', 'python3.10', 'conda')
    tree.link(f'{top}/lib/libstdc++.so.6', 'libstdc++.so.6.0.32', 'conda')
    distribution(tree, f'{top}/lib/python3.10/site-packages', 'numpy', '1.26.4')
    tree.put(f'{LIB}/libLLVM-14.so.1', elf.library('libLLVM-14.so.1', 'llvm 14.0.6', needed=('libc.so.6',)), 'llvm')
    tree.link('/usr/lib/llvm-14/lib/libLLVM-14.so.1', '../../x86_64-linux-gnu/libLLVM-14.so.1', 'llvm')
    tree.put('/var/lib/dpkg/info/libllvm14:amd64.list',
             f'/.\n{LIB}/libLLVM-14.so.1\n/usr/lib/llvm-14/lib/libLLVM-14.so.1\n', 'dpkg')


def torch(tree, site, t):
    version = ("from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
               f"__version__ = '{t.version}+cu121'\ndebug = False\ncuda: Optional[str] = '12.1'\n"
               f"git_version = '{elf.build_id('torch ' + t.version).hex()}'\nhip: Optional[str] = None\n")
    files = {'torch/version.py': version.encode(), 'torch/__init__.py': b'# fixture\n'}
    rpath = ':'.join(f'$ORIGIN/../../nvidia/{part}/lib' for part in
                     ('cublas', 'cuda_cupti', 'cuda_nvrtc', 'cuda_runtime', 'cudnn', 'cufft', 'curand',
                      'cusolver', 'cusparse', 'nccl', 'nvtx')) + ':$ORIGIN'
    needs = {'libc10.so': ('libstdc++.so.6', 'libc.so.6'),
             'libtorch_cpu.so': ('libc10.so', 'libgomp-a34b3233.so.1', 'libstdc++.so.6', 'libc.so.6'),
             'libtorch_cuda.so': ('libc10.so', 'libtorch_cpu.so', 'libcudart.so.12', 'libcudnn.so.8',
                                  'libnccl.so.2', 'libstdc++.so.6', 'libc.so.6'),
             'libgomp-a34b3233.so.1': ('libc.so.6',)}
    for name, needed in needs.items():
        files[f'torch/lib/{name}'] = elf.library(name, f'torch {t.version}+cu121 {name}', needed=needed, rpath=rpath)
    for path, content in files.items():
        tree.put(f'{site}/{path}', content, 'fixture-elf' if '/lib/' in path else 'torch')
    requires = ['filelock', 'typing-extensions', 'nvidia-cuda-runtime-cu12 (==12.1.105)',
                'nvidia-cudnn-cu12 (==8.9.2.26)', f'nvidia-nccl-cu12 (=={t.nccl})', f'triton (=={t.triton})']
    distribution(tree, site, 'torch', f'{t.version}+cu121', files, requires, source='torch')


def wheel(tree, site, name, version, files):
    for path, (content, source) in files.items():
        tree.put(f'{site}/nvidia/{path}', content, source)
    distribution(tree, site, name, version, {f'nvidia/{p}': content for p, (content, _) in files.items()})


def distribution(tree, site, name, version, files=(), requires=(), installer='pip', source='wheel'):
    """A dist-info folder, with RECORD over `files` (path below site -> bytes)."""
    folder = f'{name}-{version}.dist-info'
    own = {f'{folder}/METADATA': f'Metadata-Version: 2.1\nName: {name.replace("_", "-")}\nVersion: {version}\n' +
           ''.join(f'Requires-Dist: {r}\n' for r in requires) + '\n',
           f'{folder}/WHEEL': 'Wheel-Version: 1.0\nGenerator: bdist_wheel (0.42.0)\n'
                              'Root-Is-Purelib: true\nTag: py3-none-' + (
               'manylinux2014_aarch64\n' if elf.machine == elf.AARCH64 else 'manylinux1_x86_64\n')}
    if installer:
        own[f'{folder}/INSTALLER'] = installer + '\n'
    record = ''
    for path, content in sorted({**dict(files), **{p: t.encode() for p, t in own.items()}}.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        record += f'{path},sha256={digest},{len(content)}\n'
    own[f'{folder}/RECORD'] = record + f'{folder}/RECORD,,\n'
    for path, text in own.items():
        tree.put(f'{site}/{path}', text, source)


def packages(tree, m):
    s, release = m.system, m.kernel.release
    rows = {'libc6': s.glibc_package, 'libstdc++6': s.gcc_package, 'gcc': f'4:{s.gcc}-1',
            f'gcc-{s.gcc.split(".")[0]}': s.gcc_package, 'python3': s.python_short + '.0-1',
            f'python{s.python_short}': s.python_package, 'rdma-core': '39.0-1', 'bash': '5.1-6',
            'tzdata': '2024a-0'}
    if not m.container and not m.wsl:
        package = m.kernel.signature.split()[1].removesuffix('-generic') if m.kernel.signature else \
            m.kernel.version.split()[-2]
        rows[f'linux-image-{release}'] = package
        rows[f'linux-headers-{release}'] = package
    if m.driver:
        revision, branch = f'{m.on_disk}-0{s.id}1', m.driver.split('.')[0]
        rows.update({f'{package}-{branch}' + ('-open' if m.open and package[0] == 'n' else ''): revision
                     for package in ('nvidia-driver', 'libnvidia-compute', 'nvidia-dkms')})
        rows['libnccl2'] = '2.18.3-1+cuda12.1'
        if m.nvswitches:
            rows[f'nvidia-fabricmanager-{branch}'] = f'{m.driver}-1'
    if m.conda:
        rows['libllvm14'] = '1:14.0.6-12'
    for short in m.toolkits:
        dashed = short.replace('.', '-')
        release_, build, *_ = TOOLKITS[short]
        rows.update({f'cuda-toolkit-{dashed}': f'{release_}-1', f'cuda-cudart-{dashed}': f'{build}-1'})
    text = ''.join(f'Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n\n'
                   for name, version in sorted(rows.items()))
    text += ('Package: libnvidia-compute-525\nStatus: deinstall ok config-files\nArchitecture: amd64\n'
             'Version: 525.147.05-0ubuntu1\n\n' if m.driver else '')
    tree.put('/var/lib/dpkg/status', text, 'dpkg')


def loader_cache(tree, m):
    """/etc/ld.so.cache over the libraries of the system folder, in ld.so's order: last name first."""
    lib, folders = tree.text('/lib/x86_64-linux-gnu'), {}
    for path in tree.entries:
        folder, _, name = path.rpartition('/')
        system = folder.removeprefix('/usr') == lib
        if (system or folder == WSL) and name.startswith('lib') and \
                '.so.' in name and '.' not in name.split('.so.')[1]:
            folders[name] = lib if system and m.system.merged else folder
    names = sorted(folders, reverse=True)
    strings, places = b'', []
    start = 48 + 24 * len(names)
    for name in names:
        key = start + len(strings)
        strings += name.encode() + b'\0'
        value = start + len(strings)
        strings += f'{folders[name]}/{name}'.encode() + b'\0'
        places.append((key, value))
    head = b'glibc-ld.so.cache1.1' + struct.pack('<IIBxxxIIII', len(names), len(strings), 2, 0, 0, 0, 0)
    body = b''.join(struct.pack('<iIIIQ', 0x0a03 if m.arm else 0x0303, key, value, 0, 0) for key, value in places)
    tree.put('/etc/ld.so.cache', head + body + strings, 'ld.so.cache')
