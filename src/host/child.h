#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/descriptor.h"

namespace goldenv::host {

/// A child of this process that answers requests and can be left behind: a look at a dead mount
/// sleeps in the kernel where no signal wakes it, so the one who sleeps must not be us, nor may we
/// wait for its end. The child holds no descriptor but its end of a socket (a pipe that goldenv
/// writes to would never end otherwise) and dies with us.
///
/// Why not a thread: a thread that sleeps in the kernel keeps its process from ending.
class Child {
 public:
  /// Told by the one who answers, before it touches something that could hang: what it is.
  using Announce = std::function<void(std::string_view where)>;
  /// Runs in the child.
  using Serve = std::function<std::string(std::string_view request, const Announce& announce)>;

  explicit Child(Serve serve) : serve_(std::move(serve)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { leave(); }

  enum class End { answered, timed_out, died, not_started };
  struct Reply {
    End end = End::not_started;
    std::string bytes;
    std::string announced;  ///< the last announcement of this request, "" if there was none
  };

  /// The child's answer; the child is started at the first request and after each that did not end
  /// in an answer. Never takes much longer than the deadline.
  Reply ask(std::string_view request, std::chrono::milliseconds deadline);

 private:
  bool start();
  void leave();

  Serve serve_;
  Descriptor socket_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;  ///< who started it: a forked copy of us must not talk on the same socket
};

}  // namespace goldenv::host
