#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"

namespace goldenv::unpack {

/// Threads that make objects, several at once, and help each other with the parts of one.
class Crew {
 public:
  explicit Crew(unsigned threads);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Ends what is running, and does not begin what is not.
  ~Crew();

  /// Does it some time.
  void post(std::function<void()> job);

  /// Does part 0 to count - 1, by the calling thread and all that are free, and returns when all
  /// are done: the error of the first in order that failed; after one, others may be left out.
  Result<void> each(std::size_t count, const std::function<Result<void>(std::size_t)>& part);

  /// All that runs is to end soon with an error: parts that have not begun do not begin.
  void interrupt() { is_interrupted_ = true; }
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()); }

 private:
  struct Group;

  void work();
  void help(Group& group) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::deque<Group*> groups_;
  bool ends_ = false;
  std::atomic<bool> is_interrupted_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace goldenv::unpack
