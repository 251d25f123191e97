#include "privileged/script_parts.h"

// sh as dash(1) has it: `set -e` does not act within a function that stands in a condition, so that
// what changes things is called plainly, and what puts things back says && throughout.
namespace goldenv::privileged {

const std::string_view kBegin = R"sh(
say() { printf 'goldenv: %s\n' "$*" >&2; }

# ended: a failure names its step; what was only kept is thrown away again.
ended() {
  code=$?
  [ "$code" != 0 ] || return 0
  say "failed: $step"
  if [ -e "$state/ready" ]; then
    say "what was done before it stands; back again: goldenv provision --rollback, or sh $state/undo"
  else
    rm -rf -- "$state"
    say 'nothing was changed'
  fi
  exit 4
}

[ -d "$base" ] || { mkdir -p -- "${base%/*}" && mkdir -m 700 -- "$base"; }
exec 9>>"$base/lock"
if ! flock -n 9; then
  say "another apply or rollback is at work in $base"
  exit 4
fi
for one in "$base"/[0-9]*; do
  if [ -e "$one/ready" ] && [ ! -e "$one/done" ] && [ ! -e "$one/undone" ]; then
    say "an earlier apply was not finished; put back what it changed (sh $one/undo) and make this script anew"
    exit 4
  fi
done
number=1
while [ -e "$base/$number" ]; do number=$((number + 1)); done
state=$base/$number
step='keeping what is there now'
mkdir -m 700 -- "$state"
trap ended EXIT
trap 'exit 4' HUP INT TERM
cp -- "$0" "$state/script"
)sh";

const std::string_view kEnd = R"sh(
step='the end'
sync -f "$state"
: >"$state/done"
trap - EXIT
say "done; back again: goldenv provision --rollback, or sh $state/undo"
)sh";

const std::string_view kKeepFiles = R"sh(
# keep N FILE: what stands at its place.
keep() {
  if [ -e "$2" ] || [ -L "$2" ]; then
    cp -a -- "$2" "$state/$1.file"
  else
    : >"$state/$1.none"
    [ -d "${2%/*}" ] || : >"$state/$1.folder"
  fi
}
# put FILE TEXT: the file as a whole or not at all.
put() {
  mkdir -p -- "${1%/*}"
  printf '%s\n' "$2" >"$1.goldenv-new"
  mv -f -T -- "$1.goldenv-new" "$1"
}
)sh";

const std::string_view kKeepValues = R"sh(
# keep_values N FILE..: what the kernel says there.
keep_values() {
  of=$1
  shift
  at=0
  for one; do
    at=$((at + 1))
    printf '%s\n' "$one" >"$state/$of.path.$at"
    cat -- "$one" >"$state/$of.value.$at"
  done
}
# set_value FILE VALUE: tells it to the kernel.
set_value() { printf '%s\n' "$2" >"$1"; }
)sh";

const std::string_view kKeepChoice = R"sh(
# keep_choice N FILE WORD: of "always [madvise] never" the word in brackets; WORD must be one.
keep_choice() {
  tr -d '[]' <"$2" | grep -q -w -e "$3"
  printf '%s\n' "$2" >"$state/$1.path.1"
  sed 's/.*\[\([^]]*\)\].*/\1/' "$2" >"$state/$1.value.1"
}
)sh";

const std::string_view kKeepGovernors = R"sh(
# check_governor WORD FILE..: each policy has it.
check_governor() {
  word=$1
  shift
  for one; do grep -q -w -e "$word" "${one%/*}/scaling_available_governors"; done
}
# set_governor WORD FILE..
set_governor() {
  word=$1
  shift
  for one; do set_value "$one" "$word"; done
}
)sh";

