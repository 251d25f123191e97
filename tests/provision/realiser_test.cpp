#include "provision/realiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "doc/node.h"

namespace goldenv::provision {
namespace {

TEST(RequestText, IsOneLineOfJson) {
  RealiseRequest request;
  request.store = "/srv/a \"store\"";
  request.get = {{"numpy", "https://index.example/simple/numpy/", "text/html"}};
  ObjectRequest object;
  object.id = "numpy 1.26.4";
  object.size_bytes = 12;
  object.urls = {"https://index.example/numpy.whl"};
  request.objects = {object};
  const std::string text = request_text(request);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto node = doc::parse(text, doc::Format::json, "request");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->find("store")->text, "/srv/a \"store\"");
  EXPECT_EQ(node->find("get")->items.at(0).find("url")->text,
            "https://index.example/simple/numpy/");
  EXPECT_EQ(node->find("objects")->items.at(0).find("size_bytes")->text, "12");
}

TEST(ReplyReader, TakesPagesObjectsAndRefusals) {
  std::vector<Progress> seen;
  ReplyReader reader(2, [&](const Progress& now) { seen.push_back(now); });
  for (
      const char* line :
      {R"({"event":"got","id":"numpy","url":"https://x/","status":200,"type":"text/html","body":"<a>\n"})",
       R"({"event":"bytes","id":"a","bytes":10,"of":100})",
       R"({"event":"bytes","id":"b","bytes":5,"of":null})",
       R"({"event":"bytes","id":"a","bytes":100,"of":100})",
       R"({"event":"object","id":"a","object":"0123-a-1","how":"realised"})",
       R"({"event":"error","id":"b","code":"malformed","message":"b.whl: wrong digest"})",
       R"({"event":"done"})"}) {
    EXPECT_TRUE(reader.line(line)) << line;
  }
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(seen.back().bytes, 105u);
  EXPECT_EQ(seen.back().of, 105u);
  EXPECT_EQ(seen.back().made, 1u);
  const RealiseReply reply = reader.take();
  ASSERT_EQ(reply.got.size(), 1u);
  EXPECT_EQ(reply.got[0].body, "<a>\n");
  ASSERT_EQ(reply.made.size(), 1u);
  EXPECT_EQ(reply.made[0].object, "0123-a-1");
  ASSERT_EQ(reply.refused.size(), 1u);
  EXPECT_EQ(reply.refused[0].error.code, Errc::malformed);
  EXPECT_EQ(reply.refused[0].error.message, "b.whl: wrong digest");
}

TEST(ReplyReader, WhatIsNoProtocolIsRefused) {
  ReplyReader reader(0, {});
  EXPECT_FALSE(reader.line("hello"));
  EXPECT_FALSE(reader.line(R"({"event":"surprise"})"));
  EXPECT_FALSE(reader.done());
}

TEST(Realise, WithoutTheProgramItFails) {
  // The tests' own program has no goldenv-realise beside it.
  const auto reply = realise({}, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::failed);
}

}  // namespace
}  // namespace goldenv::provision
