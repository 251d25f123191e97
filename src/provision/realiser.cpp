#include "provision/realiser.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "provision/remembered.h"
#include "source/program.h"
#include "store/descriptor.h"

extern char** environ;

namespace goldenv::provision {
namespace {

/// A page of 50,000 files is 20 MB of JSON, and escaped a little more.
constexpr std::size_t kLineLimitBytes = std::size_t{256} << 20;

doc::Node list_of(const std::vector<std::string>& texts) {
  std::vector<doc::Node> items;
  for (const std::string& text : texts) {
    items.push_back(text_node(text));
  }
  return doc::Node::sequence(std::move(items));
}

doc::Node node_of(const Network& network) {
  doc::Node node;
  put(node, "proxy", text_node(network.proxy));
  put(node, "cert", text_node(network.cert));
  put(node, "client_cert", text_node(network.client_cert));
  if (!network.credentials.empty()) {
    put(node, "credentials", list_of(network.credentials));
  }
  put(node, "netrc", flag_node(true));
  put(node, "timeout_s", number_node(network.timeout_s));
  put(node, "retries", number_node(network.retries));
  return node;
}

doc::Node node_of(const ObjectRequest& object) {
  doc::Node node;
  put(node, "id", text_node(object.id));
  put(node, "key", text_node(object.key));
  put(node, "kind", text_node(object.kind));
  put(node, "name", text_node(object.name));
  put(node, "version", text_node(object.version));
  put(node, "file", text_node(object.file));
  put(node, "urls", list_of(object.urls));
  put(node, "sha256", text_node(object.sha256));
  put(node, "size_bytes", object.size_bytes ? number_node(*object.size_bytes) : doc::Node{});
  put(node, "python", text_node(object.python));
  put(node, "strip", number_node(object.strip));
  std::vector<doc::Node> place;
  for (const recipe::Layout& layout : object.place) {
    doc::Node one;
    put(one, "from", text_node(layout.from));
    put(one, "to", text_node(layout.to));
    place.push_back(std::move(one));
  }
  put(node, "place", doc::Node::sequence(std::move(place)));
  std::vector<doc::Node> environment;
  for (const recipe::Variable& variable : object.environment) {
    doc::Node one;
    put(one, "name", text_node(variable.name));
    put(one, "value", text_node(variable.value));
    environment.push_back(std::move(one));
  }
  put(node, "environment", doc::Node::sequence(std::move(environment)));
  put(node, "unfold", list_of(object.unfold));
  put(node, "copy", flag_node(object.copy));
  return node;
}

Errc code_of(std::string_view word) {
  for (const auto& [name, code] : {std::pair<std::string_view, Errc>{"usage", Errc::usage},
                                   {"denied", Errc::denied},
                                   {"malformed", Errc::malformed},
                                   {"absent", Errc::absent},
                                   {"too_large", Errc::too_large},
                                   {"timed_out", Errc::timed_out}}) {
    if (word == name) {
      return code;
    }
  }
  return Errc::failed;
}

/// Both ends of a pipe.
struct Pipe {
  store::Descriptor read;
  store::Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{Errc::failed, std::string("no pipe: ") + std::strerror(errno), {}};
  }
  return Pipe{store::Descriptor(ends[0]), store::Descriptor(ends[1])};
}

struct Process {
  pid_t pid = -1;
  store::Descriptor input;   ///< its standard input, to be written
  store::Descriptor output;  ///< its standard output
};

Result<Process> start(const std::string& program) {
  GOLDENV_TRY(Pipe input, make_pipe());
  GOLDENV_TRY(Pipe output, make_pipe());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  std::string word = program;
  std::array<char*, 2> words = {word.data(), nullptr};
  Process process;
  const int failure =
      posix_spawn(&process.pid, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return Error{Errc::failed, program + " does not start: " + std::strerror(failure), {}};
  }
  process.input = std::move(input.write);
  process.output = std::move(output.read);
  return process;
}

/// Writes the request and reads lines until the program is done with its output.
Result<void> talk(Process& process, std::string_view request, ReplyReader& reader) {
  fcntl(process.input.get(), F_SETFL, O_NONBLOCK);
  std::string held;
  std::vector<char> buffer(256u << 10);
  while (true) {
    std::array<pollfd, 2> ends = {{{process.output.get(), POLLIN, 0},
                                   {process.input ? process.input.get() : -1, POLLOUT, 0}}};
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) {
      return Error{Errc::failed, std::string("poll: ") + std::strerror(errno), {}};
    }
    if ((ends[1].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      const ssize_t size = write(process.input.get(), request.data(), request.size());
      if (size > 0) {
        request.remove_prefix(static_cast<std::size_t>(size));
      }
      if (request.empty() || (size < 0 && errno != EAGAIN && errno != EINTR)) {
        process.input.reset();  // what it has not read, it will say
      }
    }
    if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
      continue;
    }
    const ssize_t size = read(process.output.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return held.empty() ? Result<void>{} : reader.line(held);
    }
    held.append(buffer.data(), static_cast<std::size_t>(size));
    std::size_t from = 0;
    for (std::size_t end = held.find('\n'); end != std::string::npos; end = held.find('\n', from)) {
      if (const Result<void> read_line =
              reader.line(std::string_view(held).substr(from, end - from));
          !read_line) {
        return read_line;
      }
      from = end + 1;
    }
    held.erase(0, from);
    if (held.size() > kLineLimitBytes) {
      return Error{Errc::malformed, "goldenv-realise says more in one line than it may", {}};
    }
  }
}

}  // namespace