const std::string_view kKeepLink = R"sh(
# keep_link N LINK FOLDER: where a link leads; one that update-alternatives keeps stays its own.
keep_link() {
  [ -L "$2" ]
  [ -d "$3" ]
  readlink -- "$2" >"$state/$1.link"
  case $(readlink -- "$2") in
    */etc/alternatives/*)
      name=$(basename -- "$(readlink -- "$2")")
      printf '%s\n' "$name" >"$state/$1.alternative"
      update-alternatives --query "$name" >"$state/$1.query"
      ;;
  esac
}
# set_link N LINK FOLDER
set_link() {
  if [ -e "$state/$1.alternative" ]; then
    update-alternatives --set "$(cat "$state/$1.alternative")" "$3"
  else
    ln -s -- "$3" "$2.goldenv-new"
    mv -f -T -- "$2.goldenv-new" "$2"
  fi
}
)sh";

const std::string_view kApt = R"sh(
apt_get() {
  apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=60 -o Dpkg::Options::=--force-confdef \
    -o Dpkg::Options::=--force-confold -o APT::Install-Recommends=false \
    -o APT::Get::allow-downgrades=true "$@" 9>&- </dev/null
}
)sh";

const std::string_view kKeepPackages = R"sh(
# fetch FILE URL SHA256
fetch() {
  case $2 in
    file://*) cp -- "${2#file://}" "$1" ;;
    *) /usr/lib/apt/apt-helper download-file "$2" "$1" "SHA256:$3" 9>&- ;;
  esac
  printf '%s  %s\n' "$3" "$1" | sha256sum -c --status -
}
# has_old NAME VERSION: the file of a package that will be replaced is kept.
has_old() {
  for deb in "$state"/old/*.deb; do
    [ -e "$deb" ] || continue
    if [ "$(dpkg-deb -f "$deb" Package)" = "${1%%:*}" ] &&
      [ "$(dpkg-deb -f "$deb" Version)" = "$2" ]; then
      return 0
    fi
  done
  return 1
}
# keep_packages WORD..: what apt-get would do about these, and what takes it back.
keep_packages() {
  dpkg-query -W -f '${binary:Package} ${Version} ${db:Status-Abbrev}\n' >"$state/packages"
  apt-mark showauto >"$state/automatic"
  apt_get -s install "$@" >"$state/simulated"
  sed -n -e 's/^Inst /goldenv: apt installs /p' -e 's/^Remv /goldenv: apt removes /p' \
    "$state/simulated" >&2
  sed -n -e 's/^Inst \([^ ]*\) \[\([^]]*\)\].*/\1 \2/p' -e 's/^Remv \([^ ]*\) \[\([^]]*\)\].*/\1 \2/p' \
    "$state/simulated" >"$state/replaced"
  sed -n 's/^Inst \([^ ]*\) (.*/\1/p' "$state/simulated" >"$state/added"
  while read -r name version; do
    has_old "$name" "$version" && continue
    file=$(printf '%s' "$version" | sed 's/:/%3a/g')
    for deb in /var/cache/apt/archives/"${name%%:*}_${file}"_*.deb; do
      [ ! -e "$deb" ] || cp -- "$deb" "$state/old/"
    done
    has_old "$name" "$version" && continue
    (cd "$state/old" && apt_get download "$name=$version") || :
    has_old "$name" "$version" && continue
    say "$name $version, which is installed, is in none of apt's sources: there would be no way back"
    [ "${GOLDENV_ONE_WAY:-}" = 1 ] || { say 'GOLDENV_ONE_WAY=1 goes on without one'; exit 4; }
  done <"$state/replaced"
}
)sh";

const std::string_view kBoot = R"sh(
# What boots is made anew from the files above.
make_boot_files() {
  if [ "$1" = grub ]; then
    update-grub 9>&-
  elif command -v update-initramfs >/dev/null; then
    update-initramfs -u 9>&-
  fi
}
)sh";

const std::string_view kUndoBegin = R"sh(
say() { printf 'goldenv: %s\n' "$*" >&2; }

