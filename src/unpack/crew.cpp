#include "unpack/crew.h"

#include <algorithm>
#include <optional>

namespace goldenv::unpack {

struct Crew::Group {
  std::size_t count = 0;
  const std::function<Result<void>(std::size_t)>* part = nullptr;
  std::mutex mutex;
  std::condition_variable left;
  std::size_t next = 0;
  std::size_t helpers = 0;
  std::optional<Error> error;
  std::size_t error_at = 0;
};

Crew::Crew(unsigned threads) {
  for (unsigned i = 0; i < std::max(1u, threads); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Crew::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Crew::help(Group& group) const {
  std::unique_lock lock(group.mutex);
  while (group.next < group.count) {
    const std::size_t index = group.next++;
    lock.unlock();
    Result<void> done =
        is_interrupted_ ? Error{Errc::failed, "interrupted", {}} : (*group.part)(index);
    lock.lock();
    if (!done) {
      group.next = group.count;
      if (!group.error || index < group.error_at) {
        group.error = std::move(done).error();
        group.error_at = index;
      }
    }
  }
}

Result<void> Crew::each(std::size_t count, const std::function<Result<void>(std::size_t)>& part) {
  Group group;
  group.count = count;
  group.part = &part;
  if (count > 1) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(&group);
    changed_.notify_all();
  }
  help(group);
  if (count > 1) {
    // From here on nobody joins; who helps still is waited for.
    const std::lock_guard lock(mutex_);
    std::erase(groups_, &group);
  }
  std::unique_lock lock(group.mutex);
  group.left.wait(lock, [&] { return group.helpers == 0; });
  return group.error ? Result<void>(*std::move(group.error)) : Result<void>();
}

void Crew::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty() || !groups_.empty(); });
    if (!groups_.empty()) {  // first what is begun
      Group& group = *groups_.front();
      {
        const std::lock_guard counted(group.mutex);
        if (group.next >= group.count) {
          groups_.pop_front();
          continue;
        }
        ++group.helpers;
      }
      lock.unlock();
      help(group);
      {
        const std::lock_guard counted(group.mutex);
        --group.helpers;
        group.left.notify_all();  // under the lock: the group is gone right after
      }
      lock.lock();
      continue;
    }
    if (ends_) {
      return;
    }
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace goldenv::unpack
