"""Writes a wheel: make_wheel.py FOLDER NAME VERSION [--requires REQ]... [--file PATH=TEXT]... [--copy PATH=FILE]...
[--script NAME=MODULE:FUNCTION] [--lie]. Prints its path."""

import argparse
import base64
import hashlib
import os
import zipfile

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('name')
parser.add_argument('version')
parser.add_argument('--requires', action='append', default=[])
parser.add_argument('--file', action='append', default=[])
parser.add_argument('--copy', action='append', default=[])
parser.add_argument('--script', default='')
parser.add_argument('--lie', action='store_true', help='a digest in RECORD is that of other bytes')
given = parser.parse_args()

escaped = given.name.replace('-', '_')
info = f'{escaped}-{given.version}.dist-info'
files = {f'{info}/METADATA': (f'Metadata-Version: 2.1\nName: {given.name}\nVersion: {given.version}\n' +
                              ''.join(f'Requires-Dist: {r}\n' for r in given.requires) + '\n').encode(),
         f'{info}/WHEEL': b'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n'}
for one in given.file:
    path, _, text = one.partition('=')
    files[path] = text.encode()
for one in given.copy:
    path, _, source = one.partition('=')
    with open(source, 'rb') as content:
        files[path] = content.read()
if given.script:
    files[f'{info}/entry_points.txt'] = f'[console_scripts]\n{given.script.replace("=", " = ")}\n'.encode()

record = ''
for path, content in files.items():
    said = content + b'!' if given.lie and not path.startswith(info) else content
    digest = base64.urlsafe_b64encode(hashlib.sha256(said).digest()).rstrip(b'=').decode()
    record += f'{path},sha256={digest},{len(content)}\n'
record += f'{info}/RECORD,,\n'
files[f'{info}/RECORD'] = record.encode()

path = os.path.join(given.folder, f'{escaped}-{given.version}-py3-none-any.whl')
with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as wheel:
    for name, content in files.items():
        wheel.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), content)
print(path)