std::string request_text(const RealiseRequest& request) {
  doc::Node node;
  put(node, "goldenv_realise", number_node(1));
  put(node, "store", text_node(request.store));
  put(node, "offline", flag_node(request.offline));
  put(node, "python", text_node(request.python));
  put(node, "network", node_of(request.network));
  std::vector<doc::Node> get;
  for (const Get& one : request.get) {
    doc::Node item;
    put(item, "id", text_node(one.id));
    put(item, "url", text_node(one.url));
    put(item, "accept", text_node(one.accept));
    put(item, "only_safe", flag_node(one.only_safe));
    get.push_back(std::move(item));
  }
  put(node, "get", doc::Node::sequence(std::move(get)));
  std::vector<doc::Node> objects;
  for (const ObjectRequest& object : request.objects) {
    objects.push_back(node_of(object));
  }
  put(node, "objects", doc::Node::sequence(std::move(objects)));
  return doc::render_json(node, false) + "\n";
}

Result<void> ReplyReader::line(std::string_view text) {
  if (trim(text).empty()) {
    return {};
  }
  doc::Limits limits;
  limits.bytes = kLineLimitBytes;
  GOLDENV_TRY(const doc::Node said, doc::parse(text, doc::Format::json, "goldenv-realise", limits));
  const std::string event = text_at(said, "event");
  const std::string id = text_at(said, "id");
  if (event == "got") {
    reply_.got.push_back({id, text_at(said, "url"),
                          static_cast<unsigned>(number_at(said, "status").value_or(0)),
                          text_at(said, "type"), text_at(said, "body")});
  } else if (event == "object") {
    reply_.made.push_back({id, text_at(said, "object"), text_at(said, "how")});
    ++progress_.made;
  } else if (event == "bytes") {
    const auto at = std::ranges::find(running_, id, &decltype(running_)::value_type::first);
    const std::pair counts{number_at(said, "bytes").value_or(0), number_at(said, "of").value_or(0)};
    if (at == running_.end()) {
      running_.emplace_back(id, counts);
    } else {
      at->second = counts;
    }
    progress_.bytes = progress_.of = 0;
    for (const auto& [name, one] : running_) {
      progress_.bytes += one.first;
      progress_.of += std::max(one.first, one.second);
    }
  } else if (event == "error") {
    reply_.refused.push_back({id, {code_of(text_at(said, "code")), text_at(said, "message"), {}}});
  } else if (event == "done") {
    done_ = true;
  } else {
    return Error{Errc::malformed, "goldenv-realise says something unknown: " + event, {}};
  }
  progress_.last = id;
  if (watch_) {
    watch_(progress_);
  }
  return {};
}

Result<RealiseReply> realise(const RealiseRequest& request, const Watch& watch) {
  GOLDENV_TRY(const std::string program, source::program_beside("goldenv-realise"));
  GOLDENV_TRY(Process process, start(program));
  ReplyReader reader(request.objects.size(), watch);
  // It may end before it has read everything.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  const Result<void> talked = talk(process, request_text(request), reader);
  sigaction(SIGPIPE, &before, nullptr);
  if (!talked) {
    kill(process.pid, SIGTERM);
  }
  process.input.reset();
  process.output.reset();
  int status = 0;
  while (waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!talked) {
    return talked.error();
  }
  if (!reader.done()) {
    return Error{
        Errc::failed,
        WIFSIGNALED(status)
            ? "goldenv-realise was ended by signal " + std::to_string(WTERMSIG(status))
            : "goldenv-realise ended early, with status " + std::to_string(WEXITSTATUS(status)),
        {}};
  }
  return reader.take();
}

}  // namespace goldenv::provision
