#include "realise/loop.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "realise/events.h"
#include "store/store.h"
#include "unpack/crew.h"

namespace goldenv::realise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};

class Loop {
 public:
  Loop(Request request, const Put& put, const std::atomic<bool>& interrupted)
      : request_(std::move(request)), put_(put), interrupted_(interrupted) {}

  bool run() {
    if (!request_.items.empty()) {
      Result<store::Store> opened = store::Store::open(request_.store, store::Access::write);
      if (!opened) {
        put(error_line("", opened.error()));
        return false;
      }
      store_.emplace(*std::move(opened));
    }
    Result<std::unique_ptr<fetch::Fetcher>> started = fetch::Fetcher::start(request_.network);
    if (!started) {
      put(error_line("", started.error()));
      return false;
    }
    fetcher_ = *std::move(started);
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    crew_ = std::make_unique<unpack::Crew>(request_.workers == 0 ? processors : request_.workers);
    if (!begin()) {
      return false;
    }
    while (is_open_ && !interrupted_ && (!fetcher_->idle() || unpacking_ > 0)) {
      for (auto& done : fetcher_->step(kTick)) {
        arrived(done);
      }
      report_made();
      report_bytes();
    }
    if (interrupted_ || !is_open_) {
      crew_->interrupt();
      crew_.reset();  // before what its threads use
      return false;
    }
    crew_.reset();
    return put("{\"event\":\"done\"}");
  }

 private:
  /// Of one transfer: a text, or an artifact that some objects wait for.
  struct Transfer {
    const Get* get = nullptr;
    std::string file;
    std::vector<Item*> items;
    std::uint64_t reported = 0;
  };

  struct Made {
    Item* item = nullptr;
    Result<store::Published> published;
  };

  bool put(std::string_view line) {
    is_open_ = is_open_ && put_(line);
    return is_open_;
  }

  bool begin() {
    for (const Get& get : request_.gets) {
      fetch::Want want;
      want.urls = {get.url};
      want.accept = get.accept;
      want.limit_bytes = get.limit_bytes;
      want.only_safe = get.only_safe;
      transfers_[fetcher_->add(std::move(want))].get = &get;
    }
    std::map<Sha256, std::size_t> tickets;
    for (Item& item : request_.items) {
      if (store_->has(item.job.key)) {
        store::Object object;
        object.key = item.job.key;
        object.name = item.job.name;
        object.version = item.job.version;
        put(object_line(item.id, object.id(), "present"));
        continue;
      }
      if (const auto path = store_->artifact(item.sha256)) {
        unpack(item, *path);
        continue;
      }
      if (const auto found = tickets.find(item.sha256); found != tickets.end()) {
        transfers_[found->second].items.push_back(&item);
        continue;
      }
      if (downloads_.folder().empty()) {
        Result<store::Building> building = store_->begin("fetch");
        if (!building) {
          put(error_line("", building.error()));
          return false;
        }
        downloads_ = *std::move(building);
      }
      fetch::Want want;
      want.name = item.job.artifact.file;
      want.urls = item.urls;
      want.file = downloads_.folder() + "/" + item.sha256.hex();
      want.sha256 = item.sha256;
      want.size_bytes = item.size_bytes;
      Transfer transfer;
      transfer.file = want.file;
      transfer.items = {&item};
      const std::size_t ticket = fetcher_->add(std::move(want));
      tickets[item.sha256] = ticket;
      transfers_[ticket] = std::move(transfer);
    }
    return true;
  }

  void arrived(const fetch::Fetcher::Done& done) {
    const Transfer transfer = std::move(transfers_[done.ticket]);
    transfers_.erase(done.ticket);
    if (transfer.get != nullptr) {
      put(done.got ? got_line(transfer.get->id, *done.got)
                   : error_line(transfer.get->id, done.got.error()));
      return;
    }
    Result<std::string> path =
        done.got ? store_->put_artifact(transfer.file, *sha256_of(transfer), store::Checked::yes)
                 : Result<std::string>(done.got.error());
    for (Item* item : transfer.items) {
      if (!path) {
        put(error_line(item->id, path.error()));
        continue;
      }
      item->job.artifact.url = done.got->place.substr(0, done.got->place.find_first_of("?#"));
      item->job.is_verified = true;
      unpack(*item, *path);
    }
  }

  static const Sha256* sha256_of(const Transfer& transfer) { return &transfer.items[0]->sha256; }

  void unpack(Item& item, const std::string& path) {
    item.job.path = path;
    ++unpacking_;
    crew_->post([this, &item] {
      Made made{&item, unpack::realise(*store_, item.job, *crew_)};
      {
        const std::lock_guard lock(mutex_);
        made_.push_back(std::move(made));
      }
      fetcher_->wake();
    });
  }

  void report_made() {
    std::vector<Made> made;
    {
      const std::lock_guard lock(mutex_);
      made.swap(made_);
    }
    for (const Made& one : made) {
      --unpacking_;
      put(one.published ? object_line(one.item->id, one.published->name,
                                      one.published->raced ? "raced" : "realised")
                        : error_line(one.item->id, one.published.error()));
    }
  }

  /// One line a tick, of each transfer in turn.
  void report_bytes() {
    const Clock::time_point now = Clock::now();
    if (now - reported_at_ < kTick || transfers_.empty()) {
      return;
    }
    auto next = transfers_.upper_bound(reported_);
    for (std::size_t i = 0; i < transfers_.size(); ++i, ++next) {
      if (next == transfers_.end()) {
        next = transfers_.begin();
      }
      auto& [ticket, transfer] = *next;
      const std::uint64_t bytes = fetcher_->received(ticket).value_or(0);
      if (transfer.get != nullptr || bytes == transfer.reported) {
        continue;
      }
      transfer.reported = bytes;
      reported_ = ticket;
      reported_at_ = now;
      put(bytes_line(transfer.items[0]->id, bytes, transfer.items[0]->size_bytes));
      return;
    }
  }

  Request request_;
  const Put& put_;
  const std::atomic<bool>& interrupted_;
  bool is_open_ = true;
  std::optional<store::Store> store_;
  store::Building downloads_;
  std::unique_ptr<fetch::Fetcher> fetcher_;
  std::map<std::size_t, Transfer> transfers_;
  std::size_t unpacking_ = 0;
  std::size_t reported_ = 0;
  Clock::time_point reported_at_;
  std::mutex mutex_;
  std::vector<Made> made_;
  std::unique_ptr<unpack::Crew> crew_;  // last: its threads use what is above
};

}  // namespace

bool run(Request request, const Put& put, const std::atomic<bool>& interrupted) {
  return Loop(std::move(request), put, interrupted).run();
}

}  // namespace goldenv::realise
