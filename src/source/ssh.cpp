#include "source/ssh.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "base/url.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "host/descriptor.h"
#include "host/result_file.h"
#include "probe/redact.h"
#include "source/far_look.h"
#include "source/program.h"
#include "source/ssh_script.h"

namespace goldenv::source {
namespace {

// goldenv-portable has 10 MB; one built with sanitizers has 20 times as much, and is tested, too.
constexpr std::size_t kPortableLimitBytes = 512u << 20;
constexpr std::size_t kAnswerLimitBytes = 32u << 20;
constexpr int kSshFailed = 255;  // ssh(1): an error of its own
constexpr std::string_view kEnvironment = "env";

Error failed(const std::string& name, const std::string& what) {
  return {Errc::failed, mask_source_user(name) + ": " + what, {}};
}

/// The last line of what another program wrote, for a message. Redacted whole: a secret may be told
/// by the lines before it.
std::string shown_words(std::string_view output) { return last_words(probe::redact(output)); }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// What is sent, and for which machine it is.
struct Parcel {
  std::string bytes;
  std::string machine;
};

std::string machine_of(std::string_view bytes) {
  if (bytes.size() < 20 || !bytes.starts_with(ELFMAG)) {
    return {};
  }
  switch (static_cast<unsigned char>(bytes[18]) + 256 * static_cast<unsigned char>(bytes[19])) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    default:
      return {};
  }
}

Result<Parcel> parcel_of(const SshOptions& options) {
  std::string path = options.portable;
  const char* named = std::getenv("GOLDENV_PORTABLE");
  if (path.empty() && named != nullptr && *named != '\0') {
    path = named;
  }
  if (path.empty()) {
    GOLDENV_TRY(path, program_beside("goldenv-portable"));
  }
  const host::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Parcel parcel;
  std::vector<char> block(256u << 10);
  for (ssize_t got = 1; file && got > 0 && parcel.bytes.size() <= kPortableLimitBytes;) {
    got = read(file.get(), block.data(), block.size());
    parcel.bytes.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  parcel.machine = machine_of(parcel.bytes);
  if (parcel.machine.empty() || parcel.bytes.size() > kPortableLimitBytes) {
    return Error{Errc::failed, path + ": is no goldenv-portable that could be sent", {}};
  }
  return parcel;
}

/// Told apart from whatever a login prints.
Result<std::string> make_nonce() {
  std::array<char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{Errc::failed, "no random bytes can be had", {}};
  }
  return Sha256::of({bytes.data(), bytes.size()}).hex().substr(0, 32);
}

Result<host::Descriptor> input_of(const probe::Request& request, const Parcel& parcel) {
  host::Descriptor file(memfd_create("goldenv", MFD_CLOEXEC));
  if (!file || !host::write_all(file.get(), render_request(request) + "\n") ||
      !host::write_all(file.get(), parcel.bytes) || lseek(file.get(), 0, SEEK_SET) != 0) {
    return Error{Errc::failed, "no memory for what is to be sent", {}};
  }
  return file;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

/// What the line behind "goldenv NONCE " says, and what stands behind that line.
struct Line {
  std::string says;
  std::size_t begin = std::string_view::npos;
  std::size_t end = 0;
};

Line find_line(std::string_view output, const std::string& start, std::size_t from) {
  Line line;
  for (std::size_t at = output.find(start, from); at != std::string_view::npos;
       at = output.find(start, at + 1)) {
    const std::size_t end = output.find('\n', at);
    if ((at == 0 || output[at - 1] == '\n') && end != std::string_view::npos) {
      line = {std::string(trim(output.substr(at + start.size(), end - at - start.size()))), at,
              end + 1};
      return line;
    }
  }
  return line;
}

/// Why ssh itself failed. Its words are those of OpenSSH's ssh.c, sshconnect.c and sshconnect2.c.
std::string reason_of(std::string_view error) {
  const auto says = [&](std::string_view words) {
    return error.find(words) != std::string_view::npos;
  };
  std::string why =
      says("REMOTE HOST IDENTIFICATION HAS CHANGED") ? "its host key is another than the known one"
      : says("Host key verification failed")         ? "its host key is not known"
      : says("Permission denied")                    ? "it refuses the login"
      : says("Connection refused")                   ? "it refuses the connection"
      : says("Could not resolve hostname")           ? "there is no such host"
      : says("timed out") || says("No route to host") || says("Network is unreachable")
          ? "it cannot be reached"
          : "ssh failed";
  const std::string last = shown_words(error);
  return why + (last.empty() ? "" : " (" + last + ")");
}

/// What stopped the script at the far end; `said` is "Linux aarch64".
std::string reason_of_stop(int status, const std::string& said, const std::string& machine,
                           std::string_view error) {
  const std::string last = shown_words(error);
  const std::string more = last.empty() ? "" : " (" + last + ")";
  switch (static_cast<SshStop>(status)) {
    case SshStop::machine:
      return said.starts_with("Linux ") ? "it is of another architecture, " + said.substr(6) +
                                              ", than goldenv-portable, " + machine +
                                              "; $GOLDENV_PORTABLE can name one for it"
                                        : "it runs " + said + "; only Linux is looked at";
    case SshStop::request:
      return "what was sent did not arrive" + more;
    case SshStop::digest:
      return "what arrived has another digest, or there is no sha256sum" + more;
    case SshStop::room:
      return "no room for goldenv-portable" + more;
    case SshStop::folder:
      return "no folder there from which a program could be run" + more;
  }
  return "the look at it ended with status " + std::to_string(status) + more;
}

/// Takes away what a clean environment would say of variables.
facts::Snapshot without_environment(facts::Snapshot snapshot, const std::string& name) {
  std::erase(snapshot.listed, kEnvironment);
  for (facts::Fact& fact : snapshot.facts) {
    if (fact.key.name.starts_with("env.") && fact.key.label.empty()) {
      fact.reading =
          facts::Unknown{facts::Why::not_collected, "a look by ssh has a clean environment", ""};
      fact.evidence = {};
    }
  }
  return facts::make_snapshot(name, std::move(snapshot.listed), std::move(snapshot.facts));
}

/// A selection is not sent: the far end looks at everything. What a look at this machine would not
/// have asked for is left out, lest more be said of a host far away.
void drop_unasked(facts::Snapshot& snapshot, const probe::Request& request) {
  const auto is_asked = [&](const std::string& name) {
    const auto is_it = [&](const facts::FactKey& key) {
      const facts::Entry* entry = facts::entry_of(key.name);
      return name == (entry != nullptr && !entry->view.empty() ? entry->view : key.name);
    };
    return request.selection.may_select_at(name) || std::ranges::any_of(request.named, is_it) ||
           std::ranges::any_of(request.families, [&](const std::string& family) {
             return name == family || facts::in_family(name, family);
           });
  };
  std::erase_if(snapshot.facts, [&](const facts::Fact& fact) { return !is_asked(fact.key.name); });
  std::erase_if(snapshot.listed, [&](const std::string& family) { return !is_asked(family); });
}

}  // namespace

Result<std::string> parse_ssh_host(std::string_view word) {
  const Error wrong{Errc::usage,
                    mask_source_user("ssh:" + std::string(word)) +
                        ": expected the name of a host, ssh:gpu17 or ssh:me@gpu17",
                    {}};
  const std::size_t sign = word.rfind('@');
  const bool has_user = sign != std::string_view::npos;
  const std::string_view user = has_user ? word.substr(0, sign) : "";
  const std::string_view host = has_user ? word.substr(sign + 1) : word;
  // IPv6 addresses have colons, and a zone behind a percent sign.
  const auto is_host = [](char c) { return is_name_character(c) || c == ':' || c == '%'; };
  if (host.empty() || host.size() > 255 || host.starts_with('-') ||
      !std::ranges::all_of(host, is_host) || (has_user && user.empty()) || user.starts_with('-') ||
      user.size() > 255 || !std::ranges::all_of(user, is_name_character)) {
    return wrong;
  }
  return std::string(word);
}

Result<facts::Snapshot> parse_ssh_answer(std::string_view output, std::string_view nonce,
                                         const std::string& name) {
  const std::string start = "goldenv " + std::string(nonce) + " ";
  const Line head = find_line(output, start, 0);
  if (head.begin == std::string_view::npos) {
    const std::string said = probe::redact(output.substr(0, output.find('\n')));
    const std::string first = shortened(trim(said), 80);
    return failed(name, output.empty() ? "it answers with nothing"
                                       : "it answers with something else: " + first);
  }
  const Line tail = find_line(output, start, head.end);
  if (tail.begin == std::string_view::npos) {
    return failed(name, "its answer stopped in the middle");
  }
  if (tail.says != "end 0") {
    return failed(name, "the look at it failed (" + shortened(tail.says, 80) + ")");
  }
  const std::string_view text = trim(output.substr(head.end, tail.begin - head.end));
  Result<doc::Node> node = doc::parse(text, doc::Format::json, "its answer");
  if (!node) {
    return failed(name, "its answer is no snapshot: " + node.error().message);
  }
  Result<facts::Snapshot> snapshot = facts::from_node(*std::move(node), "its answer");
  if (!snapshot) {
    return failed(name, "its answer is no snapshot: " + snapshot.error().message);
  }
  probe::redact(*snapshot);
  return without_environment(*std::move(snapshot), name);
}

Result<facts::Snapshot> look_at_ssh(const std::string& host, const probe::Request& request,
                                    const std::string& name, const SshOptions& options) {
  std::string ssh = options.ssh;
  if (ssh.empty()) {
    GOLDENV_TRY(ssh, program_on_path("ssh"));
  }
  GOLDENV_TRY(const Parcel parcel, parcel_of(options));
  GOLDENV_TRY(const std::string nonce, make_nonce());
  GOLDENV_TRY(const host::Descriptor input, input_of(request, parcel));
  Program program;
  program.words = {
      ssh,
      "-T",
      "-x",
      "-a",
      "-o",
      "BatchMode=yes",
      "-o",
      "ConnectTimeout=10",
      "-o",
      "ServerAliveInterval=5",
      "-o",
      "ServerAliveCountMax=3",
      "-o",
      "ClearAllForwardings=yes",
      "-o",
      "PermitLocalCommand=no",
      "-o",
      "RemoteCommand=none",
      "--",
      host,
      ssh_script(nonce, parcel.machine, Sha256::of(parcel.bytes).hex(), options.far_deadline)};
  program.environment = own_environment();
  program.input = input.get();
  program.deadline = options.deadline;
  program.output_limit_bytes = kAnswerLimitBytes;
  const Ended ended = run(program);
  const Line head = find_line(ended.output, "goldenv " + nonce + " ", 0);
  const bool answers = head.begin != std::string_view::npos;
  const std::string seconds = std::to_string(options.deadline.count()) + " s";
  switch (ended.how) {
    case Ended::How::not_started:
      return failed(name, "ssh cannot be started");
    case Ended::How::timed_out:
      return failed(name, answers ? "it stalled in its answer, which took more than " + seconds
                                  : "no answer within " + seconds);
    case Ended::How::too_much:
      return failed(
          name, "its answer is larger than " + std::to_string(kAnswerLimitBytes >> 20) + " MiB");
    case Ended::How::by_signal:
      return failed(name, "ssh was ended by signal " + std::to_string(ended.status));
    case Ended::How::by_itself:
      break;
  }
  if (ended.status == kSshFailed) {
    return failed(
        name, answers ? "the connection was lost in its answer (" + shown_words(ended.error) + ")"
                      : reason_of(ended.error));
  }
  if (ended.status != 0 && !answers) {
    // No shell there, or one that takes no such command.
    const std::string last = shown_words(ended.error.empty() ? ended.output : ended.error);
    return failed(name, "its login shell ended with status " + std::to_string(ended.status) +
                            (last.empty() ? "" : " (" + shortened(last) + ")"));
  }
  if (ended.status != 0) {
    return failed(name, reason_of_stop(ended.status, head.says, parcel.machine, ended.error));
  }
  GOLDENV_TRY(facts::Snapshot snapshot, parse_ssh_answer(ended.output, nonce, name));
  if (!request.only_named && !request.selection.empty()) {
    drop_unasked(snapshot, request);
  }
  return snapshot;
}

}  // namespace goldenv::source