state=$(cd -- "$(dirname -- "$0")" && pwd) || exit 4
base=${state%/*}
number=${state##*/}
exec 9>>"$base/lock" || exit 4
if ! flock -n 9; then
  say "another apply or rollback is at work in $base"
  exit 4
fi
if [ -e "$state/undone" ]; then
  say "apply $number is undone already"
  exit 0
fi
for one in "$base"/[0-9]*; do
  if [ "${one##*/}" -gt "$number" ] && [ -e "$one/ready" ] && [ ! -e "$one/undone" ]; then
    say "apply ${one##*/} came after this one and is to be undone first: sh $one/undo"
    exit 4
  fi
done
failures=0
# undo WHAT COMMAND..: goes on where one thing cannot be put back.
undo() {
  what=$1
  shift
  if "$@"; then
    say "put back: $what"
  else
    say "not put back: $what"
    failures=$((failures + 1))
  fi
}
)sh";

const std::string_view kUndoFiles = R"sh(
# put_back N FILE
put_back() {
  rm -f -- "$2.goldenv-new" || return 1
  if [ -e "$state/$1.none" ]; then
    rm -f -- "$2" || return 1
    if [ -e "$state/$1.folder" ]; then rmdir -- "${2%/*}" 2>/dev/null || :; fi
  else
    cp -a -- "$state/$1.file" "$2.goldenv-new" && mv -f -T -- "$2.goldenv-new" "$2"
  fi
}
)sh";

const std::string_view kUndoValues = R"sh(
# set_back N: values of the kernel.
set_back() {
  for one in "$state/$1".path.*; do
    file=$(cat "$one") && value=$(cat "$state/$1.value.${one##*.}") || return 1
    [ "$(cat "$file")" = "$value" ] || printf '%s\n' "$value" >"$file" || return 1
  done
}
)sh";

const std::string_view kUndoLink = R"sh(
# link_back N LINK
link_back() {
  if [ -e "$state/$1.alternative" ]; then
    name=$(cat "$state/$1.alternative") || return 1
    if grep -q '^Status: auto' "$state/$1.query"; then
      update-alternatives --auto "$name"
    else
      update-alternatives --set "$name" "$(sed -n 's/^Value: //p' "$state/$1.query" | head -n 1)"
    fi
  else
    rm -f -- "$2.goldenv-new" && ln -s -- "$(cat "$state/$1.link")" "$2.goldenv-new" &&
      mv -f -T -- "$2.goldenv-new" "$2"
  fi
}
)sh";

const std::string_view kUndoPackages = R"sh(
version_of() {
  dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
    sed -n 's/^installed //p' | head -n 1
}
# packages_back: the files that were kept, and away with what was added.
packages_back() {
  dpkg --configure -a 9>&- </dev/null || return 1
  set --
  while read -r name version; do
    [ "$(version_of "$name")" != "$version" ] || continue
    for deb in "$state"/old/*.deb; do
      if [ -e "$deb" ] && [ "$(dpkg-deb -f "$deb" Package)" = "${name%%:*}" ] &&
        [ "$(dpkg-deb -f "$deb" Version)" = "$version" ]; then
        set -- "$@" "$deb"
        break
      fi
    done
  done <"$state/replaced"
  while read -r name; do
    [ -z "$(version_of "$name")" ] || set -- "$@" "$name-"
  done <"$state/added"
  if [ $# != 0 ]; then apt_get -y install "$@" || return 1; fi
  while read -r name version; do
    if [ "$(version_of "$name")" != "$version" ]; then
      say "$name was $version and is '$(version_of "$name")'"
      return 1
    fi
    if grep -q -x -F -e "$name" "$state/automatic"; then apt-mark auto "$name" >/dev/null; fi
  done <"$state/replaced"
}
)sh";

const std::string_view kUndoEnd = R"sh(
if [ "$failures" != 0 ]; then
  say "apply $number is not undone"
  exit 4
fi
: >"$state/undone"
say "apply $number is undone"
)sh";

}  // namespace goldenv::privileged
