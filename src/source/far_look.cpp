#include "source/far_look.h"

#include <unistd.h>

#include <vector>

#include "doc/node.h"
#include "host/host.h"

namespace goldenv::source {
namespace {

using doc::Node;

void put(Node& node, const std::string& key, Node value) {
  node.entries.push_back({key, {}, std::move(value)});
}

Node text_node(const std::string& text) { return Node::scalar(text, true); }

Error wrong(const std::string& name) {
  return {Errc::malformed, name + ": is no request of goldenv's", {}};
}

Result<std::vector<std::string>> texts_of(const Node& node, std::string_view key,
                                          const std::string& name) {
  const Node* list = node.find(key);
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_sequence()) {
    return wrong(name);
  }
  for (const Node& item : list->items) {
    if (!item.is_scalar()) {
      return wrong(name);
    }
    texts.push_back(item.text);
  }
  return texts;
}

Result<std::string> text_of(const Node& node, std::string_view key, const std::string& name) {
  const Node* value = node.find(key);
  if (value == nullptr || !value->is_scalar()) {
    return wrong(name);
  }
  return value->text;
}

}  // namespace

std::string render_request(const probe::Request& request) {
  std::vector<Node> named;
  for (const facts::FactKey& key : request.named) {
    named.push_back(text_node(key.text()));
  }
  std::vector<Node> families;
  for (const std::string& family : request.families) {
    families.push_back(text_node(family));
  }
  Node node = Node::mapping({});
  put(node, "goldenv_request", Node::scalar("0"));
  put(node, "named", Node::sequence(std::move(named)));
  put(node, "families", Node::sequence(std::move(families)));
  put(node, "only_named", Node::scalar(request.only_named ? "true" : "false"));
  put(node, "all", Node::scalar(request.all ? "true" : "false"));
  put(node, "python", text_node(request.python));
  put(node, "target_python", text_node(request.target_python));
  return doc::render_json(node, false);
}

Result<probe::Request> parse_request(std::string_view text, const std::string& name) {
  GOLDENV_TRY(const Node node, doc::parse(text, doc::Format::json, name));
  GOLDENV_TRY(const std::string version, text_of(node, "goldenv_request", name));
  if (version != "0") {
    return wrong(name);
  }
  probe::Request request;
  GOLDENV_TRY(const std::vector<std::string> named, texts_of(node, "named", name));
  for (const std::string& key : named) {
    request.named.push_back(facts::FactKey::parse(key));
  }
  GOLDENV_TRY(request.families, texts_of(node, "families", name));
  GOLDENV_TRY(const std::string only_named, text_of(node, "only_named", name));
  GOLDENV_TRY(const std::string all, text_of(node, "all", name));
  GOLDENV_TRY(request.python, text_of(node, "python", name));
  GOLDENV_TRY(request.target_python, text_of(node, "target_python", name));
  request.only_named = only_named == "true";
  request.all = all == "true";
  return request;
}

Result<std::string> answer_request(std::string_view request, std::chrono::seconds deadline) {
  GOLDENV_TRY(const probe::Request asked, parse_request(request, "the request"));
  // No handler: the signal ends the process.
  alarm(static_cast<unsigned>(deadline.count()));
  const std::unique_ptr<host::Host> host = host::live_host();
  return doc::render_json(facts::to_node(probe::look(*host, asked, "@live")), false);
}

}  // namespace goldenv::source
