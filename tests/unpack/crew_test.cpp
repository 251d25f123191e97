#include "unpack/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>

namespace goldenv::unpack {
namespace {

TEST(Crew, EachDoesEveryPartOnce) {
  Crew crew(3);
  std::vector<std::atomic<int>> done(1000);
  const auto result = crew.each(done.size(), [&](std::size_t i) -> Result<void> {
    ++done[i];
    return {};
  });
  EXPECT_TRUE(result);
  for (const auto& one : done) {
    EXPECT_EQ(one, 1);
  }
  EXPECT_TRUE(crew.each(0, [](std::size_t) { return Error{Errc::failed, "never", {}}; }));
}

TEST(Crew, FirstErrorInOrderIsTold) {
  Crew crew(1);
  const auto result = crew.each(10, [](std::size_t i) -> Result<void> {
    return i >= 3 ? Result<void>(Error{Errc::failed, std::to_string(i), {}}) : Result<void>();
  });
  ASSERT_FALSE(result);
  EXPECT_LE(std::stoi(result.error().message), 4);
}

// Jobs that share their parts with each other's threads come to an end, however few these are.
TEST(Crew, JobsInsideShareTheThreads) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    std::atomic<int> sum = 0;
    std::vector<std::promise<void>> ends(20);
    Crew crew(threads);
    for (auto& end : ends) {
      crew.post([&] {
        const auto done = crew.each(50, [&](std::size_t) -> Result<void> {
          ++sum;
          return {};
        });
        EXPECT_TRUE(done);
        end.set_value();
      });
    }
    for (auto& end : ends) {
      end.get_future().wait();
    }
    EXPECT_EQ(sum, 1000);
  }
}

TEST(Crew, InterruptedItBeginsNothing) {
  Crew crew(2);
  crew.interrupt();
  const auto result = crew.each(5, [](std::size_t) -> Result<void> {
    ADD_FAILURE() << "a part began";
    return {};
  });
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace goldenv::unpack
